-- The first owner who is not trusted among those of everything that a statement may run code of: the relations $1 and
-- types $2 (names as SQL writes them) and what they depend on. $3: owners trusted by name.
-- By owner and not by content: what an object is may change between this look and the statement, its owner only by
-- the will of one who is trusted. Objects without a row in pg_shdepend belong to the bootstrap superuser.
WITH RECURSIVE trusted (oid) AS (:trusted_roles), part (class, oid) AS (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid,
           pg_catalog.to_regclass(name)::pg_catalog.oid
    FROM pg_catalog.json_array_elements_text($1::json) AS written (name)
    UNION
    SELECT 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid, pg_catalog.to_regtype(name)::pg_catalog.oid
    FROM pg_catalog.json_array_elements_text($2::json) AS written (name)
    UNION
    SELECT further.class, further.oid
    FROM part, LATERAL (
        -- What it refers to; not an extension as a whole, nor a role, nor another table by a foreign key.
        SELECT d.refclassid AS class, d.refobjid AS oid
        FROM pg_catalog.pg_depend d
        WHERE d.classid = part.class AND d.objid = part.oid
          AND d.refclassid <> 'pg_catalog.pg_extension'::pg_catalog.regclass
        UNION ALL
        -- Of a relation: rules, policies, indexes and partitions, checks, statistics, generated columns, children.
        SELECT d.classid, d.objid
        FROM pg_catalog.pg_depend d
        LEFT JOIN pg_catalog.pg_constraint k
          ON d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND k.oid = d.objid
        LEFT JOIN pg_catalog.pg_attrdef f
          ON d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND f.oid = d.objid
        LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        WHERE part.class = 'pg_catalog.pg_class'::pg_catalog.regclass
          AND d.refclassid = part.class AND d.refobjid = part.oid AND d.deptype IN ('a', 'i', 'P', 'S')
          AND d.classid IN (
              'pg_catalog.pg_rewrite'::pg_catalog.regclass, 'pg_catalog.pg_policy'::pg_catalog.regclass,
              'pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_constraint'::pg_catalog.regclass,
              'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, 'pg_catalog.pg_attrdef'::pg_catalog.regclass
          )
          AND coalesce(k.contype, 'c') <> 'f'
          AND (f.oid IS NULL OR a.attgenerated <> '')
        UNION ALL
        SELECT part.class, i.inhrelid
        FROM pg_catalog.pg_inherits i
        WHERE part.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND i.inhparent = part.oid
        UNION ALL
        -- Of a type that is not built in: casts from and to it, a domain's checks, a composite's columns, its
        -- operator classes. Only the owner of one of its two types may make a cast: one between this type and another
        -- one of somebody who is not trusted calls nothing where that other type is not used, and may not spoil this.
        SELECT linked.class, linked.oid
        FROM (
            SELECT 'pg_catalog.pg_cast'::pg_catalog.regclass::pg_catalog.oid AS class, c.oid
            FROM pg_catalog.pg_cast c
            JOIN pg_catalog.pg_type other
              ON other.oid = CASE WHEN c.castsource = part.oid THEN c.casttarget ELSE c.castsource END
            WHERE (c.castsource = part.oid OR c.casttarget = part.oid)
              AND (other.oid < 16384 OR other.typowner IN (SELECT oid FROM trusted))
            UNION ALL
            SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid, k.oid
            FROM pg_catalog.pg_constraint k WHERE k.contypid = part.oid
            UNION ALL
            SELECT 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, t.typrelid
            FROM pg_catalog.pg_type t WHERE t.oid = part.oid AND t.typrelid <> 0
            UNION ALL
            SELECT 'pg_catalog.pg_opclass'::pg_catalog.regclass::pg_catalog.oid, o.oid
            FROM pg_catalog.pg_opclass o WHERE o.opcintype = part.oid
        ) AS linked
        WHERE part.class = 'pg_catalog.pg_type'::pg_catalog.regclass AND part.oid >= 16384
        UNION ALL
        -- Of an operator class: its operators and support functions.
        SELECT d.classid, d.objid
        FROM pg_catalog.pg_depend d
        WHERE part.class IN (
                  'pg_catalog.pg_opclass'::pg_catalog.regclass, 'pg_catalog.pg_opfamily'::pg_catalog.regclass
              )
          AND d.refclassid = part.class AND d.refobjid = part.oid
          AND d.classid IN ('pg_catalog.pg_amop'::pg_catalog.regclass, 'pg_catalog.pg_amproc'::pg_catalog.regclass)
    ) AS further
    WHERE part.oid IS NOT NULL
)
SELECT owner.rolname::text AS owner, pg_catalog.pg_describe_object(part.class, part.oid, 0) AS object
FROM part
JOIN pg_catalog.pg_shdepend s
  ON s.classid = part.class AND s.objid = part.oid AND s.deptype = 'o'
 AND s.dbid IN (0, (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()))
JOIN pg_catalog.pg_roles owner ON owner.oid = s.refobjid
WHERE owner.oid NOT IN (SELECT oid FROM trusted)
ORDER BY 1, 2
LIMIT 1
