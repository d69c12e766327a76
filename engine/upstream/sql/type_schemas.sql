-- The schemas of the types of the columns of relations $1 (names as SQL writes them) that bring operators of their own:
-- base types that are not built in, behind arrays and domains too. Without its schema on the search path, such a
-- column would be compared as what it can be cast to.
WITH RECURSIVE used (oid) AS (
    SELECT a.atttypid
    FROM pg_catalog.json_array_elements_text($1::json) AS written (name)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = pg_catalog.to_regclass(written.name)
    WHERE a.attnum > 0 AND NOT a.attisdropped
    UNION
    SELECT further.oid
    FROM used JOIN pg_catalog.pg_type t ON t.oid = used.oid, LATERAL (VALUES (t.typelem), (t.typbasetype)) AS further (oid)
    WHERE t.oid >= 16384 AND further.oid <> 0
)
SELECT DISTINCT n.nspname::text
FROM used
JOIN pg_catalog.pg_type t ON t.oid = used.oid
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE t.oid >= 16384 AND t.typtype = 'b' AND t.typcategory <> 'A'
