-- Functions $1 and operators $2 by name (JSON lists) outside of pg_catalog that a type of somebody's brings, or that a DBA
-- allowed ($3, $4: JSON lists of [schema, name]). $5: owners trusted by name. Arguments and result: JSON, a list of
-- [schema, name, of an array, own] each, of domains what they are over. trusted: it, its schema, its
-- extension and the functions behind it belong to trusted owners; of an operator the ones by which the planner may replace it as well.
WITH RECURSIVE trusted (oid) AS (:trusted_roles), :trust_chain, called (kind, oid, schema, name, arguments, result, exact, trusted) AS (
    SELECT 'function', p.oid, n.nspname, p.proname, p.proargtypes::pg_catalog.oid[], p.prorettype,
           p.pronargdefaults = 0 AND p.provariadic = 0, p.proowner IN (SELECT oid FROM trusted)
               AND p.pronamespace IN (SELECT oid FROM schema_problem WHERE problem IS NULL)
               AND (p.tableoid, p.oid) NOT IN (SELECT classid, objid FROM member_problem)
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE p.proname IN (SELECT pg_catalog.json_array_elements_text($1::json)) AND n.nspname <> 'pg_catalog'
    UNION ALL
    SELECT 'operator', o.oid, n.nspname, o.oprname,
           CASE WHEN o.oprleft = 0 THEN ARRAY[o.oprright] ELSE ARRAY[o.oprleft, o.oprright] END, o.oprresult, true,
           o.oprowner IN (SELECT oid FROM trusted)
               AND o.oprnamespace IN (SELECT oid FROM schema_problem WHERE problem IS NULL)
               AND (o.tableoid, o.oid) NOT IN (SELECT classid, objid FROM member_problem) AND NOT EXISTS (
               SELECT FROM pg_catalog.pg_operator near JOIN pg_catalog.pg_proc p ON p.oid = near.oprcode
               WHERE near.oid IN (o.oid, o.oprcom, o.oprnegate) AND p.proowner NOT IN (SELECT oid FROM trusted))
    FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
    WHERE o.oprname IN (SELECT pg_catalog.json_array_elements_text($2::json)) AND n.nspname <> 'pg_catalog'
), used (oid) AS (
    SELECT DISTINCT type FROM called, pg_catalog.unnest(called.arguments || called.result) AS type
), below (used, oid, of_array) AS (
    SELECT used.oid, used.oid, false FROM used
    UNION ALL
    SELECT b.used, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END, b.of_array OR t.typtype <> 'd'
    FROM below b JOIN pg_catalog.pg_type t ON t.oid = b.oid
    WHERE t.typtype = 'd' OR (t.typcategory = 'A' AND t.typelem <> 0)
), type (oid, own, told) AS (
    SELECT b.used, t.typtype = 'b' AND t.oid >= 16384,
           pg_catalog.json_build_array(n.nspname, t.typname, b.of_array, t.typtype = 'b' AND t.oid >= 16384)
    FROM below b JOIN pg_catalog.pg_type t ON t.oid = b.oid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE t.typtype <> 'd' AND NOT (t.typcategory = 'A' AND t.typelem <> 0)
)
SELECT c.kind, c.schema::text, c.name::text, c.exact, c.trusted, result.told::text AS result,
       (SELECT coalesce(pg_catalog.json_agg(type.told ORDER BY place), '[]') FROM pg_catalog.unnest(c.arguments) WITH ORDINALITY AS a (oid, place)
        JOIN type ON type.oid = a.oid)::text AS arguments
FROM called c JOIN type result ON result.oid = c.result
WHERE EXISTS (SELECT FROM type WHERE type.own AND type.oid = ANY (c.arguments))
   OR EXISTS (
       SELECT FROM pg_catalog.json_array_elements(CASE c.kind WHEN 'function' THEN $3::json ELSE $4::json END) AS e (pair)
       WHERE e.pair ->> 0 = c.schema AND e.pair ->> 1 = c.name)
ORDER BY 1, 2, 3, arguments
