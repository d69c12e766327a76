-- The first function of somebody's own that reading the tables $1 (names as SQL writes them) may run.
-- Views, rules, policies, constraints, index expressions and generated columns run functions, the last four
-- while a statement is planned. Functions of superusers, of the database's owner, of the role that connected, of
-- the roles in $2, and of extensions are trusted.
WITH RECURSIVE relation (oid) AS (
    SELECT found.oid
    FROM pg_catalog.unnest($1::text[]) AS written (name),
         LATERAL (SELECT pg_catalog.to_regclass(written.name)::pg_catalog.oid AS oid) AS found
    WHERE found.oid IS NOT NULL
    UNION
    SELECT further.oid
    FROM relation, LATERAL (
        SELECT d.refobjid AS oid
        FROM pg_catalog.pg_rewrite r
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
        WHERE r.ev_class = relation.oid AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        UNION ALL
        SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = relation.oid
    ) AS further
), part AS (
    -- What belongs to a relation: its rules depend on it internally, the rest automatically.
    SELECT DISTINCT d.classid, d.objid
    FROM relation
    JOIN pg_catalog.pg_depend d
      ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = relation.oid
    WHERE d.deptype IN ('a', 'i') AND d.classid <> 'pg_catalog.pg_trigger'::pg_catalog.regclass
), code (oid) AS (
    SELECT coalesce(o.oprcode::pg_catalog.oid, d.refobjid)
    FROM part
    JOIN pg_catalog.pg_depend d ON d.classid = part.classid AND d.objid = part.objid
    LEFT JOIN pg_catalog.pg_operator o
      ON o.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass
    WHERE d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass OR o.oid IS NOT NULL
)
SELECT n.nspname::text AS schema, p.proname::text AS name, owner.rolname::text AS owner
FROM code
JOIN pg_catalog.pg_proc p ON p.oid = code.oid
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_roles owner ON owner.oid = p.proowner
WHERE NOT owner.rolsuper
  AND owner.rolname <> session_user
  AND owner.rolname <> ALL ($2::text[])
  AND owner.oid <> (SELECT datdba FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend d
      WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
  )
LIMIT 1
