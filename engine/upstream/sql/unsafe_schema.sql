-- The first of the schemas $2 into which somebody may put a function or an operator who is neither
-- trusted nor the session's own user. $1: owners trusted by name.
WITH trusted (oid) AS (:trusted_roles)
SELECT n.nspname::text
FROM pg_catalog.pg_namespace n
LEFT JOIN LATERAL pg_catalog.aclexplode(n.nspacl) AS granted ON granted.privilege_type = 'CREATE'
WHERE n.nspname IN (SELECT pg_catalog.json_array_elements_text($2::json)) AND n.nspname <> 'pg_catalog'
  AND n.oid <> pg_catalog.pg_my_temp_schema()
  AND (
      n.nspowner NOT IN (SELECT oid FROM trusted)
      OR (granted.grantee IS NOT NULL AND granted.grantee NOT IN (SELECT oid FROM trusted))
  )
LIMIT 1
