-- The registered databases: their schemas as seen over time, how askers log in there, what may be shown of their values,
-- and a counter by which readers notice a change.

CREATE TABLE pgparley.database (
    name          text PRIMARY KEY,
    dsn           text NOT NULL,
    dbname        text NOT NULL,
    search_path   text[] NOT NULL,
    schemas       text[] NOT NULL DEFAULT '{}',
    registered_at timestamptz NOT NULL DEFAULT now(),
    newest        bigint,
    identity      text
);
COMMENT ON COLUMN pgparley.database.dsn IS 'May hold a password: readable by the owner of this schema alone.';
COMMENT ON COLUMN pgparley.database.newest IS 'The snapshot that describes the database now.';
COMMENT ON COLUMN pgparley.database.identity IS 'System identifier of the cluster and OID of the database there; null where unknown.';

CREATE TABLE pgparley.snapshot (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database    text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    fingerprint text NOT NULL,
    taken_at    timestamptz NOT NULL DEFAULT now(),
    body        jsonb NOT NULL,
    UNIQUE (database, fingerprint)
);

ALTER TABLE pgparley.database
    ADD FOREIGN KEY (newest) REFERENCES pgparley.snapshot (id) ON DELETE SET NULL;

CREATE TABLE pgparley.catalog_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  bigint NOT NULL
);
INSERT INTO pgparley.catalog_version (version) VALUES (1);

-- A trigger, so that the counter also moves when somebody edits the tables by hand. It may run at the end of a
-- transaction, as the session's role (PostgreSQL docs 39.1), which may not touch the counter.
CREATE FUNCTION pgparley.bump_catalog_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE pgparley.catalog_version SET version = version + 1;
    RETURN NULL;
END
$$;
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.database
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_catalog_version();
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.snapshot
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_catalog_version();

CREATE TABLE pgparley.login (
    database text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    asker    text NOT NULL CHECK (asker <> ''),
    dsn      text NOT NULL,
    PRIMARY KEY (database, asker)
);
COMMENT ON TABLE pgparley.login IS 'A row is the permission: statements of nobody else run there.';
COMMENT ON COLUMN pgparley.login.asker IS 'A role that asks, or * for every asker without a row: under the own name, so that the dsn names no user.';
COMMENT ON COLUMN pgparley.login.dsn IS 'May hold a password: readable by the owner of this schema alone.';
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.login
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_catalog_version();

-- What a snapshot has, for look-ups; kept by triggers.

CREATE TABLE pgparley.element (
    database text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element  text[] NOT NULL,
    place    int NOT NULL,
    type     text NOT NULL,
    comment  text,
    words    text GENERATED ALWAYS AS
        (lower(element[2] || ' ' || coalesce(element[3], '') || ' ' || coalesce(comment, ''))) STORED,
    written  text GENERATED ALWAYS AS
        (quote_ident(database) || '.' || quote_ident(element[1]) || '.' || quote_ident(element[2])
         || coalesce('.' || quote_ident(element[3]), '')) STORED,
    PRIMARY KEY (database, element)
);
COMMENT ON TABLE pgparley.element IS 'The tables and columns of the newest snapshots, for look-ups; kept by a trigger.';
COMMENT ON COLUMN pgparley.element.element IS '{schema, table} or {schema, table, column}.';
COMMENT ON COLUMN pgparley.element.place IS 'Of a column in its table, from 1; 0: a table.';
COMMENT ON COLUMN pgparley.element.type IS 'A column''s type; a table''s kind.';
COMMENT ON COLUMN pgparley.element.words IS 'What a search looks at where nothing was said.';
COMMENT ON COLUMN pgparley.element.written IS 'As pgparley.written() gives it.';
CREATE INDEX ON pgparley.element (database, (element[2] || '.' || coalesce(element[3], '*')));
CREATE INDEX ON pgparley.element (written);

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

CREATE TABLE pgparley.table_key (
    database   text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element    text[] NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('primary', 'unique', 'foreign')),
    columns    text[] NOT NULL,
    referred   text[],
    to_columns text[]
);
COMMENT ON TABLE pgparley.table_key IS 'The keys of the newest snapshots, for look-ups; kept by a trigger.';
COMMENT ON COLUMN pgparley.table_key.element IS '{schema, table}; referred: of a foreign key the other one.';
CREATE INDEX ON pgparley.table_key (database, element);

CREATE FUNCTION pgparley.list_keys() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM pgparley.table_key k WHERE k.database = NEW.name;
    INSERT INTO pgparley.table_key
    SELECT NEW.name, ARRAY[t ->> 'schema', t ->> 'name'], each.kind,
           ARRAY(SELECT jsonb_array_elements_text(each.columns)), each.referred,
           CASE WHEN each.referred IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(each.to_columns)) END
    FROM pgparley.snapshot s,
         jsonb_array_elements(s.body -> 'tables') AS t,
         LATERAL (
             SELECT 'primary', t -> 'primary_key', NULL::text[], NULL::jsonb
             WHERE jsonb_array_length(t -> 'primary_key') > 0
             UNION ALL
             SELECT 'unique', u, NULL, NULL FROM jsonb_array_elements(t -> 'unique_keys') AS u
             UNION ALL
             SELECT 'foreign', f -> 'columns', ARRAY[f ->> 'ref_schema', f ->> 'ref_table'], f -> 'ref_columns'
             FROM jsonb_array_elements(t -> 'foreign_keys') AS f
         ) AS each (kind, columns, referred, to_columns)
    WHERE s.id = NEW.newest;
    RETURN NULL;
END
$$;
CREATE TRIGGER list_keys AFTER UPDATE OF newest ON pgparley.database
    FOR EACH ROW EXECUTE FUNCTION pgparley.list_keys();

CREATE TABLE pgparley.element_number (
    database text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element  text[] NOT NULL,
    relation bigint NOT NULL,
    attnum   int NOT NULL,
    PRIMARY KEY (database, element)
);
COMMENT ON TABLE pgparley.element_number IS 'OID and column number of each element of the newest snapshot: they stay when it is renamed.';

CREATE TABLE pgparley.schema_watch (
    database  text PRIMARY KEY REFERENCES pgparley.database (name) ON DELETE CASCADE,
    looked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    digest    text,
    problem   text,
    asked     boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE pgparley.schema_watch IS 'When an engine last looked whether a schema has changed.';
COMMENT ON COLUMN pgparley.schema_watch.digest IS 'Of the schema that the newest snapshot was then taken of; the server computes it.';
COMMENT ON COLUMN pgparley.schema_watch.problem IS 'Why the last look failed.';
COMMENT ON COLUMN pgparley.schema_watch.asked IS 'Somebody wants it to be read again now.';

CREATE TABLE pgparley.registration (
    name         text PRIMARY KEY,
    requested_by name NOT NULL,
    problem      text
);
COMMENT ON TABLE pgparley.registration IS 'Databases of the store''s own server that somebody wants to have registered.';
COMMENT ON COLUMN pgparley.registration.problem IS 'Why that failed; null: no engine has tried yet.';

-- Columns whose values a DBA allowed to be shown to a language model, and those values.

CREATE SEQUENCE pgparley.value_revision;

CREATE TABLE pgparley.value_column (
    database   text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    schema     text NOT NULL,
    "table"    text NOT NULL,
    "column"   text NOT NULL,
    allowed_at timestamptz NOT NULL DEFAULT now(),
    read_at    timestamptz,
    stored     text[] NOT NULL DEFAULT '{}',
    more       boolean NOT NULL DEFAULT false,
    problem    text,
    revision   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (database, schema, "table", "column")
);
COMMENT ON TABLE pgparley.value_column IS 'A row is the permission: a column without one gives no values.';
COMMENT ON COLUMN pgparley.value_column.stored IS 'Row values, commonest first: readable by the owner of this schema alone.';
COMMENT ON COLUMN pgparley.value_column.more IS 'The column has other values than these.';

ALTER SEQUENCE pgparley.value_revision OWNED BY pgparley.value_column.revision;

-- A trigger, so that readers also notice what somebody edits by hand.
CREATE FUNCTION pgparley.stamp_value_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := nextval('pgparley.value_revision');
    RETURN NEW;
END
$$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON pgparley.value_column
    FOR EACH ROW EXECUTE FUNCTION pgparley.stamp_value_revision();
