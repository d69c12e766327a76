-- The first that is not trusted of what a statement names outside of pg_catalog, and why (a clause): functions $1 and
-- operators $2 (JSON lists of [schema, name], every overload), types $3 (names as SQL writes them). $4: owners trusted
-- by name. The server looks these up once more when it reads the statement, so this is asked in the same transaction.
WITH trusted (oid) AS (:trusted_roles), :trust_chain, named (class, oid, schema, owner) AS (
    SELECT p.tableoid, p.oid, p.pronamespace, p.proowner
    FROM pg_catalog.json_array_elements($1::json) AS f (pair)
    JOIN pg_catalog.pg_namespace n ON n.nspname = f.pair ->> 0
    JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = f.pair ->> 1
    UNION ALL
    SELECT each.* FROM pg_catalog.json_array_elements($2::json) AS f (pair)
    JOIN pg_catalog.pg_namespace n ON n.nspname = f.pair ->> 0
    JOIN pg_catalog.pg_operator o ON o.oprnamespace = n.oid AND o.oprname = f.pair ->> 1
    LEFT JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode,
    LATERAL (VALUES (o.tableoid, o.oid, o.oprnamespace, o.oprowner), (p.tableoid, p.oid, p.pronamespace, p.proowner)) AS each
    UNION ALL
    SELECT t.tableoid, t.oid, t.typnamespace, t.typowner
    FROM pg_catalog.json_array_elements_text($3::json) AS written (name)
    JOIN pg_catalog.pg_type t ON t.oid = pg_catalog.to_regtype(written.name)
), judged (class, oid, problem) AS (
    SELECT named.class, named.oid, CASE
        WHEN named.owner NOT IN (SELECT oid FROM trusted)
            THEN pg_catalog.format('it belongs to role "%s", which is not trusted', pg_catalog.pg_get_userbyid(named.owner))
        ELSE coalesce(away.problem, around.problem)
    END
    FROM named
    JOIN schema_problem around ON around.oid = named.schema
    LEFT JOIN member_problem away ON away.classid = named.class AND away.objid = named.oid
    WHERE named.schema <> 'pg_catalog'::pg_catalog.regnamespace
)
SELECT pg_catalog.pg_describe_object(judged.class, judged.oid, 0) AS object, judged.problem
FROM judged WHERE judged.problem IS NOT NULL
ORDER BY 1, 2
LIMIT 1
