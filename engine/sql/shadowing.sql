-- The first function or operator outside pg_catalog that a statement's built-in names might reach.
-- $1: names that are called. $2: names after a dot, which call a function of a row (docs 8.16.5). $3: operators.
-- current_schemas(false): the search path as the asking role has it, without pg_catalog.
SELECT 'function' AS what, p.proname::text AS name, n.nspname::text AS schema
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
LEFT JOIN pg_catalog.pg_type argument ON argument.oid = p.proargtypes[0]
WHERE n.nspname = ANY (pg_catalog.current_schemas(false))
  AND n.nspname <> 'pg_catalog'
  AND (p.proname = ANY ($1::text[]) OR (p.proname = ANY ($2::text[]) AND argument.typtype IN ('c', 'p')))
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend d
      WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
  )
UNION ALL
SELECT 'operator', o.oprname::text, n.nspname::text
FROM pg_catalog.pg_operator o
JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
WHERE n.nspname = ANY (pg_catalog.current_schemas(false))
  AND n.nspname <> 'pg_catalog'
  AND o.oprname = ANY ($3::text[])
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend d
      WHERE d.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND d.objid = o.oid AND d.deptype = 'e'
  )
LIMIT 1
