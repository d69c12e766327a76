-- What people and imports say of databases, tables and columns, and every change of it. The schema nl_catalog is what
-- clients see of that: views to read, functions to change. It runs with the rights of the store's owner, and asks for
-- itself which databases are open to its caller.

CREATE SCHEMA nl_catalog;
COMMENT ON SCHEMA nl_catalog IS 'What is known of the databases that questions are about: views to read, functions to change.';

-- An import says its things by the functions of nl_catalog, in a transaction that nl_catalog.import_as() has opened for its source. Elements
-- then go to a table of their own, so that nothing that a DBA says is touched, or lost when the import goes.
CREATE FUNCTION pgparley.source() RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT nullif(current_setting('nl_catalog.source', true), '')
$$;
COMMENT ON FUNCTION pgparley.source IS 'Which import speaks; null: a person.';

-- A command logs in as the store's owner and says for whom: others cannot speak for anybody.
CREATE FUNCTION pgparley.person() RETURNS name
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(CASE WHEN pg_has_role(session_user, current_user, 'USAGE')
                         THEN nullif(current_setting('nl_catalog.person', true), '')::name END, session_user)
$$;
COMMENT ON FUNCTION pgparley.person IS 'Who says something: the role that logged in, or whom a command of the store''s owner names.';

CREATE TABLE pgparley.knowledge (
    database    text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element     text[] NOT NULL CHECK (cardinality(element) IN (0, 2, 3)),
    description text,
    synonyms    text[] NOT NULL DEFAULT '{}',
    hidden      boolean NOT NULL DEFAULT false,
    attributes  jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (database, element)
);
COMMENT ON COLUMN pgparley.knowledge.element IS '{}: the database; {schema, table}; {schema, table, column}.';
COMMENT ON COLUMN pgparley.knowledge.hidden IS 'Not for questions; plain SQL reads it as before.';
COMMENT ON COLUMN pgparley.knowledge.attributes IS 'By name, as pgparley.checked_attribute() takes them.';

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

CREATE TABLE pgparley.definition (
    database   text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    kind       text NOT NULL CHECK (kind IN ('join', 'term', 'query')),
    element    text[] NOT NULL,
    body       jsonb NOT NULL,
    state      text NOT NULL DEFAULT 'unchecked' CHECK (state IN ('unchecked', 'checked', 'refused')),
    reason     text,
    reads      jsonb NOT NULL DEFAULT '[]',
    checked_at timestamptz,
    source     text CHECK (source ~ '^[a-z][a-z0-9_]{0,29}$'),
    PRIMARY KEY (database, kind, element)
);
COMMENT ON COLUMN pgparley.definition.element IS 'Of a join {schema, table, column} that refers, then those referred to; of a term {its name in lower case}, of a query {its question''s normal form}.';
COMMENT ON COLUMN pgparley.definition.body IS 'Of a join {"cardinality"}, of a term {"name", "definition", "description"}, of a query {"question", "sql", "tags", "owner"}.';
COMMENT ON COLUMN pgparley.definition.state IS 'Only what is checked is used. Each newer snapshot is a reason to check again.';
COMMENT ON COLUMN pgparley.definition.reason IS 'Why it is refused, or what could not be checked.';
COMMENT ON COLUMN pgparley.definition.reads IS 'Tables and columns, [schema, table] and [schema, table, column]: for who may read all of them.';
COMMENT ON COLUMN pgparley.definition.source IS 'The import that it is from; null: a person, whom no import overrules.';
CREATE INDEX ON pgparley.definition (database) WHERE state = 'refused';

CREATE TABLE pgparley.knowledge_change (
    version    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database   text NOT NULL,
    element    text[] NOT NULL,
    changed_by name NOT NULL DEFAULT pgparley.person(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    before     jsonb,
    after      jsonb,
    kind       text NOT NULL DEFAULT 'element',
    source     text DEFAULT pgparley.source()
);
COMMENT ON TABLE pgparley.knowledge_change IS 'Only ever added to. It outlives its database.';
COMMENT ON COLUMN pgparley.knowledge_change.before IS 'An element''s {"description", "synonyms", "hidden"}, else a definition''s body; null: nothing was said.';
COMMENT ON COLUMN pgparley.knowledge_change.source IS 'Of what an import said; null: a person.';
CREATE INDEX ON pgparley.knowledge_change (database, element, version);

-- Kept by triggers, so that they also know what somebody edits by hand.

CREATE FUNCTION pgparley.note_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    either  jsonb := coalesce(new_row, old_row);
    keys    CONSTANT text[] := '{database,element}';
BEGIN
    INSERT INTO pgparley.knowledge_change (database, kind, element, before, after)
    VALUES (either ->> 'database', coalesce(either ->> 'kind', 'element'),
            ARRAY(SELECT jsonb_array_elements_text(either -> 'element')),
            coalesce(old_row -> 'body', old_row - keys), coalesce(new_row -> 'body', new_row - keys));
    RETURN NULL;
END
$$;
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON pgparley.knowledge
    FOR EACH ROW EXECUTE FUNCTION pgparley.note_change();
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON pgparley.imported
    FOR EACH ROW EXECUTE FUNCTION pgparley.note_change();
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OF body OR DELETE ON pgparley.definition
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

-- At the end of the transaction: one that stays open holds up neither another steward's nor a refresh.
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.knowledge
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.imported
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.definition
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();
CREATE CONSTRAINT TRIGGER bump_learning AFTER INSERT OR UPDATE OR DELETE ON pgparley.definition
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_learning_version();

-- Without queries: like approved examples they are shown to the model and make no score another one.
CREATE FUNCTION pgparley.knowledge_digest(text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT md5(string_agg(said, ';' ORDER BY kind NULLS FIRST, element))
    FROM (SELECT NULL AS kind, k.element, k::text AS said FROM pgparley.knowledge k WHERE k.database = $1
          UNION ALL
          SELECT d.kind, d.element, d.body::text FROM pgparley.definition d
          WHERE d.database = $1 AND d.state = 'checked' AND d.kind <> 'query'
          UNION ALL
          SELECT 'imported by ' || i.source, i.element, i::text FROM pgparley.imported i WHERE i.database = $1) AS each
$$;
COMMENT ON FUNCTION pgparley.knowledge_digest IS 'Equal where what is said of a database is; null where nothing is.';

CREATE TABLE pgparley.database_grant (
    database text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    role     text NOT NULL,
    PRIMARY KEY (database, role)
);
COMMENT ON TABLE pgparley.database_grant IS 'The databases whose knowledge a role that is no nl_admin sees and, as an nl_steward, changes.';

CREATE FUNCTION pgparley.caller() RETURNS name LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
$$;

CREATE FUNCTION pgparley.is_admin() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_has_role(pgparley.caller(), current_user, 'USAGE')
        OR coalesce(pg_has_role(pgparley.caller(), to_regrole('nl_admin'), 'USAGE'), false)
$$;

CREATE FUNCTION pgparley.databases_of_caller() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.name FROM pgparley.database d WHERE pgparley.is_admin()
    UNION
    SELECT g.database FROM pgparley.database_grant g
    WHERE pg_has_role(pgparley.caller(), to_regrole(quote_ident(g.role)), 'USAGE')
$$;

-- What every view and function of nl_catalog asks first: hence the place to tell.
CREATE FUNCTION pgparley.open_databases() RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.tell_what_waits();
    RETURN QUERY SELECT d FROM pgparley.databases_of_caller() AS d;
END
$$;

CREATE FUNCTION pgparley.tell_what_waits() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    concerned text;
    renames   int;
    refused   int;
BEGIN
    IF current_setting('nl_catalog.told', true) = pgparley.caller()
       OR NOT (pgparley.is_admin() OR coalesce(pg_has_role(pgparley.caller(), to_regrole('nl_steward'), 'USAGE'), false)) THEN
        RETURN;
    END IF;
    SELECT string_agg(DISTINCT quote_ident(w.database), ', ' ORDER BY quote_ident(w.database)),
           count(*) FILTER (WHERE w.rename), count(*) FILTER (WHERE NOT w.rename)
    INTO concerned, renames, refused
    FROM (SELECT d.database, true AS rename FROM pgparley.drift d WHERE d.state = 'proposed'
          UNION ALL
          SELECT f.database, false FROM pgparley.definition f WHERE f.state = 'refused') AS w
    WHERE w.database IN (SELECT pgparley.databases_of_caller());
    IF concerned IS NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('nl_catalog.told', pgparley.caller(), false);
    RAISE NOTICE 'renames that wait for a decision: %; joins, terms and verified queries that are refused: %', renames, refused USING
        DETAIL = format('In %s.', concerned),
        HINT = 'SELECT id, old, new, breaks FROM nl_catalog.drift WHERE state = ''proposed''; columns state and reason of'
               ' nl_catalog.joins, terms and verified_queries. This is said once a session.';
END
$$;
COMMENT ON FUNCTION pgparley.tell_what_waits IS 'By a NOTICE to a steward or an nl_admin, once a session. nl_catalog.told: whom this session has told.';

CREATE FUNCTION pgparley.check_admin() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgparley.is_admin() THEN
        RAISE EXCEPTION 'only an nl_admin says which databases are registered, and open to whom' USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('"%s" is no member of nl_admin.', pgparley.caller()),
            HINT = 'Ask one of them, or have a superuser run: GRANT nl_admin TO …';
    END IF;
END
$$;

-- Elements by name.

CREATE FUNCTION pgparley.written(database text, element text[] DEFAULT '{}') RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.concat_ws('.', pg_catalog.quote_ident($1), pg_catalog.quote_ident($2[1]),
                                pg_catalog.quote_ident($2[2]), pg_catalog.quote_ident($2[3]))
$$;

CREATE FUNCTION pgparley.elements_like(database text, parts text[]) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT format('Write %L. ', min(e.written)) FROM pgparley.element e
         WHERE e.database = $1 AND lower(e.element::text) = lower($2::text)
            OR e.database = $1 AND lower(e.element[2:]::text) = lower($2::text)
         HAVING count(*) > 0),
        (SELECT format('Columns of %s: %s. ', min(t.written), string_agg(quote_ident(c.element[3]), ', ' ORDER BY c.place))
         FROM pgparley.element t JOIN pgparley.element c ON c.database = t.database AND c.element[1:2] = t.element
         WHERE t.database = $1 AND t.place = 0 AND c.place BETWEEN 1 AND 30 AND cardinality($2) > 1
           AND lower($2[cardinality($2) - 1]) = lower(t.element[2])
         HAVING count(DISTINCT t.element) = 1),
        '')
$$;
COMMENT ON FUNCTION pgparley.elements_like IS 'A hint for a name, of which parts follow the database''s, that no element has.';

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
            DETAIL = format('You are "%s". A name begins with its database: database.schema.table.column.', pgparley.caller()),
            HINT = (SELECT coalesce(min(nullif(pgparley.elements_like(o, parts), '')), '') FROM pgparley.open_databases() AS o)
                   || 'SELECT element FROM nl_catalog.databases shows those that are; an nl_admin opens one with grant_database.';
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
            DETAIL = 'The last snapshot of the database does not have it. A name is database.schema.table.column; the schema'
                     ' may be left out where the search path finds the table.',
            HINT = pgparley.elements_like(database, parts[2:])
                   || 'SELECT element FROM nl_catalog.columns shows the names; a new one is known after pgparley catalog refresh.';
    END IF;
END
$$;

CREATE FUNCTION pgparley.open_database(name text) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.database FROM pgparley.find_element(quote_ident($1)) f
$$;
