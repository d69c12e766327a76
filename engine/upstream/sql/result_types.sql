-- The types $1 (OIDs) by name, those that are not built in or not in $2 as text; whether each has a fixed
-- length. A type modifier of -1 gives names that a cast takes without cutting: bpchar, where NULL gives character(1).
SELECT t.oid::int8 AS oid,
       CASE WHEN t.oid < 16384 AND (coalesce(element.typname, t.typname) IN (SELECT pg_catalog.json_array_elements_text($2::json)))
            THEN pg_catalog.format_type(t.oid, -1) ELSE 'text' END AS type,
       t.typlen > 0 AND t.typtype = 'b' AND t.oid < 16384 AS fixed
FROM pg_catalog.pg_type t
LEFT JOIN pg_catalog.pg_type element ON element.oid = t.typelem AND t.typcategory = 'A'
WHERE t.oid IN (SELECT value::pg_catalog.oid FROM pg_catalog.json_array_elements_text($1::json))
