-- What the language model says of schemas before anybody asks: questions about tables that belong together, and words that
-- people say for elements. Both stand apart from what a person says, and behind it.

CREATE TABLE pgparley.made_set (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database    text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    tables      jsonb NOT NULL,
    reads       jsonb NOT NULL,
    fingerprint text NOT NULL,
    written_by  text NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (database, tables)
);
COMMENT ON TABLE pgparley.made_set IS 'Tables of which the model was asked, whatever it answered.';
COMMENT ON COLUMN pgparley.made_set.tables IS '[[schema, table], …].';
COMMENT ON COLUMN pgparley.made_set.reads IS 'Their columns that the model saw, [schema, table, column]: what was made is for who may read all of them.';
COMMENT ON COLUMN pgparley.made_set.fingerprint IS 'Of these tables'' schema: with another one the model is asked anew.';

CREATE TABLE pgparley.made_question (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made_set  bigint NOT NULL REFERENCES pgparley.made_set (id) ON DELETE CASCADE,
    question  text NOT NULL CHECK (length(question) BETWEEN 1 AND 500),
    edited_by name
);
COMMENT ON COLUMN pgparley.made_question.edited_by IS 'Whose words it has; null: the model''s, which go when it is asked anew.';
CREATE INDEX ON pgparley.made_question (made_set);

CREATE TABLE pgparley.proposed_synonym (
    database   text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element    text[] NOT NULL CHECK (cardinality(element) IN (2, 3)),
    phrase     text NOT NULL CHECK (length(phrase) BETWEEN 1 AND 60),
    written_by text NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_by name
);
COMMENT ON COLUMN pgparley.proposed_synonym.decided_by IS 'Who adopted or declined it: it is not proposed again.';
CREATE UNIQUE INDEX ON pgparley.proposed_synonym (database, element, lower(phrase));

CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.made_question
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.proposed_synonym
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();

CREATE VIEW nl_catalog.made_questions WITH (security_barrier) AS
SELECT q.id, s.database,
       ARRAY(SELECT pgparley.written(s.database, ARRAY[t ->> 0, t ->> 1]) FROM jsonb_array_elements(s.tables) AS t) AS tables,
       q.question, s.written_by, s.made_at, q.edited_by, s.fingerprint
FROM pgparley.made_question q JOIN pgparley.made_set s ON s.id = q.made_set
WHERE s.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.made_questions IS 'Questions that the language model made of tables before anybody asked: see edit_made_question(), drop_made().';

CREATE VIEW nl_catalog.proposed_synonyms WITH (security_barrier) AS
SELECT p.database, p.element[1] AS schema, p.element[2] AS "table", p.element[3] AS "column",
       pgparley.written(p.database, p.element) AS element, p.phrase, p.written_by, p.made_at
FROM pgparley.proposed_synonym p
WHERE p.decided_by IS NULL AND p.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.proposed_synonyms IS 'Words that the language model has for elements, weaker than a synonym: see adopt_synonym(), decline_synonym().';

CREATE FUNCTION nl_catalog.edit_made_question(id bigint, question text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said CONSTANT text := nullif(pgparley.one_line($2), '');
BEGIN
    PERFORM FROM pgparley.made_question q JOIN pgparley.made_set s ON s.id = q.made_set
    WHERE q.id = $1 AND s.database IN (SELECT pgparley.open_databases()) FOR UPDATE OF q;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no made question %', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'None of this number was made of a registered database that is open to you.',
            HINT = 'SELECT id, question FROM nl_catalog.made_questions shows them.';
    ELSIF said IS NULL THEN
        DELETE FROM pgparley.made_question q WHERE q.id = $1;
    ELSE
        UPDATE pgparley.made_question q
        SET question = pgparley.checked_text('a question', said, 500), edited_by = pgparley.person() WHERE q.id = $1;
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.edit_made_question IS 'Puts a made question in other words, which stay when the model is asked anew; null drops it.';

CREATE FUNCTION pgparley.decide_synonym(element text, phrase text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found text;
BEGIN
    UPDATE pgparley.proposed_synonym p SET decided_by = pgparley.caller()
    FROM pgparley.find_element($1) f
    WHERE (p.database, p.element) = (f.database, f.element) AND lower(p.phrase) = lower($2) AND p.decided_by IS NULL
    RETURNING p.phrase INTO found;
    IF found IS NULL THEN
        RAISE EXCEPTION '% is not proposed for %', coalesce(quote_literal($2), 'null'), $1 USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Words are proposed by the language model, and wait until somebody decides.',
            HINT = 'SELECT element, phrase FROM nl_catalog.proposed_synonyms shows them; add_synonym() takes any other.';
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION nl_catalog.adopt_synonym(element text, phrase text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- A person decides, also where the transaction has spoken for an import before.
    PERFORM set_config('nl_catalog.source', '', true);
    RETURN nl_catalog.add_synonym($1, pgparley.decide_synonym($1, $2));
END
$$;
COMMENT ON FUNCTION nl_catalog.adopt_synonym IS 'Makes a proposed word a synonym, as add_synonym() would. Returns the version.';

CREATE FUNCTION nl_catalog.decline_synonym(element text, phrase text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.decide_synonym($1, $2);
END
$$;
COMMENT ON FUNCTION nl_catalog.decline_synonym IS 'Puts a proposed word away; it is not proposed again.';

CREATE FUNCTION nl_catalog.drop_made(database text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    opened CONSTANT text := pgparley.open_database($1);
    gone   bigint;
BEGIN
    SELECT count(*) INTO gone FROM pgparley.made_question q JOIN pgparley.made_set s ON s.id = q.made_set
    WHERE s.database = opened;
    DELETE FROM pgparley.made_set s WHERE s.database = opened;
    DELETE FROM pgparley.proposed_synonym p WHERE p.database = opened AND p.decided_by IS NULL;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION nl_catalog.drop_made IS 'Drops every made question and proposed word of a database. Returns how many questions.';

REVOKE EXECUTE ON FUNCTION nl_catalog.edit_made_question, nl_catalog.adopt_synonym, nl_catalog.decline_synonym,
    nl_catalog.drop_made FROM PUBLIC;

DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
