-- What a server confirms of the names that a DBA allowed: a row (kind, schema, name, problem) each; problem NULL: safe.
-- $1 functions, $2 operators: each as 'schema.name'. $3: extensions. $4: trusted owners. $5: built-in functions and
-- $6 built-in types that are allowed anyway. $7: a pattern of functions that run a text as SQL or reach elsewhere.
-- Further kinds: 'other function' and 'other operator' bear such a name without being allowed, 'field' is a function and
-- 'type field' a type that (x).name may call, 'relation' a table of the users' whose name begins with pg_, and
-- 'other relation' one of the system's with the name of such a table.
-- Belonging to an extension proves nothing: who owns an extension may add functions of their own to it.
-- So a schema counts as well, and whoever may create in it; what an extension has in an untrusted one counts as not there.
WITH trusted (oid) AS (:trusted_roles), :trust_chain, member (classid, objid, allowed) AS (
    SELECT d.classid, d.objid, e.extname = ANY ($3::text[])
    FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
    WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
), looked_up (oids) AS (
    SELECT pg_catalog.array_agg(oid) FROM pg_catalog.pg_type
    WHERE typname IN ('internal', 'cstring', 'refcursor', 'trigger', 'event_trigger')
       OR typname ~ '^_?reg' AND typname NOT IN ('regconfig', 'regdictionary')
), function AS (
    SELECT p.oid, n.nspname AS schema, p.proname AS name, member.allowed AS of_extension, away.objid IS NOT NULL AS away,
           n.nspname || '.' || p.proname = ANY ($1::text[]) AS named,
           CASE
               WHEN trusted.oid IS NULL THEN 'its owner is not trusted'
               WHEN away.problem IS NOT NULL THEN away.problem
               WHEN around.problem IS NOT NULL THEN around.problem
               WHEN p.provolatile = 'v' THEN 'it is volatile'
               WHEN p.prokind = 'p' THEN 'it is a procedure'
               WHEN p.prosecdef THEN 'it runs with the rights of its owner'
               WHEN p.proname ~ $7 OR (l.lanname = 'plpgsql' AND p.prosrc ~* '\mexecute\M')
                   THEN 'it may run a text as SQL or reach elsewhere'
               WHEN l.lanname NOT IN ('internal', 'c', 'sql', 'plpgsql') THEN 'its language cannot be checked'
               WHEN p.proargtypes::pg_catalog.oid[] || p.prorettype && (SELECT oids FROM looked_up)
                   THEN 'it takes or gives a name to look up'
           END AS problem
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    LEFT JOIN trusted ON trusted.oid = p.proowner
    LEFT JOIN schema_problem around ON around.oid = p.pronamespace
    LEFT JOIN member_problem away ON away.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND away.objid = p.oid
    LEFT JOIN member ON member.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND member.objid = p.oid
), wanted_function AS (
    -- All overloads of a name stand or fall together.
    SELECT schema, name, pg_catalog.min(problem) AS problem FROM function
    WHERE (schema, name) IN (SELECT schema, name FROM function WHERE named OR of_extension)
    GROUP BY schema, name
), operator AS (
    SELECT n.nspname AS schema, o.oprname AS name, member.allowed AS of_extension, away.objid IS NOT NULL AS away,
           n.nspname || '.' || o.oprname = ANY ($2::text[]) AS named,
           CASE
               WHEN trusted.oid IS NULL THEN 'its owner is not trusted'
               WHEN away.problem IS NOT NULL THEN away.problem
               WHEN around.problem IS NOT NULL THEN around.problem
               WHEN p.oid IS NULL THEN 'no function stands behind it'
               WHEN p.provolatile = 'v' THEN 'it is volatile'
               WHEN owner.oid IS NULL THEN 'the owner of its function is not trusted'
               WHEN p.prosecdef THEN 'it runs with the rights of an owner'
           END AS problem
    FROM pg_catalog.pg_operator o
    JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
    LEFT JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
    LEFT JOIN trusted ON trusted.oid = o.oprowner
    LEFT JOIN trusted owner ON owner.oid = p.proowner
    LEFT JOIN schema_problem around ON around.oid = o.oprnamespace
    LEFT JOIN member_problem away ON away.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND away.objid = o.oid
    LEFT JOIN member ON member.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND member.objid = o.oid
), wanted_operator AS (
    SELECT schema, name, pg_catalog.min(problem) AS problem FROM operator
    WHERE (schema, name) IN (SELECT schema, name FROM operator WHERE named OR of_extension)
    GROUP BY schema, name
), relation AS (
    SELECT n.nspname AS schema, c.relname AS name
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN member ON member.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND member.objid = c.oid
    WHERE c.relname LIKE 'pg\_%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND member.objid IS NULL
)
SELECT 'function' AS kind, schema::text, name::text, problem FROM wanted_function
UNION ALL
SELECT 'operator', schema, name, problem FROM wanted_operator
UNION ALL
SELECT DISTINCT 'other function', f.schema::text, f.name::text, NULL FROM function f
JOIN wanted_function w ON w.name = f.name AND w.schema <> f.schema
WHERE NOT f.away
UNION ALL
SELECT DISTINCT 'other operator', o.schema::text, o.name::text, NULL FROM operator o
JOIN wanted_operator w ON w.name = o.name AND w.schema <> o.schema
WHERE NOT o.away
UNION ALL
SELECT DISTINCT 'field', NULL, p.proname::text, NULL
FROM pg_catalog.pg_proc p
WHERE p.pronargs >= 1 AND (p.pronargs - p.pronargdefaults <= 1 OR p.provariadic <> 0)
  AND NOT (p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace AND p.proname::text IN (SELECT pg_catalog.unnest($5::text[] || $6::text[])))
UNION ALL
SELECT DISTINCT 'type field', NULL, t.typname::text, NULL
FROM pg_catalog.pg_type t
WHERE t.typrelid = 0 AND NOT (t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace AND t.typname = ANY ($6::text[]))
UNION ALL
SELECT 'relation', schema, name, NULL FROM relation WHERE schema NOT LIKE 'pg\_%' AND schema <> 'information_schema'
UNION ALL
SELECT 'other relation', r.schema, r.name, NULL FROM relation r JOIN relation own ON own.name = r.name AND own.schema <> r.schema
WHERE r.schema LIKE 'pg\_%'
UNION ALL
SELECT 'version', NULL, pg_catalog.current_setting('server_version_num'), NULL
UNION ALL
SELECT 'database', NULL, pg_catalog.current_database(), NULL
