-- What a DBA defines: joins that no foreign key declares, terms of the business, verified queries. Beside the definition stands whether the database takes it,
-- which the engine finds out (engine.definitions): SQL alone cannot. History and versions are those of 0009.

CREATE TABLE pgparley.definition (
    database   text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    kind       text NOT NULL CHECK (kind IN ('join', 'term', 'query')),
    element    text[] NOT NULL,
    body       jsonb NOT NULL,
    state      text NOT NULL DEFAULT 'unchecked' CHECK (state IN ('unchecked', 'checked', 'refused')),
    reason     text,
    reads      jsonb NOT NULL DEFAULT '[]',
    checked_at timestamptz,
    PRIMARY KEY (database, kind, element)
);
COMMENT ON COLUMN pgparley.definition.element IS 'Of a join {schema, table, column} that refers, then those referred to; of a term {its name in lower case}, of a query {its question''s normal form}.';
COMMENT ON COLUMN pgparley.definition.body IS 'Of a join {"cardinality"}, of a term {"name", "definition", "description"}, of a query {"question", "sql", "tags", "owner"}.';
COMMENT ON COLUMN pgparley.definition.state IS 'Only what is checked is used. Each newer snapshot is a reason to check again.';
COMMENT ON COLUMN pgparley.definition.reason IS 'Why it is refused, or what could not be checked.';
COMMENT ON COLUMN pgparley.definition.reads IS 'Tables and columns, [schema, table] and [schema, table, column]: for who may read all of them.';

ALTER TABLE pgparley.knowledge_change ADD COLUMN kind text NOT NULL DEFAULT 'element';
COMMENT ON COLUMN pgparley.knowledge_change.before IS 'An element''s {"description", "synonyms", "hidden"}, else a definition''s body; null: nothing was said.';

CREATE OR REPLACE FUNCTION pgparley.note_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OF body OR DELETE ON pgparley.definition
    FOR EACH ROW EXECUTE FUNCTION pgparley.note_change();
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.definition
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();

ALTER FUNCTION pgparley.bump_learning_version() SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
CREATE CONSTRAINT TRIGGER bump_learning AFTER INSERT OR UPDATE OR DELETE ON pgparley.definition
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_learning_version();

-- Without queries: like approved examples they are shown to the model and make no score another one.
CREATE OR REPLACE FUNCTION pgparley.knowledge_digest(text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT md5(string_agg(said, ';' ORDER BY kind NULLS FIRST, element))
    FROM (SELECT NULL AS kind, k.element, k::text AS said FROM pgparley.knowledge k WHERE k.database = $1
          UNION ALL
          SELECT d.kind, d.element, d.body::text FROM pgparley.definition d
          WHERE d.database = $1 AND d.state = 'checked' AND d.kind <> 'query') AS each
$$;

-- The one place where definitions are written; a body of null takes one back.
CREATE FUNCTION pgparley.define(database text, kind text, element text[], body jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF $4 IS NULL THEN
        DELETE FROM pgparley.definition d WHERE (d.database, d.kind, d.element) = ($1, $2, $3);
    ELSE
        INSERT INTO pgparley.definition AS d (database, kind, element, body) VALUES ($1, $2, $3, $4)
        ON CONFLICT (database, kind, element) DO UPDATE
        SET body = excluded.body, state = DEFAULT, reason = NULL, reads = DEFAULT, checked_at = NULL
        WHERE d.body <> excluded.body;
    END IF;
    RETURN (SELECT max(c.version) FROM pgparley.knowledge_change c
            WHERE (c.database, c.kind, c.element) = ($1, $2, $3));
END
$$;

CREATE OR REPLACE FUNCTION nl_catalog.restore(version bigint) RETURNS bigint
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
    IF was.kind <> 'element' THEN
        RETURN pgparley.define(was.database, was.kind, was.element, was.after);
    END IF;
    said := pgparley.said_of(pgparley.written(was.database, was.element));
    SELECT was.after ->> 'description', ARRAY(SELECT jsonb_array_elements_text(was.after -> 'synonyms')),
           coalesce((was.after ->> 'hidden')::boolean, false)
    INTO said.description, said.synonyms, said.hidden;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.restore IS 'Says again what a version of the history said. Returns the new version.';

CREATE FUNCTION nl_catalog.declare_join(from_column text, to_column text, cardinality text DEFAULT 'many-to-one')
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one   record;
    other record;
BEGIN
    SELECT f.* INTO one FROM pgparley.find_element($1) f;
    SELECT f.* INTO other FROM pgparley.find_element($2) f;
    IF array_length(one.element, 1) IS DISTINCT FROM 3 OR array_length(other.element, 1) IS DISTINCT FROM 3
       OR one.database <> other.database OR one = other THEN
        RAISE EXCEPTION '% and % cannot be joined', quote_literal($1), quote_literal($2) USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A join is declared between two columns of one database.',
            HINT = 'Name both as database.table.column.';
    ELSIF $3 IS NULL OR $3 NOT IN ('many-to-one', 'one-to-many', 'one-to-one') THEN
        RAISE EXCEPTION '% is no cardinality', coalesce(quote_literal($3), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'It is many-to-one, one-to-many or one-to-one: what the first column''s rows are to the second''s.',
            HINT = 'Of many to many declare the two joins to the table that stands between.';
    ELSIF $3 = 'one-to-many' THEN
        RETURN nl_catalog.declare_join($2, $1);
    ELSIF EXISTS (SELECT FROM pgparley.definition d
                  WHERE (d.database, d.kind, d.element) = (one.database, 'join', other.element || one.element)) THEN
        RAISE EXCEPTION 'the join of % and % is declared the other way round', quote_literal($1), quote_literal($2) USING
            ERRCODE = 'duplicate_object',
            DETAIL = format('Declared is that %s refers to %s.', $2, $1),
            HINT = 'Take that back with drop_join() first.';
    END IF;
    RETURN pgparley.define(one.database, 'join', one.element || other.element, jsonb_build_object('cardinality', $3));
END
$$;
COMMENT ON FUNCTION nl_catalog.declare_join IS 'Says that a column refers to another, as a foreign key would. Returns the version.';

CREATE FUNCTION nl_catalog.drop_join(from_column text, to_column text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    declared pgparley.definition;
BEGIN
    -- Not by find_element: a column that is gone is a reason to call this.
    SELECT d.* INTO declared
    FROM pgparley.definition d,
         LATERAL (VALUES (d.element[1:3], d.element[4:6]), (d.element[4:6], d.element[1:3])) AS ends (one, other)
    WHERE d.kind = 'join' AND d.database IN (SELECT pgparley.open_databases())
      AND $1 IN (pgparley.written(d.database, one), pgparley.written(d.database, one[2:3]))
      AND $2 IN (pgparley.written(d.database, other), pgparley.written(d.database, other[2:3]));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no join of % and % is declared', coalesce(quote_literal($1), 'null'),
                        coalesce(quote_literal($2), 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Foreign keys of the database itself cannot be taken back here.',
            HINT = 'SELECT from_column, to_column FROM nl_catalog.joins shows those that are; name the columns as it does.';
    END IF;
    RETURN pgparley.define(declared.database, 'join', declared.element, NULL);
END
$$;
COMMENT ON FUNCTION nl_catalog.drop_join IS 'Takes declare_join() back, the columns in either order. Returns the version.';

CREATE FUNCTION pgparley.checked_text(what text, value text, most int) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept text := btrim(value, E' \t\r\n');
BEGIN
    IF kept IS NULL OR kept = '' OR length(kept) > most OR translate(kept, E'\t\r\n', '') ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION '% cannot be %', coalesce(quote_literal(left(value, 80)), 'null'), what USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = format('%s characters are given; 1 to %s without control characters can be.', coalesce(length(kept), 0), most),
            HINT = 'Give less and plain text.';
    END IF;
    RETURN kept;
END
$$;

CREATE FUNCTION pgparley.one_line(text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT btrim(regexp_replace($1, '\s+', ' ', 'g'))
$$;

CREATE FUNCTION pgparley.open_database(name text) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.database FROM pgparley.find_element(quote_ident($1)) f
$$;

CREATE FUNCTION pgparley.undefine(database text, kind text, element text, shown text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_in text := pgparley.open_database($1);
BEGIN
    IF NOT EXISTS (SELECT FROM pgparley.definition d
                   WHERE (d.database, d.kind, d.element) = (found_in, $2, ARRAY[$3])) THEN
        RAISE EXCEPTION 'database "%" has no % %', found_in, $2, coalesce(quote_literal(left($3, 80)), 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Nothing was changed.',
            HINT = format('SELECT * FROM nl_catalog.%s shows those that there are.', $4);
    END IF;
    RETURN pgparley.define(found_in, $2, ARRAY[$3], NULL);
END
$$;

CREATE FUNCTION nl_catalog.define_term(database text, term text, definition text, description text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named   text := pgparley.checked_text('a term', pgparley.one_line($2), 60);
    meaning text := nullif(btrim($4), '');
BEGIN
    RETURN pgparley.define(pgparley.open_database($1), 'term', ARRAY[lower(named)], jsonb_build_object(
        'name', named,
        'definition', pgparley.checked_text('a definition', $3, 400),
        'description', CASE WHEN meaning IS NOT NULL THEN pgparley.checked_text('a description', meaning, 2000) END));
END
$$;
COMMENT ON FUNCTION nl_catalog.define_term IS 'Says what a term means, as an SQL expression over columns named with their tables. Returns the version.';

CREATE FUNCTION nl_catalog.drop_term(database text, term text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.undefine($1, 'term', lower(pgparley.one_line($2)), 'terms')
$$;
COMMENT ON FUNCTION nl_catalog.drop_term IS 'Takes define_term() back. Returns the version.';

CREATE FUNCTION pgparley.question_key(text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT rtrim(lower(pgparley.one_line($1)), ' .?!;')
$$;

CREATE FUNCTION nl_catalog.verify(database text, question text, sql text, tags text[] DEFAULT '{}') RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked text := pgparley.checked_text('a question', pgparley.one_line($2), 500);
BEGIN
    IF cardinality($4) > 20 THEN
        RAISE EXCEPTION 'a verified query has 20 tags at most' USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = format('%s are given.', cardinality($4)),
            HINT = 'Give fewer.';
    END IF;
    RETURN pgparley.define(
        pgparley.open_database($1), 'query',
        ARRAY[pgparley.checked_text('a question', pgparley.question_key(asked), 500)],
        jsonb_build_object(
            'question', asked,
            'sql', pgparley.checked_text('a statement', $3, 10000),
            'tags', ARRAY(SELECT DISTINCT pgparley.checked_text('a tag', pgparley.one_line(t), 60) FROM unnest($4) AS t ORDER BY 1),
            'owner', pgparley.caller()));
END
$$;
COMMENT ON FUNCTION nl_catalog.verify IS 'Says which statement answers a question; it answers that one and is an example for others. Returns the version.';

CREATE FUNCTION nl_catalog.revoke(database text, question text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.undefine($1, 'query', pgparley.question_key($2), 'verified_queries')
$$;
COMMENT ON FUNCTION nl_catalog.revoke IS 'Takes verify() back. Returns the version.';

CREATE VIEW nl_catalog.verified_queries WITH (security_barrier) AS
SELECT d.database, d.body ->> 'question' AS question, d.body ->> 'sql' AS sql,
       ARRAY(SELECT jsonb_array_elements_text(d.body -> 'tags')) AS tags, d.body ->> 'owner' AS owner,
       d.state, d.reason, d.checked_at
FROM pgparley.definition d
WHERE d.kind = 'query' AND d.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.verified_queries IS 'Questions with the statements that answer them; one that the database refuses is out of use.';

CREATE VIEW nl_catalog.terms WITH (security_barrier) AS
SELECT d.database, d.body ->> 'name' AS term, d.body ->> 'definition' AS definition,
       d.body ->> 'description' AS description, d.state, d.reason, d.checked_at
FROM pgparley.definition d
WHERE d.kind = 'term' AND d.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.terms IS 'The terms of the business, and whether the database takes the definition of each.';

CREATE VIEW nl_catalog.joins WITH (security_barrier) AS
SELECT d.database, pgparley.written(d.database, d.element[1:3]) AS from_column,
       pgparley.written(d.database, d.element[4:6]) AS to_column,
       d.body ->> 'cardinality' AS cardinality, d.state, d.reason, d.checked_at
FROM pgparley.definition d
WHERE d.kind = 'join' AND d.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.joins IS 'The declared joins, and whether the database takes each.';

CREATE OR REPLACE VIEW nl_catalog.history WITH (security_barrier) AS
SELECT c.version, c.database,
       CASE c.kind WHEN 'element' THEN pgparley.written(c.database, c.element)
                   WHEN 'join' THEN concat_ws(' = ', pgparley.written(c.database, c.element[1:3]),
                                              pgparley.written(c.database, c.element[4:6]))
                   ELSE c.element[1] END AS element,
       c.changed_by, c.changed_at, c.before, c.after, c.kind
FROM pgparley.knowledge_change c
WHERE c.database IN (SELECT pgparley.open_databases()) OR pgparley.is_admin();
COMMENT ON VIEW nl_catalog.history IS 'Every change: its version, who, when, what was said before and after; null: nothing.';

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA nl_catalog FROM PUBLIC;

-- As in 0009. Roles that another store made meanwhile get their rights as well.
DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
