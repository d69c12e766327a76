-- Lists come as JSON: the driver would ask each new connection about arrays first.
-- The schema in which each name $1 is found first along the search path $2, as PostgreSQL looks (docs 5.10.3): past
-- schemas that the role may not use. Names that are found nowhere have no row.
SELECT DISTINCT ON (wanted.name) wanted.name, n.nspname::text AS schema
FROM pg_catalog.json_array_elements_text($1::json) AS wanted (name),
     pg_catalog.json_array_elements_text($2::json) WITH ORDINALITY AS path (schema, place)
JOIN pg_catalog.pg_namespace n ON n.nspname = path.schema
WHERE pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND EXISTS (
      SELECT FROM pg_catalog.pg_class c
      WHERE c.relnamespace = n.oid AND c.relname = wanted.name
        AND c.relkind = ANY ('{r,p,v,m,f}')
  )
ORDER BY wanted.name, path.place
