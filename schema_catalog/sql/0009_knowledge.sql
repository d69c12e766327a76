-- What a DBA says of databases, tables and columns, every change of it, and who may say it. The schema nl_catalog is
-- what clients see of that: views to read, functions to change. It runs with the rights of the store's owner, and asks
-- for itself which databases are open to its caller.

CREATE TABLE pgparley.element (
    database text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element  text[] NOT NULL,
    place    int NOT NULL,
    type     text NOT NULL,
    comment  text,
    PRIMARY KEY (database, element)
);
COMMENT ON TABLE pgparley.element IS 'The tables and columns of the newest snapshots, for look-ups; kept by a trigger.';
COMMENT ON COLUMN pgparley.element.element IS '{schema, table} or {schema, table, column}.';
COMMENT ON COLUMN pgparley.element.place IS 'Of a column in its table, from 1; 0: a table.';
COMMENT ON COLUMN pgparley.element.type IS 'A column''s type; a table''s kind.';

CREATE TABLE pgparley.knowledge (
    database    text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element     text[] NOT NULL CHECK (cardinality(element) IN (0, 2, 3)),
    description text,
    synonyms    text[] NOT NULL DEFAULT '{}',
    hidden      boolean NOT NULL DEFAULT false,
    PRIMARY KEY (database, element)
);
COMMENT ON COLUMN pgparley.knowledge.element IS '{}: the database; {schema, table}; {schema, table, column}.';
COMMENT ON COLUMN pgparley.knowledge.hidden IS 'Not for questions; plain SQL reads it as before.';

CREATE TABLE pgparley.knowledge_change (
    version    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database   text NOT NULL,
    element    text[] NOT NULL,
    changed_by name NOT NULL DEFAULT session_user,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    before     jsonb,
    after      jsonb
);
COMMENT ON TABLE pgparley.knowledge_change IS 'Only ever added to. It outlives its database.';
COMMENT ON COLUMN pgparley.knowledge_change.before IS '{"description", "synonyms", "hidden"}; null: nothing was said.';
CREATE INDEX ON pgparley.knowledge_change (database, element, version);

CREATE TABLE pgparley.database_grant (
    database text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    role     text NOT NULL,
    PRIMARY KEY (database, role)
);
COMMENT ON TABLE pgparley.database_grant IS 'The databases whose knowledge a role that is no nl_admin sees and, as an nl_steward, changes.';

-- Kept by triggers, so that they also know what somebody edits by hand.

CREATE FUNCTION pgparley.list_elements() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM pgparley.element e WHERE e.database = NEW.name;
    INSERT INTO pgparley.element
    SELECT NEW.name, each.element, each.place, each.type, each.comment
    FROM pgparley.snapshot s,
         jsonb_array_elements(s.body -> 'tables') AS t,
         LATERAL (
             SELECT ARRAY[t ->> 'schema', t ->> 'name'], 0, t ->> 'kind', t ->> 'description'
             UNION ALL
             SELECT ARRAY[t ->> 'schema', t ->> 'name', c ->> 'name'], n, c ->> 'type', c ->> 'description'
             FROM jsonb_array_elements(t -> 'columns') WITH ORDINALITY AS columns (c, n)
         ) AS each (element, place, type, comment)
    WHERE s.id = NEW.newest;
    RETURN NULL;
END
$$;
CREATE TRIGGER list_elements AFTER UPDATE OF newest ON pgparley.database
    FOR EACH ROW EXECUTE FUNCTION pgparley.list_elements();
UPDATE pgparley.database SET newest = newest;

CREATE FUNCTION pgparley.note_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one pgparley.knowledge := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    INSERT INTO pgparley.knowledge_change (database, element, before, after)
    VALUES (one.database, one.element,
            CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) - '{database,element}'::text[] END,
            CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) - '{database,element}'::text[] END);
    RETURN NULL;
END
$$;
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON pgparley.knowledge
    FOR EACH ROW EXECUTE FUNCTION pgparley.note_change();

CREATE FUNCTION pgparley.refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the history of the catalog is only ever added to' USING
        ERRCODE = 'restrict_violation',
        DETAIL = 'Who said what, and when, stays.',
        HINT = 'nl_catalog.restore() says again what an earlier version said.';
END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON pgparley.knowledge_change
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.refuse_rewriting();

-- At the end of the transaction: one that stays open holds up neither another steward's nor a refresh. It then runs
-- as the session's role (PostgreSQL docs 39.1), which may not touch the counter.
ALTER FUNCTION pgparley.bump_catalog_version() SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.knowledge
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();

CREATE FUNCTION pgparley.knowledge_digest(text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT md5(string_agg(k::text, ';' ORDER BY k.element)) FROM pgparley.knowledge k WHERE k.database = $1
$$;
COMMENT ON FUNCTION pgparley.knowledge_digest IS 'Equal where what is said of a database is; null where nothing is.';

-- Who asks. In a function that runs with its owner's rights current_user is the owner, and the setting "role" is what
-- the session took by SET ROLE.

CREATE FUNCTION pgparley.caller() RETURNS name LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
$$;

CREATE FUNCTION pgparley.is_admin() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_has_role(pgparley.caller(), current_user, 'USAGE')
        OR coalesce(pg_has_role(pgparley.caller(), to_regrole('nl_admin'), 'USAGE'), false)
$$;

CREATE FUNCTION pgparley.open_databases() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.name FROM pgparley.database d WHERE pgparley.is_admin()
    UNION
    SELECT g.database FROM pgparley.database_grant g
    WHERE pg_has_role(pgparley.caller(), to_regrole(quote_ident(g.role)), 'USAGE')
$$;

CREATE FUNCTION pgparley.check_admin() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgparley.is_admin() THEN
        RAISE EXCEPTION 'only an nl_admin says which databases are open to whom' USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('"%s" is no member of nl_admin.', pgparley.caller()),
            HINT = 'Ask one of them, or have a superuser run: GRANT nl_admin TO …';
    END IF;
END
$$;

-- Elements by name, and the one place where knowledge is written.

CREATE FUNCTION pgparley.written(database text, element text[] DEFAULT '{}') RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.concat_ws('.', pg_catalog.quote_ident($1), pg_catalog.quote_ident($2[1]),
                                pg_catalog.quote_ident($2[2]), pg_catalog.quote_ident($2[3]))
$$;

CREATE FUNCTION pgparley.find_element(name text, OUT database text, OUT element text[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parts text[];
    path  text[];
BEGIN
    BEGIN
        parts := parse_ident(name);
    EXCEPTION WHEN invalid_parameter_value THEN
        NULL;  -- As with a null name, there are no parts.
    END;
    IF parts IS NULL THEN
        RAISE EXCEPTION '% is no name of an element', coalesce(quote_literal(name), 'null') USING
            ERRCODE = 'invalid_name',
            DETAIL = 'A name is database, database.table, database.table.column, or has the schema before the table.',
            HINT = 'Write names with capitals, spaces or hyphens in double quotes: ''sales."Order".net''.';
    END IF;
    SELECT d.name, d.search_path INTO database, path FROM pgparley.database d
    WHERE d.name = parts[1] AND d.name IN (SELECT pgparley.open_databases());
    IF NOT FOUND THEN
        RAISE EXCEPTION 'database "%" is not registered, or not open to you', parts[1] USING
            ERRCODE = 'invalid_catalog_name',
            DETAIL = format('You are "%s".', pgparley.caller()),
            HINT = 'SELECT element FROM nl_catalog.databases shows those that are; an nl_admin opens one with grant_database.';
    END IF;
    -- With its schema first: of three parts a table in a schema comes before a column of a table on the path. What is
    -- said of an element that is gone can still be changed.
    SELECT meant.element INTO element
    FROM (SELECT 0, parts[2:]
          UNION ALL
          SELECT n, schema || parts[2:] FROM unnest(path) WITH ORDINALITY AS p (schema, n)) AS meant (n, element)
    WHERE EXISTS (SELECT FROM pgparley.element e WHERE e.database = parts[1] AND e.element = meant.element)
       OR EXISTS (SELECT FROM pgparley.knowledge k WHERE k.database = parts[1] AND k.element = meant.element)
    ORDER BY meant.n LIMIT 1;
    IF cardinality(parts) = 1 THEN
        element := '{}';
    ELSIF element IS NULL THEN
        RAISE EXCEPTION '% is no table or column of database "%"', quote_literal(name), database USING
            ERRCODE = 'undefined_object',
            DETAIL = 'The last snapshot of the database does not have it.',
            HINT = 'SELECT element FROM nl_catalog.columns shows the names; a new one is known after pgparley catalog refresh.';
    END IF;
END
$$;

CREATE FUNCTION pgparley.said_of(name text) RETURNS pgparley.knowledge
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said  pgparley.knowledge;
    found pgparley.knowledge;
BEGIN
    SELECT f.database, f.element, NULL, '{}', false INTO said FROM pgparley.find_element(name) f;
    -- Until the end of the transaction: of two who change an element at once, the second sees what the first did.
    PERFORM pg_advisory_xact_lock(hashtextextended(pgparley.written(said.database, said.element), 0));
    SELECT k.* INTO found FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, said.element);
    RETURN CASE WHEN found.database IS NULL THEN said ELSE found END;
END
$$;

CREATE FUNCTION pgparley.say(said pgparley.knowledge) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF said.description IS NULL AND said.synonyms = '{}' AND NOT said.hidden THEN
        DELETE FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, said.element);
    ELSE
        INSERT INTO pgparley.knowledge AS k SELECT said.*
        ON CONFLICT (database, element) DO UPDATE
        SET description = excluded.description, synonyms = excluded.synonyms, hidden = excluded.hidden
        WHERE k IS DISTINCT FROM excluded;
    END IF;
    RETURN (SELECT max(c.version) FROM pgparley.knowledge_change c
            WHERE (c.database, c.element) = (said.database, said.element));
END
$$;

CREATE FUNCTION pgparley.set_hidden(name text, hidden boolean) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(name);
BEGIN
    said.hidden := hidden;
    RETURN pgparley.say(said);
END
$$;

CREATE SCHEMA nl_catalog;
COMMENT ON SCHEMA nl_catalog IS 'What is known of the databases that questions are about: views to read, functions to change.';

CREATE FUNCTION nl_catalog.describe(element text, description text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(element);
BEGIN
    IF length(description) > 2000 THEN
        RAISE EXCEPTION 'the description is too long' USING
            ERRCODE = 'string_data_right_truncation',
            DETAIL = format('It has %s characters; 2000 are allowed.', length(description)),
            HINT = 'Say first what the element means: a prompt shows the beginning alone.';
    END IF;
    said.description := nullif(btrim(description), '');
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.describe IS 'Says what an element means, before its COMMENT ON; null takes that back. Returns the version.';

CREATE FUNCTION nl_catalog.add_synonym(element text, synonym text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(element);
    word text := btrim(regexp_replace(synonym, '\s+', ' ', 'g'));
BEGIN
    IF word IS NULL OR word = '' OR length(word) > 60 OR word ~ '[[:cntrl:]]' OR cardinality(said.synonyms) >= 30 THEN
        RAISE EXCEPTION '% cannot be a synonym', coalesce(quote_literal(synonym), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A synonym is 1 to 60 characters without control characters, and an element has 30 at most.',
            HINT = 'Give the words that people use for the element; describe() is for sentences.';
    END IF;
    IF NOT EXISTS (SELECT FROM unnest(said.synonyms) AS s WHERE lower(s) = lower(word)) THEN
        said.synonyms := said.synonyms || word;
    END IF;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.add_synonym IS 'Another word for an element; one that it has already changes nothing. Returns the version.';

CREATE FUNCTION nl_catalog.drop_synonym(element text, synonym text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(element);
    kept text[] := ARRAY(SELECT s FROM unnest(said.synonyms) WITH ORDINALITY AS u (s, n)
                         WHERE lower(s) IS DISTINCT FROM lower(synonym) ORDER BY n);
BEGIN
    IF kept = said.synonyms THEN
        RAISE EXCEPTION '% is no synonym of %', coalesce(quote_literal(synonym), 'null'), element USING
            ERRCODE = 'undefined_object',
            DETAIL = format('Its synonyms: %s.', coalesce(nullif(array_to_string(said.synonyms, ', '), ''), 'none')),
            HINT = 'SELECT element, synonyms FROM nl_catalog.columns shows those of all columns.';
    END IF;
    said.synonyms := kept;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.drop_synonym IS 'Takes a synonym back. Returns the version.';

CREATE FUNCTION nl_catalog.hide(element text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.set_hidden($1, true)
$$;
COMMENT ON FUNCTION nl_catalog.hide IS 'Keeps an element, and what is in it, out of questions; plain SQL is not concerned. Returns the version.';

CREATE FUNCTION nl_catalog.show(element text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.set_hidden($1, false)
$$;
COMMENT ON FUNCTION nl_catalog.show IS 'Takes hide() back. Returns the version.';

CREATE FUNCTION nl_catalog.restore(version bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    was  pgparley.knowledge_change;
    said pgparley.knowledge;
BEGIN
    SELECT c.* INTO was FROM pgparley.knowledge_change c
    WHERE c.version = $1 AND c.database IN (SELECT pgparley.open_databases());
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no version %', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Nothing of this number was changed in a registered database that is open to you.',
            HINT = 'SELECT * FROM nl_catalog.history shows the versions.';
    END IF;
    said := pgparley.said_of(pgparley.written(was.database, was.element));
    SELECT was.after ->> 'description', ARRAY(SELECT jsonb_array_elements_text(was.after -> 'synonyms')),
           coalesce((was.after ->> 'hidden')::boolean, false)
    INTO said.description, said.synonyms, said.hidden;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.restore IS 'Says of an element again what a version of the history said. Returns the new version.';

CREATE FUNCTION nl_catalog.grant_database(database text, role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found text;
BEGIN
    PERFORM pgparley.check_admin();
    SELECT f.database INTO found FROM pgparley.find_element(quote_ident($1)) f;
    IF to_regrole(quote_ident($2)) IS NULL THEN
        RAISE EXCEPTION 'role "%" does not exist', $2 USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Databases are opened to roles of the server that keeps the catalog.',
            HINT = 'CREATE ROLE first, and GRANT nl_steward to it.';
    END IF;
    INSERT INTO pgparley.database_grant VALUES (found, $2) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION nl_catalog.grant_database IS 'Opens a database to a role: it then sees, and as an nl_steward changes, what is said of it.';

CREATE FUNCTION nl_catalog.revoke_database(database text, role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.check_admin();
    DELETE FROM pgparley.database_grant g WHERE (g.database, g.role) = ($1, $2);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'database "%" was not opened to "%"', $1, $2 USING
            ERRCODE = 'undefined_object',
            DETAIL = 'There is no such grant.',
            HINT = 'SELECT * FROM nl_catalog.grants shows them.';
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.revoke_database IS 'Takes grant_database() back.';

CREATE VIEW nl_catalog.databases WITH (security_barrier) AS
SELECT d.name AS database, pgparley.written(d.name) AS element, k.description,
       coalesce(k.synonyms, '{}') AS synonyms, coalesce(k.hidden, false) AS hidden, s.taken_at AS refreshed_at
FROM pgparley.database d
     LEFT JOIN pgparley.snapshot s ON s.id = d.newest
     LEFT JOIN pgparley.knowledge k ON k.database = d.name AND k.element = '{}'
WHERE d.name IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.databases IS 'The registered databases that are open to the reader.';

CREATE VIEW nl_catalog.tables WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", pgparley.written(e.database, e.element) AS element,
       e.type AS kind, coalesce(k.description, e.comment) AS description, e.comment,
       coalesce(k.synonyms, '{}') AS synonyms, coalesce(k.hidden, false) AS hidden
FROM pgparley.element e LEFT JOIN pgparley.knowledge k USING (database, element)
WHERE e.place = 0 AND e.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.tables IS 'Their tables and views, with what is said of each and its COMMENT ON.';

CREATE VIEW nl_catalog.columns WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", e.element[3] AS "column", e.place,
       pgparley.written(e.database, e.element) AS element,
       e.type, coalesce(k.description, e.comment) AS description, e.comment,
       coalesce(k.synonyms, '{}') AS synonyms, coalesce(k.hidden, false) AS hidden
FROM pgparley.element e LEFT JOIN pgparley.knowledge k USING (database, element)
WHERE e.place > 0 AND e.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.columns IS 'Their columns, with what is said of each and its COMMENT ON.';

CREATE VIEW nl_catalog.history WITH (security_barrier) AS
SELECT c.version, c.database, pgparley.written(c.database, c.element) AS element, c.changed_by, c.changed_at, c.before, c.after
FROM pgparley.knowledge_change c
WHERE c.database IN (SELECT pgparley.open_databases()) OR pgparley.is_admin();
COMMENT ON VIEW nl_catalog.history IS 'Every change: its version, who, when, what was said before and after; null: nothing.';

CREATE VIEW nl_catalog.conflicts WITH (security_barrier) AS
SELECT k.database, pgparley.written(k.database, k.element) AS element,
       CASE WHEN e.element IS NULL THEN 'gone' ELSE 'comment differs' END AS problem, k.description, e.comment
FROM pgparley.knowledge k LEFT JOIN pgparley.element e USING (database, element)
WHERE k.element <> '{}' AND (e.element IS NULL OR k.description <> e.comment)
  AND k.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.conflicts IS 'Where what is said differs from COMMENT ON, and wins; and where its element is gone from the schema.';

CREATE VIEW nl_catalog.grants WITH (security_barrier) AS
SELECT g.database, g.role FROM pgparley.database_grant g
WHERE g.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.grants IS 'The roles to which databases are open; an nl_admin needs no grant.';

CREATE FUNCTION nl_catalog.create_roles() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY '{nl_admin,nl_steward}'::text[] LOOP
        IF to_regrole(role) IS NULL THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
    END LOOP;
    GRANT USAGE ON SCHEMA nl_catalog TO nl_admin, nl_steward;
    GRANT SELECT ON ALL TABLES IN SCHEMA nl_catalog TO nl_admin, nl_steward;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA nl_catalog TO nl_admin, nl_steward;
END
$$;
COMMENT ON FUNCTION nl_catalog.create_roles IS 'Makes nl_admin and nl_steward where they are missing, and gives them their rights; for the owner or a superuser.';
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA nl_catalog FROM PUBLIC;

-- The roles are the server's: another store may be making them now, and the owner of this one may not be allowed to.
DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
