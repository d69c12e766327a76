-- The first of the schemas $2 into which somebody may put a function or an operator who is neither
-- trusted nor the session's own user. $1: owners trusted by name.
WITH trusted (oid) AS (
    SELECT r.oid FROM pg_catalog.pg_roles r
    WHERE r.rolsuper OR r.oid < 16384 OR r.rolname = session_user OR r.rolname = ANY ($1::text[])
    UNION ALL
    SELECT d.datdba FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()
)
SELECT n.nspname::text
FROM pg_catalog.pg_namespace n
LEFT JOIN LATERAL pg_catalog.aclexplode(n.nspacl) AS granted ON granted.privilege_type = 'CREATE'
WHERE n.nspname = ANY ($2::text[]) AND n.nspname <> 'pg_catalog'
  AND n.oid <> pg_catalog.pg_my_temp_schema()
  AND (
      n.nspowner NOT IN (SELECT oid FROM trusted)
      OR (granted.grantee IS NOT NULL AND granted.grantee NOT IN (SELECT oid FROM trusted))
  )
LIMIT 1
