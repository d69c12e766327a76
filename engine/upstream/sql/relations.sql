-- The relations $1 (a JSON list of names as SQL writes them) with their columns, in order: a row each. own: below domains
-- and arrays its type is a base type that did not come with the server, which may have operators of its own.
WITH RECURSIVE relation (oid) AS (
    SELECT pg_catalog.to_regclass(name)::pg_catalog.oid FROM pg_catalog.json_array_elements_text($1::json) AS written (name)
), attribute (relation, number, name, oid) AS (
    SELECT a.attrelid, a.attnum, a.attname, a.atttypid
    FROM relation JOIN pg_catalog.pg_attribute a ON a.attrelid = relation.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT a.relation, a.number, a.name, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END
    FROM attribute a JOIN pg_catalog.pg_type t ON t.oid = a.oid
    WHERE t.typtype = 'd' OR (t.typcategory = 'A' AND t.typelem <> 0)
)
SELECT c.oid::int8 AS oid, n.nspname::text AS schema, c.relname::text AS relation, a.name::text AS column,
       t.typtype = 'b' AND t.oid >= 16384 AS own
FROM relation
JOIN pg_catalog.pg_class c ON c.oid = relation.oid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN (attribute a JOIN pg_catalog.pg_type t
           ON t.oid = a.oid AND t.typtype <> 'd' AND NOT (t.typcategory = 'A' AND t.typelem <> 0)) ON a.relation = c.oid
ORDER BY c.oid, a.number
