-- Descriptions and synonyms that the language model proposes. None counts before somebody accepts it; it is then said as by a person's call.

CREATE TABLE pgparley.suggestion (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database     text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element      text[] NOT NULL CHECK (cardinality(element) IN (2, 3)),
    kind         text NOT NULL CHECK (kind IN ('description', 'synonym')),
    suggestion   text NOT NULL CHECK (length(suggestion) BETWEEN 1 AND 200),
    suggested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    state        text NOT NULL DEFAULT 'proposed' CHECK (state IN ('proposed', 'accepted', 'declined')),
    decided_by   name,
    decided_at   timestamptz
);
COMMENT ON TABLE pgparley.suggestion IS 'What the language model proposes to say; nothing reads it but nl_catalog.suggestions.';
-- What was declined is not proposed again.
CREATE UNIQUE INDEX ON pgparley.suggestion (database, element, kind, lower(suggestion));

CREATE FUNCTION pgparley.decide_suggestion(id bigint, into_state text) RETURNS pgparley.suggestion
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found pgparley.suggestion;
BEGIN
    SELECT s.* INTO found FROM pgparley.suggestion s
    WHERE s.id = $1 AND s.database IN (SELECT pgparley.open_databases()) FOR UPDATE;
    IF found.id IS NULL THEN
        RAISE EXCEPTION 'there is no suggestion %', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Nothing of this number was suggested for a registered database that is open to you.',
            HINT = 'SELECT id, element, suggestion FROM nl_catalog.suggestions WHERE state = ''proposed'' shows those that wait.';
    ELSIF found.state <> 'proposed' THEN
        RAISE EXCEPTION 'suggestion % is % already', $1, found.state USING
            ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = format('%s of %s.', found.kind, pgparley.written(found.database, found.element)),
            HINT = 'describe(), add_synonym() and drop_synonym() change what is said.';
    END IF;
    UPDATE pgparley.suggestion s SET state = $2, decided_by = pgparley.caller(), decided_at = clock_timestamp() WHERE s.id = $1;
    RETURN found;
END
$$;

CREATE FUNCTION nl_catalog.accept_suggestion(id bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found pgparley.suggestion := pgparley.decide_suggestion($1, 'accepted');
    name  CONSTANT text := pgparley.written(found.database, found.element);
BEGIN
    -- A person decides, also where the transaction has spoken for an import before.
    PERFORM set_config('nl_catalog.source', '', true);
    IF found.kind = 'synonym' THEN
        RETURN nl_catalog.add_synonym(name, found.suggestion);
    END IF;
    IF (pgparley.said_of(name)).description IS NOT NULL THEN
        RAISE EXCEPTION '% has a description by now', name USING
            ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Somebody has described it since this was suggested.',
            HINT = 'describe() replaces a description; decline_suggestion() puts this one away.';
    END IF;
    RETURN nl_catalog.describe(name, found.suggestion);
END
$$;
COMMENT ON FUNCTION nl_catalog.accept_suggestion IS 'Says a suggested description or synonym, as describe() or add_synonym() would. Returns the version.';

CREATE FUNCTION nl_catalog.decline_suggestion(id bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.decide_suggestion($1, 'declined');
END
$$;
COMMENT ON FUNCTION nl_catalog.decline_suggestion IS 'Puts a suggestion away; the same is not suggested again.';

CREATE VIEW nl_catalog.suggestions WITH (security_barrier) AS
SELECT s.id, s.database, pgparley.written(s.database, s.element) AS element, s.kind, s.suggestion, s.suggested_at, s.state,
       s.decided_by, s.decided_at
FROM pgparley.suggestion s
WHERE s.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.suggestions IS 'Descriptions and synonyms that the language model proposes, and what became of them.';

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
