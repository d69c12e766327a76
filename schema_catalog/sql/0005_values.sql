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
