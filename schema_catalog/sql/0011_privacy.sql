-- Databases of which no model of somebody else's is told anything, and columns that no statement of ours reads.

ALTER TABLE pgparley.database ADD local boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN pgparley.database.local IS 'Questions to it are answered by the embedded model, or one that is said to be local, and by no other.';

CREATE FUNCTION nl_catalog.set_local(database text, local boolean DEFAULT true) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.check_admin();
    UPDATE pgparley.database d SET local = coalesce($2, true) WHERE d.name = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'database % is not registered', coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Nothing was changed.',
            HINT = 'SELECT database, local FROM nl_catalog.databases shows them.';
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.set_local IS 'Keeps all of a database from models of somebody else''s: the embedded one, or one with local = true in [model], answers, or nobody does. With false that is taken back.';
REVOKE EXECUTE ON FUNCTION nl_catalog.set_local FROM PUBLIC;

CREATE OR REPLACE VIEW nl_catalog.databases WITH (security_barrier) AS
SELECT d.name AS database, pgparley.written(d.name) AS element, coalesce(k.description, i.description) AS description,
       CASE WHEN i.synonyms IS NULL THEN coalesce(k.synonyms, '{}')
            ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms, coalesce(k.hidden, false) AS hidden,
       s.taken_at AS refreshed_at,
       CASE WHEN w.asked THEN 'waits for an engine to read its schema' ELSE w.problem END AS problem,
       coalesce(k.attributes ->> 'rules', i.attributes ->> 'rules') AS rules, d.local
FROM pgparley.database d
     LEFT JOIN pgparley.snapshot s ON s.id = d.newest
     LEFT JOIN pgparley.schema_watch w ON w.database = d.name
     LEFT JOIN pgparley.knowledge k ON k.database = d.name AND k.element = '{}'
     LEFT JOIN pgparley.imports_together i ON i.database = d.name AND i.element = '{}'
WHERE d.name IN (SELECT pgparley.open_databases());

CREATE OR REPLACE FUNCTION pgparley.checked_attribute(of text[], attribute text, value text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept  CONSTANT text := btrim(value);
    of_what CONSTANT text := CASE cardinality(of) WHEN 2 THEN 'table' WHEN 3 THEN 'column' ELSE 'database' END;
    taken boolean := false;
BEGIN
    IF of_what = 'database' AND attribute = 'rules' THEN
        taken := length(kept) BETWEEN 1 AND 2000 AND translate(kept, E'\r\n\t', '') !~ '[[:cntrl:]]';
    ELSIF of_what <> 'database' AND attribute = 'status' THEN
        taken := kept IN ('preferred', 'deprecated');
    ELSIF of_what <> 'database' AND attribute = 'sensitivity' THEN
        taken := kept IN ('sensitive', 'masked');
    ELSIF of_what = 'column' AND attribute = 'key' THEN
        taken := kept = 'unique';
    ELSIF of_what = 'column' AND attribute = 'unit' THEN
        taken := length(kept) BETWEEN 1 AND 40 AND kept !~ '[[:cntrl:]]';
    ELSIF of_what = 'column' AND attribute = 'time_zone' THEN
        taken := EXISTS (SELECT FROM pg_timezone_names z WHERE z.name = kept);
    END IF;
    IF taken IS NOT TRUE THEN
        RAISE EXCEPTION '% % cannot be said of a %', coalesce(quote_literal(left(attribute, 40)), 'null'),
                        coalesce(quote_literal(left(value, 40)), 'null'), of_what USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'Of tables and columns: status (preferred, deprecated), sensitivity (sensitive, masked). Of columns: unit (1 to 40'
                     ' characters), time_zone (a name of pg_timezone_names), key (unique). Of databases: rules (2,000 characters).',
            HINT = 'Null takes an attribute back.';
    END IF;
    RETURN kept;
END
$$;

CREATE OR REPLACE VIEW pgparley.kept_back AS
SELECT k.database, pgparley.moved(k.element, d.old, d.new) AS element, bool_or(k.hidden) AS hidden,
       CASE WHEN bool_or(k.attributes ->> 'sensitivity' = 'masked') THEN '{"sensitivity": "masked"}'::jsonb
            WHEN bool_or(k.attributes ? 'sensitivity') THEN '{"sensitivity": "sensitive"}'::jsonb ELSE '{}' END AS attributes
FROM pgparley.drift d
     JOIN pgparley.knowledge k ON k.database = d.database AND pgparley.within(k.element, d.old)
WHERE d.state = 'proposed' AND (k.hidden OR k.attributes ? 'sensitivity')
GROUP BY 1, 2;

DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
