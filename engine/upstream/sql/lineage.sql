-- Where values of relations come from beside their own columns: what views say, what inherits, and what is generated.
SELECT 'view' AS kind, ARRAY[n.nspname, c.relname]::text[] AS element, NULL::text[] AS source,
       pg_catalog.pg_get_viewdef(c.oid) AS definition
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
UNION ALL
SELECT 'child', ARRAY[n.nspname, c.relname]::text[], ARRAY[m.nspname, p.relname]::text[], NULL
FROM pg_catalog.pg_inherits i
     JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_class p ON p.oid = i.inhparent JOIN pg_catalog.pg_namespace m ON m.oid = p.relnamespace
WHERE c.relkind IN ('r', 'p', 'f')
UNION ALL
SELECT DISTINCT 'generated', ARRAY[n.nspname, c.relname, a.attname]::text[], ARRAY[n.nspname, c.relname, s.attname]::text[], NULL
FROM pg_catalog.pg_attribute a
     JOIN pg_catalog.pg_attrdef v ON v.adrelid = a.attrelid AND v.adnum = a.attnum
     JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = a.attrelid
          AND (d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND d.objid = v.oid
               OR d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = a.attrelid AND d.objsubid = a.attnum)
     JOIN pg_catalog.pg_attribute s ON s.attrelid = a.attrelid AND s.attnum = d.refobjsubid AND s.attnum <> a.attnum
     JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE a.attgenerated <> ''
