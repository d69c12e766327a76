-- The registered databases, their schemas as seen over time, and a counter by which readers notice a change.

CREATE TABLE pgparley.database (
    name          text PRIMARY KEY,
    dsn           text NOT NULL,
    dbname        text NOT NULL,
    search_path   text[] NOT NULL,
    schemas       text[] NOT NULL DEFAULT '{}',
    registered_at timestamptz NOT NULL DEFAULT now(),
    newest        bigint
);
COMMENT ON COLUMN pgparley.database.dsn IS 'May hold a password: readable by the owner of this schema alone.';
COMMENT ON COLUMN pgparley.database.newest IS 'The snapshot that describes the database now.';

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

-- A trigger, so that the counter also moves when somebody edits the tables by hand.
CREATE FUNCTION pgparley.bump_catalog_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pgparley.catalog_version SET version = version + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.database
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_catalog_version();
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.snapshot
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_catalog_version();
