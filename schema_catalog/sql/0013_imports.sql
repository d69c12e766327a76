-- What files of other tools say of elements, below what a DBA says and below comments; attributes of elements beside descriptions;
-- and how many questions who may ask.

ALTER TABLE pgparley.knowledge ADD COLUMN attributes jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN pgparley.knowledge.attributes IS 'By name, as pgparley.checked_attribute() takes them.';

-- An import says its things by the functions of nl_catalog, in a transaction that nl_catalog.import_as() has opened for its source. Elements
-- then go to a table of their own, so that nothing that a DBA says is touched, or lost when the import goes.
CREATE FUNCTION pgparley.source() RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT nullif(current_setting('nl_catalog.source', true), '')
$$;
COMMENT ON FUNCTION pgparley.source IS 'Which import speaks; null: a person.';

CREATE TABLE pgparley.imported (
    database    text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element     text[] NOT NULL CHECK (cardinality(element) IN (0, 2, 3)),
    source      text NOT NULL CHECK (source ~ '^[a-z][a-z0-9_]{0,29}$'),
    description text,
    synonyms    text[] NOT NULL DEFAULT '{}',
    attributes  jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (database, element, source)
);
COMMENT ON TABLE pgparley.imported IS 'As pgparley.knowledge, of each source.';

CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON pgparley.imported
    FOR EACH ROW EXECUTE FUNCTION pgparley.note_change();
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.imported
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();

ALTER TABLE pgparley.knowledge_change ADD COLUMN source text;
ALTER TABLE pgparley.knowledge_change ALTER COLUMN source SET DEFAULT pgparley.source();
COMMENT ON COLUMN pgparley.knowledge_change.source IS 'Of what an import said; null: a person.';
ALTER TABLE pgparley.definition ADD COLUMN source text CHECK (source ~ '^[a-z][a-z0-9_]{0,29}$');
COMMENT ON COLUMN pgparley.definition.source IS 'The import that it is from; null: a person, whom no import overrules.';

CREATE FUNCTION nl_catalog.import_as(source text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF $1 IS NULL OR $1 !~ '^[a-z][a-z0-9_]{0,29}$' THEN
        RAISE EXCEPTION '% cannot be the name of an import', coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'It is 1 to 30 lower-case letters, digits and underscores, a letter first.',
            HINT = 'Name the tool that the file is of: dbt.';
    END IF;
    PERFORM set_config('nl_catalog.source', $1, true);
END
$$;
COMMENT ON FUNCTION nl_catalog.import_as IS 'What is said until the end of the transaction is the import''s: it stands behind what people say and behind comments.';

CREATE OR REPLACE FUNCTION pgparley.said_of(name text) RETURNS pgparley.knowledge
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said  pgparley.knowledge;
    kept  pgparley.knowledge;
    parts text[];
BEGIN
    IF pgparley.source() IS NOT NULL THEN
        -- What an import says of an element that is gone can still be taken back, by its whole name.
        parts := parse_ident(name);
        SELECT i.database, i.element, i.description, i.synonyms, false, i.attributes INTO kept FROM pgparley.imported i
        WHERE (i.database, i.element, i.source) = (parts[1], parts[2:], pgparley.source())
          AND i.database IN (SELECT pgparley.open_databases());
        IF FOUND THEN
            RETURN kept;
        END IF;
    END IF;
    SELECT f.database, f.element, NULL, '{}', false, '{}' INTO said FROM pgparley.find_element(name) f;
    IF pgparley.source() IS NOT NULL THEN
        RETURN said;
    END IF;
    -- As in 0011.
    PERFORM pg_advisory_xact_lock(hashtext('pgparley.knowledge'),
                                  hashtext(pgparley.written(said.database, said.element)) & 1023);
    SELECT k.* INTO kept FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, said.element);
    RETURN CASE WHEN kept.database IS NULL THEN said ELSE kept END;
END
$$;

CREATE OR REPLACE FUNCTION pgparley.say(said pgparley.knowledge) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    nothing CONSTANT boolean := said.description IS NULL AND said.synonyms = '{}' AND NOT said.hidden
                             AND said.attributes = '{}';
BEGIN
    IF pgparley.source() IS NOT NULL THEN
        PERFORM pgparley.say_imported(said, nothing);
    ELSIF nothing THEN
        DELETE FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, said.element);
    ELSE
        INSERT INTO pgparley.knowledge AS k SELECT said.*
        ON CONFLICT (database, element) DO UPDATE
        SET description = excluded.description, synonyms = excluded.synonyms, hidden = excluded.hidden,
            attributes = excluded.attributes
        WHERE k IS DISTINCT FROM excluded;
    END IF;
    RETURN (SELECT max(c.version) FROM pgparley.knowledge_change c
            WHERE (c.database, c.element) = (said.database, said.element)
              AND c.source IS NOT DISTINCT FROM pgparley.source());
END
$$;

CREATE FUNCTION pgparley.say_imported(said pgparley.knowledge, nothing boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF said.hidden THEN
        RAISE EXCEPTION 'an import hides nothing' USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = format('This transaction speaks for the import "%s".', pgparley.source()),
            HINT = 'Call hide() in a transaction of its own.';
    ELSIF nothing THEN
        DELETE FROM pgparley.imported i
        WHERE (i.database, i.element, i.source) = (said.database, said.element, pgparley.source());
    ELSE
        INSERT INTO pgparley.imported AS i (database, element, source, description, synonyms, attributes)
        VALUES (said.database, said.element, pgparley.source(), said.description, said.synonyms, said.attributes)
        ON CONFLICT (database, element, source) DO UPDATE
        SET description = excluded.description, synonyms = excluded.synonyms, attributes = excluded.attributes
        WHERE i IS DISTINCT FROM excluded;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION pgparley.define(database text, kind text, element text[], body jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    speaks CONSTANT text := pgparley.source();
BEGIN
    IF speaks IS NOT NULL AND ($2 = 'query' OR EXISTS (
        SELECT FROM pgparley.definition d
        WHERE (d.database, d.kind, d.element) = ($1, $2, $3) AND d.source IS DISTINCT FROM speaks)) THEN
        RAISE EXCEPTION 'an import does not change this %', $2 USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('This transaction speaks for the import "%s"; somebody else said it.', speaks),
            HINT = 'Say it in a transaction of its own.';
    ELSIF $4 IS NULL THEN
        DELETE FROM pgparley.definition d WHERE (d.database, d.kind, d.element) = ($1, $2, $3);
    ELSE
        INSERT INTO pgparley.definition AS d (database, kind, element, body, source) VALUES ($1, $2, $3, $4, speaks)
        ON CONFLICT (database, kind, element) DO UPDATE
        SET body = excluded.body, source = excluded.source, state = DEFAULT, reason = NULL, reads = DEFAULT, checked_at = NULL
        WHERE (d.body, d.source) IS DISTINCT FROM (excluded.body, excluded.source);
    END IF;
    RETURN (SELECT max(c.version) FROM pgparley.knowledge_change c
            WHERE (c.database, c.kind, c.element) = ($1, $2, $3));
END
$$;

CREATE OR REPLACE FUNCTION nl_catalog.restore(version bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    was     pgparley.knowledge_change;
    said    pgparley.knowledge;
    speaks  CONSTANT text := coalesce(pgparley.source(), '');
    changed bigint;
BEGIN
    SELECT c.* INTO was FROM pgparley.knowledge_change c
    WHERE c.version = $1 AND c.database IN (SELECT pgparley.open_databases());
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no version %', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Nothing of this number was changed in a registered database that is open to you.',
            HINT = 'SELECT * FROM nl_catalog.history shows the versions.';
    END IF;
    -- Of an import's elements its own table; a definition that is restored is the restorer's.
    IF was.kind <> 'element' THEN
        RETURN pgparley.define(was.database, was.kind, was.element, was.after);
    END IF;
    PERFORM set_config('nl_catalog.source', coalesce(was.source, ''), true);
    said := pgparley.said_of(pgparley.written(was.database, was.element));
    SELECT was.after ->> 'description', ARRAY(SELECT jsonb_array_elements_text(was.after -> 'synonyms')),
           coalesce((was.after ->> 'hidden')::boolean, false), coalesce(was.after -> 'attributes', '{}')
    INTO said.description, said.synonyms, said.hidden, said.attributes;
    changed := pgparley.say(said);
    PERFORM set_config('nl_catalog.source', speaks, true);
    RETURN changed;
END
$$;
COMMENT ON FUNCTION nl_catalog.restore IS 'Says again what a version of the history said. Returns the new version.';

-- The text before is that of 0010 where there is no import, so that calibrations stay.
CREATE OR REPLACE FUNCTION pgparley.knowledge_digest(text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT md5(string_agg(said, ';' ORDER BY kind NULLS FIRST, element))
    FROM (SELECT NULL AS kind, k.element,
                 ROW(k.database, k.element, k.description, k.synonyms, k.hidden)::text
                 || CASE WHEN k.attributes = '{}' THEN '' ELSE k.attributes::text END AS said
          FROM pgparley.knowledge k WHERE k.database = $1
          UNION ALL
          SELECT d.kind, d.element, d.body::text FROM pgparley.definition d
          WHERE d.database = $1 AND d.state = 'checked' AND d.kind <> 'query'
          UNION ALL
          SELECT 'imported by ' || i.source, i.element, i::text FROM pgparley.imported i WHERE i.database = $1) AS each
$$;

CREATE FUNCTION pgparley.checked_attribute(of text[], attribute text, value text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept  CONSTANT text := btrim(value);
    of_what CONSTANT text := CASE cardinality(of) WHEN 2 THEN 'table' WHEN 3 THEN 'column' ELSE 'database' END;
    taken boolean := false;
BEGIN
    IF of_what <> 'database' AND attribute = 'status' THEN
        taken := kept IN ('preferred', 'deprecated');
    ELSIF of_what <> 'database' AND attribute = 'sensitivity' THEN
        taken := kept = 'sensitive';
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
            DETAIL = 'Of tables and columns: status (preferred, deprecated), sensitivity (sensitive). Of columns: unit (1 to 40'
                     ' characters), time_zone (a name of pg_timezone_names), key (unique).',
            HINT = 'Null takes an attribute back.';
    END IF;
    RETURN kept;
END
$$;

CREATE FUNCTION nl_catalog.set_attribute(element text, attribute text, value text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of($1);
BEGIN
    IF $3 IS NULL THEN
        said.attributes := said.attributes - coalesce($2, '');
    ELSE
        said.attributes := said.attributes
                           || jsonb_build_object($2, pgparley.checked_attribute(said.element, $2, $3));
    END IF;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.set_attribute IS 'Says status, sensitivity, unit, time_zone or key of an element; null takes it back. Returns the version.';

-- Values of what is sensitive are neither allowed nor kept, whoever says it.
CREATE FUNCTION pgparley.sensitive(database text) RETURNS SETOF text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.element FROM pgparley.knowledge k WHERE k.database = $1 AND k.attributes ? 'sensitivity'
    UNION
    SELECT i.element FROM pgparley.imported i WHERE i.database = $1 AND i.attributes ? 'sensitivity'
$$;
COMMENT ON FUNCTION pgparley.sensitive IS 'The tables and columns that are said to be sensitive.';

CREATE FUNCTION pgparley.forget_values() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM pgparley.value_column v
    WHERE v.database = NEW.database
      AND NEW.element IN (ARRAY[v.schema, v."table"], ARRAY[v.schema, v."table", v."column"]);
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_values AFTER INSERT OR UPDATE ON pgparley.knowledge
    FOR EACH ROW WHEN (NEW.attributes ? 'sensitivity') EXECUTE FUNCTION pgparley.forget_values();
CREATE TRIGGER forget_values AFTER INSERT OR UPDATE ON pgparley.imported
    FOR EACH ROW WHEN (NEW.attributes ? 'sensitivity') EXECUTE FUNCTION pgparley.forget_values();

CREATE FUNCTION pgparley.refuse_sensitive() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pgparley.sensitive(NEW.database) AS s
               WHERE s IN (ARRAY[NEW.schema, NEW."table"], ARRAY[NEW.schema, NEW."table", NEW."column"])) THEN
        IF TG_OP = 'UPDATE' THEN  -- Allowed while somebody said it: what is read of it now is not kept.
            NEW.stored := '{}';
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'values of %.% are sensitive', quote_ident(NEW."table"), quote_ident(NEW."column") USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = 'No value of such a column is kept or shown to the model.',
            HINT = 'nl_catalog.set_attribute(…, ''sensitivity'', NULL) takes that back.';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER refuse_sensitive BEFORE INSERT OR UPDATE ON pgparley.value_column
    FOR EACH ROW EXECUTE FUNCTION pgparley.refuse_sensitive();

-- Nearly always there is one source, which makes no look at the others worth while.
CREATE VIEW pgparley.imports_together AS
SELECT i.database, i.element,
       (array_agg(i.description ORDER BY i.source) FILTER (WHERE i.description IS NOT NULL))[1] AS description,
       CASE count(*) WHEN 1 THEN min(i.synonyms)
           ELSE ARRAY(SELECT DISTINCT s FROM pgparley.imported j, unnest(j.synonyms) AS s
                      WHERE (j.database, j.element) = (i.database, i.element) ORDER BY 1) END AS synonyms,
       CASE count(*) WHEN 1 THEN (array_agg(i.attributes))[1]
           ELSE (SELECT coalesce(jsonb_object_agg(a.name, a.value ORDER BY j.source DESC), '{}')
                 FROM pgparley.imported j, jsonb_each(j.attributes) AS a (name, value)
                 WHERE (j.database, j.element) = (i.database, i.element)) END AS attributes
FROM pgparley.imported i
GROUP BY i.database, i.element;
COMMENT ON VIEW pgparley.imports_together IS 'Of an element the description and attributes of the first source by name, and the synonyms of all.';

CREATE FUNCTION pgparley.with_imported(synonyms text[], imported text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce($1, '{}') || ARRAY(SELECT s FROM unnest($2) AS s
                                       WHERE lower(s) NOT IN (SELECT lower(t) FROM unnest($1) AS t))
$$;

CREATE OR REPLACE VIEW nl_catalog.databases WITH (security_barrier) AS
SELECT d.name AS database, pgparley.written(d.name) AS element, coalesce(k.description, i.description) AS description,
       CASE WHEN i.synonyms IS NULL THEN coalesce(k.synonyms, '{}')
            ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms, coalesce(k.hidden, false) AS hidden,
       s.taken_at AS refreshed_at
FROM pgparley.database d
     LEFT JOIN pgparley.snapshot s ON s.id = d.newest
     LEFT JOIN pgparley.knowledge k ON k.database = d.name AND k.element = '{}'
     LEFT JOIN pgparley.imports_together i ON i.database = d.name AND i.element = '{}'
WHERE d.name IN (SELECT pgparley.open_databases());

CREATE OR REPLACE VIEW nl_catalog.tables WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", pgparley.written(e.database, e.element) AS element,
       e.type AS kind, coalesce(k.description, e.comment, i.description) AS description, e.comment,
       CASE WHEN i.synonyms IS NULL THEN coalesce(k.synonyms, '{}')
            ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms, coalesce(k.hidden, false) AS hidden,
       coalesce(i.attributes, '{}') || coalesce(k.attributes, '{}') AS attributes
FROM pgparley.element e
     LEFT JOIN pgparley.knowledge k USING (database, element)
     LEFT JOIN pgparley.imports_together i USING (database, element)
WHERE e.place = 0 AND e.database IN (SELECT pgparley.open_databases());

CREATE OR REPLACE VIEW nl_catalog.columns WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", e.element[3] AS "column", e.place,
       pgparley.written(e.database, e.element) AS element,
       e.type, coalesce(k.description, e.comment, i.description) AS description, e.comment,
       CASE WHEN i.synonyms IS NULL THEN coalesce(k.synonyms, '{}')
            ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms, coalesce(k.hidden, false) AS hidden,
       coalesce(i.attributes, '{}') || coalesce(k.attributes, '{}') AS attributes
FROM pgparley.element e
     LEFT JOIN pgparley.knowledge k USING (database, element)
     LEFT JOIN pgparley.imports_together i USING (database, element)
WHERE e.place > 0 AND e.database IN (SELECT pgparley.open_databases());

CREATE OR REPLACE VIEW nl_catalog.said WITH (security_barrier) AS
SELECT k.database, k.element[1] AS schema, k.element[2] AS "table", k.element[3] AS "column",
       pgparley.written(k.database, k.element) AS element, k.description, k.synonyms, k.hidden, k.attributes
FROM pgparley.knowledge k
WHERE k.database IN (SELECT pgparley.open_databases());

CREATE VIEW nl_catalog.imported WITH (security_barrier) AS
SELECT i.database, i.element[1] AS schema, i.element[2] AS "table", i.element[3] AS "column",
       pgparley.written(i.database, i.element) AS element, i.source, i.description, i.synonyms, i.attributes
FROM pgparley.imported i
WHERE i.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.imported IS 'What imports say of elements, whether it counts or not.';

CREATE OR REPLACE VIEW nl_catalog.terms WITH (security_barrier) AS
SELECT d.database, d.body ->> 'name' AS term, d.body ->> 'definition' AS definition,
       d.body ->> 'description' AS description, d.state, d.reason, d.checked_at, d.source
FROM pgparley.definition d
WHERE d.kind = 'term' AND d.database IN (SELECT pgparley.open_databases());

CREATE OR REPLACE VIEW nl_catalog.joins WITH (security_barrier) AS
SELECT d.database, pgparley.written(d.database, d.element[1:3]) AS from_column,
       pgparley.written(d.database, d.element[4:6]) AS to_column,
       d.body ->> 'cardinality' AS cardinality, d.state, d.reason, d.checked_at, d.source
FROM pgparley.definition d
WHERE d.kind = 'join' AND d.database IN (SELECT pgparley.open_databases());

CREATE OR REPLACE VIEW nl_catalog.history WITH (security_barrier) AS
SELECT c.version, c.database,
       CASE c.kind WHEN 'element' THEN pgparley.written(c.database, c.element)
                   WHEN 'join' THEN concat_ws(' = ', pgparley.written(c.database, c.element[1:3]),
                                              pgparley.written(c.database, c.element[4:6]))
                   ELSE c.element[1] END AS element,
       c.changed_by, c.changed_at, c.before, c.after, c.kind, c.source
FROM pgparley.knowledge_change c
WHERE c.database IN (SELECT pgparley.open_databases()) OR pgparley.is_admin();

CREATE OR REPLACE VIEW nl_catalog.conflicts WITH (security_barrier) AS
SELECT k.database, pgparley.written(k.database, k.element) AS element,
       CASE WHEN e.element IS NULL THEN 'gone' ELSE 'comment differs' END AS problem, k.description, e.comment,
       NULL AS source, NULL AS imported
FROM pgparley.knowledge k LEFT JOIN pgparley.element e USING (database, element)
WHERE k.element <> '{}' AND (e.element IS NULL OR k.description <> e.comment)
  AND k.database IN (SELECT pgparley.open_databases())
UNION ALL
SELECT i.database, pgparley.written(i.database, i.element),
       CASE WHEN e.element IS NULL AND i.element <> '{}' THEN 'gone' ELSE 'import differs' END,
       k.description, e.comment, i.source, i.description
FROM pgparley.imported i
     LEFT JOIN pgparley.element e USING (database, element)
     LEFT JOIN pgparley.knowledge k USING (database, element)
     LEFT JOIN pgparley.imports_together t USING (database, element)
WHERE (e.element IS NULL AND i.element <> '{}' OR i.description <> coalesce(k.description, e.comment, t.description))
  AND i.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.conflicts IS 'Where what is said differs from COMMENT ON, or an import from either or another import; and where an element is gone from the schema.';

-- Who may ask how often. In which databases is said elsewhere: by logins and by the databases' own grants.

CREATE TABLE pgparley.quota (
    role              text PRIMARY KEY,
    questions_an_hour int NOT NULL CHECK (questions_an_hour >= 0)
);
COMMENT ON COLUMN pgparley.quota.role IS 'public: everybody of whom nothing else is said.';

CREATE TABLE pgparley.asked (
    asker    text NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE pgparley.asked IS 'When askers who have a quota asked in the last hour.';
CREATE INDEX ON pgparley.asked (asker, asked_at);

CREATE FUNCTION nl_catalog.set_quota(role text, questions_an_hour int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgparley.is_admin() THEN
        RAISE EXCEPTION 'only an nl_admin says who may ask how many questions' USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('"%s" is no member of nl_admin.', pgparley.caller()),
            HINT = 'Ask one of them, or have a superuser run: GRANT nl_admin TO …';
    ELSIF coalesce($1, '') = '' OR $2 < 0 THEN
        RAISE EXCEPTION '% questions an hour cannot be the quota of %', coalesce($2::text, 'null'),
                        coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A quota is of a role, or of public, and 0 or more.',
            HINT = '0: may not ask at all; null takes a quota back.';
    ELSIF $2 IS NULL THEN
        DELETE FROM pgparley.quota q WHERE q.role = $1;
    ELSE
        INSERT INTO pgparley.quota AS q VALUES ($1, $2)
        ON CONFLICT ON CONSTRAINT quota_pkey DO UPDATE SET questions_an_hour = excluded.questions_an_hour;
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.set_quota IS 'Says how many questions a role, or each of its members, may ask an hour; 0: none; null takes that back.';

CREATE FUNCTION pgparley.groups_of(role text) RETURNS TABLE (name text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    -- Not by pg_has_role(), to which a superuser is a member of every role.
    WITH RECURSIVE found AS (
        SELECT to_regrole(quote_ident($1))::oid AS oid
        UNION
        SELECT m.roleid FROM pg_auth_members m JOIN found ON m.member = found.oid
    )
    SELECT r.rolname::text FROM found JOIN pg_roles r ON r.oid = found.oid
$$;

CREATE FUNCTION pgparley.quota_of(asker text) RETURNS int
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT q.questions_an_hour FROM pgparley.quota q WHERE q.role = $1),
        (SELECT max(q.questions_an_hour) FROM pgparley.quota q WHERE q.role IN (SELECT g.name FROM pgparley.groups_of($1) g)),
        (SELECT q.questions_an_hour FROM pgparley.quota q WHERE q.role = 'public'))
$$;
COMMENT ON FUNCTION pgparley.quota_of IS 'The asker''s own, else the largest of its groups, else that of public; null: without a limit.';

CREATE FUNCTION pgparley.admit(asker text, OUT most int, OUT spent int, OUT again_at timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    most := pgparley.quota_of($1);
    spent := 0;
    IF most IS NULL THEN
        RETURN;
    END IF;
    -- Engines that admit the same asker at once wait for each other, until the end of the transaction.
    PERFORM pg_advisory_xact_lock(hashtext('pgparley.quota'), hashtext($1));
    DELETE FROM pgparley.asked a WHERE a.asker = $1 AND a.asked_at <= clock_timestamp() - interval '1 hour';
    SELECT count(*) INTO spent FROM pgparley.asked a WHERE a.asker = $1;
    IF spent < most THEN
        INSERT INTO pgparley.asked (asker) VALUES ($1);
    ELSIF most > 0 THEN
        SELECT a.asked_at + interval '1 hour' INTO again_at FROM pgparley.asked a WHERE a.asker = $1
        ORDER BY a.asked_at OFFSET spent - most LIMIT 1;
    END IF;
END
$$;
COMMENT ON FUNCTION pgparley.admit IS 'Counts a question where the asker''s quota has room for it: spent < most, or most null. Else says when it will have.';

CREATE VIEW nl_catalog.quotas WITH (security_barrier) AS
SELECT q.role, q.questions_an_hour FROM pgparley.quota q
WHERE pgparley.is_admin() OR q.role = 'public' OR q.role IN (SELECT g.name FROM pgparley.groups_of(pgparley.caller()) g);
COMMENT ON VIEW nl_catalog.quotas IS 'How many questions an hour roles may ask: all to an nl_admin, to others those that may be theirs.';

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA nl_catalog FROM PUBLIC;

-- As in 0009.
DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
