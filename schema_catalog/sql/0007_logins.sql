-- How askers log in to the registered databases, and which database of which cluster each of these is.

ALTER TABLE pgparley.database ADD COLUMN identity text;
COMMENT ON COLUMN pgparley.database.identity IS 'System identifier of the cluster and OID of the database there; null where unknown.';

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
