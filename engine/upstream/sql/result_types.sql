-- The types $1 (OIDs, in order) by name, those that are not built in or not in $2 as text; whether each has a fixed
-- length. A type modifier of -1 gives names that a cast takes without cutting: bpchar, where NULL gives character(1).
SELECT CASE WHEN t.oid < 16384 AND (t.typname = ANY ($2::text[]) OR element.typname = ANY ($2::text[]))
            THEN pg_catalog.format_type(t.oid, -1) ELSE 'text' END AS type,
       t.typlen > 0 AND t.typtype = 'b' AND t.oid < 16384 AS fixed
FROM pg_catalog.unnest($1::oid[]) WITH ORDINALITY AS wanted (oid, place)
JOIN pg_catalog.pg_type t ON t.oid = wanted.oid
LEFT JOIN pg_catalog.pg_type element ON element.oid = t.typelem AND t.typcategory = 'A'
ORDER BY wanted.place
