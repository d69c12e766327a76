-- The names of the types $1 (OIDs, in order), those that are not built in or not in $2 as text.
-- A type modifier of -1 gives names that a cast takes without cutting: bpchar, where NULL gives character(1).
SELECT coalesce(pg_catalog.array_agg(
    CASE WHEN t.oid < 16384 AND (t.typname = ANY ($2::text[]) OR element.typname = ANY ($2::text[]))
         THEN pg_catalog.format_type(t.oid, -1) ELSE 'text' END
    ORDER BY wanted.place), '{}')
FROM pg_catalog.unnest($1::oid[]) WITH ORDINALITY AS wanted (oid, place)
JOIN pg_catalog.pg_type t ON t.oid = wanted.oid
LEFT JOIN pg_catalog.pg_type element ON element.oid = t.typelem AND t.typcategory = 'A'
