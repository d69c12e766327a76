-- Sets the path along which a statement's names are looked up, and says what it is: pg_catalog, those schemas of the
-- asker's path $1 that are trusted with the functions $2 and operators $3 in it, pg_temp. Lists are JSON. A schema is
-- trusted where its owner and everybody with CREATE on it are, and where nothing in it of such a name belongs to anybody
-- else, its extension included ($6: owners trusted by name). What bears such a name is on a DBA's list ($4, $5: [schema, name]), or takes a base
-- type that somebody made: else its schema is left out, as the guard does not know it.
-- whole: no schema that is left out has such a name. foreign: [kind, name, schema] of what is called so in the schemas of the path.
WITH trusted (oid) AS (:trusted_roles), :trust_chain, listed (oid, schema, place, by_trusted) AS (
    SELECT n.oid, n.nspname, path.place, s.problem IS NULL
    FROM pg_catalog.json_array_elements_text($1::json) WITH ORDINALITY AS path (schema, place)
    JOIN pg_catalog.pg_namespace n ON n.nspname = path.schema JOIN schema_problem s ON s.oid = n.oid
    WHERE pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND n.nspname <> 'pg_catalog'
), called (kind, name, schema, arguments, by_trusted) AS (
    SELECT 'function', p.proname, listed.schema, p.proargtypes::pg_catalog.oid[], p.proowner IN (SELECT oid FROM trusted)
           AND NOT EXISTS (SELECT FROM member_problem m WHERE m.classid = p.tableoid AND m.objid = p.oid)
    FROM pg_catalog.pg_proc p JOIN listed ON listed.oid = p.pronamespace
    WHERE p.proname IN (SELECT pg_catalog.json_array_elements_text($2::json))
    UNION ALL
    SELECT 'operator', o.oprname, listed.schema, ARRAY[o.oprleft, o.oprright],
           o.oprowner IN (SELECT oid FROM trusted) AND NOT EXISTS (
               SELECT FROM pg_catalog.pg_operator near JOIN pg_catalog.pg_proc p ON p.oid = near.oprcode
               WHERE near.oid IN (o.oid, o.oprcom, o.oprnegate) AND p.proowner NOT IN (SELECT oid FROM trusted))
           AND NOT EXISTS (SELECT FROM member_problem m WHERE m.classid = o.tableoid AND m.objid = o.oid)
    FROM pg_catalog.pg_operator o JOIN listed ON listed.oid = o.oprnamespace
    WHERE o.oprname IN (SELECT pg_catalog.json_array_elements_text($3::json))
), spoilt (schema) AS (
    SELECT c.schema FROM called c
    WHERE NOT c.by_trusted OR NOT (
        EXISTS (SELECT FROM pg_catalog.json_array_elements(CASE c.kind WHEN 'function' THEN $4::json ELSE $5::json END) AS e (pair)
                WHERE e.pair ->> 0 = c.schema AND e.pair ->> 1 = c.name)
        OR EXISTS (SELECT FROM pg_catalog.pg_type t
                   LEFT JOIN pg_catalog.pg_type element ON element.oid = t.typelem AND t.typcategory = 'A'
                   WHERE t.oid = ANY (c.arguments) AND t.oid >= 16384 AND coalesce(element.typtype, t.typtype) = 'b'))
), kept AS (
    SELECT schema, place FROM listed WHERE by_trusted AND schema NOT IN (SELECT schema FROM spoilt)
)
SELECT pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog',
           (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(schema), ', ' ORDER BY place) FROM kept), 'pg_temp'), true) AS path,
       NOT EXISTS (SELECT FROM called WHERE schema NOT IN (SELECT schema FROM kept)) AS whole,
       (SELECT coalesce(pg_catalog.json_agg(f ORDER BY f.place DESC), '[]') FROM (
           SELECT DISTINCT c.kind, c.name, c.schema, k.place FROM called c JOIN kept k ON k.schema = c.schema) AS f)::text AS foreign
