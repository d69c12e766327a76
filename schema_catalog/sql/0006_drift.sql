-- What changed in the schemas of the registered databases, what that breaks of what was said, and whether a table or
-- column that seems to have another name is the same. Nothing is carried over before a DBA says so.

CREATE TABLE pgparley.drift (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database   text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    what       text NOT NULL CHECK (what IN ('added', 'removed', 'changed', 'renamed')),
    kind       text NOT NULL,
    old        text[],
    new        text[],
    detail     text NOT NULL,
    breaks     jsonb NOT NULL DEFAULT '[]',
    found_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    state      text NOT NULL CHECK (state IN ('noted', 'proposed', 'accepted', 'declined', 'obsolete')),
    decided_by name,
    decided_at timestamptz
);
COMMENT ON COLUMN pgparley.drift.old IS '{schema, table} or {schema, table, column}; null: it is new.';
COMMENT ON COLUMN pgparley.drift.breaks IS '[{"kind", "key", "shown"}]; key: of a definition its element.';
COMMENT ON COLUMN pgparley.drift.state IS 'proposed: a rename that nobody has decided on; obsolete: the schema has changed again before.';
CREATE UNIQUE INDEX ON pgparley.drift (database, old, new) WHERE state = 'proposed';
CREATE INDEX ON pgparley.drift (database, found_at);
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.drift
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();

CREATE FUNCTION pgparley.within(element text[], whole text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT $1[1:pg_catalog.cardinality($2)] = $2
$$;

CREATE FUNCTION pgparley.moved(element text[], old text[], new text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN pgparley.within($1, $2) THEN $3 || $1[pg_catalog.cardinality($2) + 1:] ELSE $1 END
$$;

CREATE FUNCTION pgparley.broken_by(of_database text, gone text[]) RETURNS jsonb LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
    WITH broken (kind, key, shown) AS (
        SELECT 'knowledge', k.element, 'knowledge of ' || pgparley.written(k.database, k.element)
        FROM pgparley.knowledge k WHERE k.database = $1 AND pgparley.within(k.element, $2)
        UNION ALL
        SELECT 'import', i.element, concat('knowledge of ', pgparley.written(i.database, i.element), ' from ', i.source)
        FROM pgparley.imported i WHERE i.database = $1 AND pgparley.within(i.element, $2)
        UNION ALL
        SELECT d.kind, d.element,
               CASE d.kind WHEN 'join' THEN concat('join ', pgparley.written(d.database, d.element[1:3]), ' = ',
                                                   pgparley.written(d.database, d.element[4:6]))
                           WHEN 'term' THEN 'term ' || (d.body ->> 'name')
                           ELSE 'verified query ' || (d.body ->> 'question') END
        FROM pgparley.definition d
        WHERE d.database = $1
          AND CASE WHEN d.kind = 'join' THEN pgparley.within(d.element[1:3], $2) OR pgparley.within(d.element[4:6], $2)
                   ELSE d.reads @> jsonb_build_array(to_jsonb($2)) END
        UNION ALL
        SELECT 'values', ARRAY[v.schema, v."table", v."column"],
               'allowed values of ' || pgparley.written(v.database, ARRAY[v.schema, v."table", v."column"])
        FROM pgparley.value_column v WHERE v.database = $1 AND pgparley.within(ARRAY[v.schema, v."table", v."column"], $2)
        UNION ALL
        SELECT 'hints', '{}', count(*) || ' learned hints'
        FROM pgparley.learned_vote v JOIN pgparley.learned_example e ON e.id = v.example
        WHERE e.database = $1 AND (pgparley.within(v.preferred, $2) OR pgparley.within(v.rejected, $2)) HAVING count(*) > 0
        UNION ALL
        SELECT 'calibration', '{}', count(*) || ' judged questions of the calibration'
        FROM pgparley.calibration_point p WHERE p.database = $1 HAVING count(*) > 0
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object('kind', b.kind, 'key', b.key, 'shown', b.shown) ORDER BY b.kind, b.key), '[]')
    FROM broken b
$$;

CREATE VIEW pgparley.kept_back AS
SELECT k.database, pgparley.moved(k.element, d.old, d.new) AS element, bool_or(k.hidden) AS hidden,
       CASE WHEN bool_or(k.attributes ? 'sensitivity') THEN '{"sensitivity": "sensitive"}'::jsonb ELSE '{}' END AS attributes
FROM pgparley.drift d
     JOIN pgparley.knowledge k ON k.database = d.database AND pgparley.within(k.element, d.old)
WHERE d.state = 'proposed' AND (k.hidden OR k.attributes ? 'sensitivity')
GROUP BY 1, 2;
COMMENT ON VIEW pgparley.kept_back IS 'New names of what was hidden or sensitive, until somebody decides on the rename.';

-- The one place where findings are written. A rename of what was already proposed as another's new name goes on from that one's old name.
CREATE FUNCTION pgparley.note_drift(in_database text, what text, kind text, old text[], new text[], detail text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found bigint;
BEGIN
    IF $2 = 'renamed' THEN
        UPDATE pgparley.drift d SET new = $5 WHERE (d.database, d.new, d.state) = ($1, $4, 'proposed') RETURNING d.id INTO found;
        IF found IS NOT NULL THEN
            RETURN found;
        END IF;
    END IF;
    INSERT INTO pgparley.drift (database, what, kind, old, new, detail, breaks, state)
    VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $4 IS NOT NULL THEN pgparley.broken_by($1, $4) ELSE '[]' END,
            CASE $2 WHEN 'renamed' THEN 'proposed' ELSE 'noted' END)
    ON CONFLICT DO NOTHING RETURNING id INTO found;
    RETURN found;
END
$$;

-- A proposal ends by itself where its old name is there again, or its new one is gone.
CREATE FUNCTION pgparley.end_proposals() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE pgparley.drift d SET state = 'obsolete'
    WHERE d.database = NEW.name AND d.state = 'proposed'
      AND (EXISTS (SELECT FROM pgparley.element e WHERE (e.database, e.element) = (d.database, d.old))
           OR NOT EXISTS (SELECT FROM pgparley.element e WHERE (e.database, e.element) = (d.database, d.new)));
    RETURN NULL;
END
$$;
CREATE TRIGGER on_newest_end_proposals AFTER UPDATE OF newest ON pgparley.database
    FOR EACH ROW EXECUTE FUNCTION pgparley.end_proposals();

CREATE FUNCTION pgparley.proposal(id bigint) RETURNS pgparley.drift LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found pgparley.drift;
BEGIN
    SELECT d.* INTO found FROM pgparley.drift d
    WHERE d.id = $1 AND d.what = 'renamed' AND d.database IN (SELECT pgparley.open_databases()) FOR UPDATE;
    IF found.id IS NULL THEN
        RAISE EXCEPTION 'there is no rename %', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'No rename of this number was proposed in a registered database that is open to you.',
            HINT = 'SELECT id, old, new FROM nl_catalog.drift WHERE state = ''proposed'' shows those that wait.';
    ELSIF found.state <> 'proposed' THEN
        RAISE EXCEPTION 'rename % is % already', $1, found.state USING
            ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = format('%s to %s.', pgparley.written(found.database, found.old), pgparley.written(found.database, found.new)),
            HINT = 'SELECT id, old, new FROM nl_catalog.drift WHERE state = ''proposed'' shows those that wait.';
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION nl_catalog.accept_rename(id bigint) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rename  pgparley.drift := pgparley.proposal($1);
    said    pgparley.knowledge;
    there   pgparley.knowledge;
    defined pgparley.definition;
    place   text[];
    carried int := 0;
BEGIN
    -- A person decides, also where the transaction has spoken for an import before.
    PERFORM set_config('nl_catalog.source', '', true);
    FOR said IN SELECT k.* FROM pgparley.knowledge k
                WHERE k.database = rename.database AND pgparley.within(k.element, rename.old) ORDER BY k.element FOR UPDATE LOOP
        place := pgparley.moved(said.element, rename.old, rename.new);
        SELECT k.* INTO there FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, place) FOR UPDATE;
        PERFORM pgparley.say(ROW(
            said.database, place, coalesce(there.description, said.description),
            coalesce(there.synonyms, '{}') || ARRAY(
                SELECT s FROM unnest(said.synonyms) WITH ORDINALITY AS u (s, n)
                WHERE lower(s) <> ALL (SELECT lower(t) FROM unnest(there.synonyms) AS t) ORDER BY n),
            said.hidden OR coalesce(there.hidden, false),
            said.attributes || coalesce(there.attributes, '{}'))::pgparley.knowledge);
        PERFORM pgparley.say(ROW(said.database, said.element, NULL, '{}', false, '{}')::pgparley.knowledge);
        carried := carried + 1;
    END LOOP;
    FOR defined IN SELECT d.* FROM pgparley.definition d
                   WHERE d.database = rename.database AND d.kind = 'join'
                     AND (pgparley.within(d.element[1:3], rename.old) OR pgparley.within(d.element[4:6], rename.old)) FOR UPDATE LOOP
        PERFORM pgparley.define(defined.database, 'join', defined.element, NULL);
        PERFORM pgparley.define(defined.database, 'join',
                                pgparley.moved(defined.element[1:3], rename.old, rename.new)
                                || pgparley.moved(defined.element[4:6], rename.old, rename.new), defined.body);
        carried := carried + 1;
    END LOOP;
    UPDATE pgparley.drift d SET state = 'accepted', decided_by = pgparley.caller(), decided_at = clock_timestamp()
    WHERE d.id = rename.id;
    -- A column that was renamed together with its table is looked for under the table's new name from now on.
    UPDATE pgparley.drift d SET old = pgparley.moved(d.old, rename.old, rename.new)
    WHERE d.database = rename.database AND d.state = 'proposed' AND pgparley.within(d.old, rename.old);
    RETURN carried;
END
$$;
COMMENT ON FUNCTION nl_catalog.accept_rename IS 'Carries what is said of an element over to its new name. Returns how many descriptions and joins were.';

CREATE FUNCTION nl_catalog.decline_rename(id bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rename pgparley.drift := pgparley.proposal($1);
BEGIN
    UPDATE pgparley.drift d SET state = 'declined', decided_by = pgparley.caller(), decided_at = clock_timestamp()
    WHERE d.id = rename.id;
END
$$;
COMMENT ON FUNCTION nl_catalog.decline_rename IS 'Says that the two are different: what is said of the old name stays with it.';

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

CREATE FUNCTION nl_catalog.accept_suggestions(database text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(nl_catalog.accept_suggestion(s.id)) FROM pgparley.suggestion s
    WHERE s.database = pgparley.open_database($1) AND s.state = 'proposed'
      AND (s.kind = 'synonym' OR (pgparley.said_of(pgparley.written(s.database, s.element))).description IS NULL)
$$;
COMMENT ON FUNCTION nl_catalog.accept_suggestions IS 'Says all that is suggested of a database and waits, but for descriptions of what has one by now. Returns how many.';

CREATE FUNCTION nl_catalog.decline_suggestion(id bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.decide_suggestion($1, 'declined');
END
$$;
COMMENT ON FUNCTION nl_catalog.decline_suggestion IS 'Puts a suggestion away; the same is not suggested again.';
