-- The types that are not PostgreSQL's own, rows of tables apart: (oid, schema, name, wanted, around, built_in, parts, problem).
-- $1: types allowed, as 'schema.name'. $2: extensions allowed. $3: trusted owners. $4: built-in types that are allowed.
-- wanted: a trusted owner's enum, domain, composite or range, or allowed. built_in: pg_catalog has one of that name.
-- around: its schema or its extension is the problem.
-- parts: the types, not PostgreSQL's own, that reading a value of this one reads as well; arrays as their elements.
WITH trusted (oid) AS (:trusted_roles), :trust_chain, member (classid, objid, allowed) AS (
    SELECT d.classid, d.objid, e.extname = ANY ($2::text[])
    FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
    WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
), own AS (
    SELECT t.*, n.nspname, member.objid IS NOT NULL AS of_some_extension, coalesce(member.allowed, false) AS allowed,
           trusted.oid IS NOT NULL AS of_trusted, coalesce(away.problem, around.problem) AS surroundings
    FROM pg_catalog.pg_type t
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
    LEFT JOIN trusted ON trusted.oid = t.typowner
    LEFT JOIN schema_problem around ON around.oid = t.typnamespace
    LEFT JOIN member_problem away ON away.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND away.objid = t.oid
    LEFT JOIN member ON member.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND member.objid = t.oid
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_t%'
      AND coalesce(c.relkind = 'c', true) AND NOT (t.typcategory = 'A' AND t.typelem <> 0)
), part AS (
    SELECT own.oid, own.typbasetype AS part FROM own WHERE own.typtype = 'd'
    UNION ALL
    SELECT own.oid, a.atttypid FROM own
    JOIN pg_catalog.pg_attribute a ON a.attrelid = own.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE own.typtype = 'c'
    UNION ALL
    SELECT own.oid, r.rngsubtype FROM own JOIN pg_catalog.pg_range r ON r.rngtypid = own.oid
), element AS (
    SELECT part.oid, coalesce(e.oid, t.oid) AS part,
           coalesce(e.typnamespace, t.typnamespace) = 'pg_catalog'::pg_catalog.regnamespace AS built_in,
           coalesce(e.typname, t.typname) = ANY ($4::text[]) AS listed
    FROM part
    JOIN pg_catalog.pg_type t ON t.oid = part.part
    LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
), code AS (
    -- Functions that reading a value runs: checks of a domain, and what makes a range canonical.
    SELECT own.oid, d.refobjid AS function FROM own
    JOIN pg_catalog.pg_constraint c ON c.contypid = own.oid
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND d.objid = c.oid
    WHERE d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
    UNION ALL
    SELECT own.oid, o.oprcode FROM own
    JOIN pg_catalog.pg_constraint c ON c.contypid = own.oid
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND d.objid = c.oid
    JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid
    WHERE d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass
    UNION ALL
    SELECT r.rngtypid, f.oid FROM pg_catalog.pg_range r, LATERAL (VALUES (r.rngcanonical), (r.rngsubdiff)) AS f (oid)
    UNION ALL
    SELECT r.rngtypid, a.amproc FROM pg_catalog.pg_range r
    JOIN pg_catalog.pg_opclass c ON c.oid = r.rngsubopc
    JOIN pg_catalog.pg_amproc a ON a.amprocfamily = c.opcfamily
)
SELECT own.oid::int8, own.nspname::text AS schema, own.typname::text AS name,
       own.nspname || '.' || own.typname = ANY ($1::text[]) OR own.allowed
           OR (own.typtype IN ('e', 'd', 'c', 'r') AND own.of_trusted AND NOT own.of_some_extension) AS wanted,
       EXISTS (SELECT FROM pg_catalog.pg_type b WHERE b.typname = own.typname
               AND b.typnamespace = 'pg_catalog'::pg_catalog.regnamespace) AS built_in,
       coalesce((SELECT pg_catalog.array_agg(e.part::int8) FROM element e WHERE e.oid = own.oid AND NOT e.built_in),
                '{}') AS parts, own.of_trusted AND own.surroundings IS NOT NULL AS around,
       CASE
           WHEN NOT own.of_trusted THEN 'its owner is not trusted'
           WHEN own.surroundings IS NOT NULL THEN own.surroundings
           WHEN EXISTS (SELECT FROM element e WHERE e.oid = own.oid AND e.built_in AND NOT e.listed)
               THEN 'it holds a built-in type that is not allowed'
           WHEN EXISTS (
               SELECT FROM code JOIN pg_catalog.pg_proc p ON p.oid = code.function
               WHERE code.oid = own.oid AND p.proowner NOT IN (SELECT oid FROM trusted)
           ) THEN 'it runs a function whose owner is not trusted'
       END AS problem
FROM own
