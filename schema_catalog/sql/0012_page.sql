-- What a page for DBAs reads and changes beyond what was said: keys of the schemas, a search, questions that failed, what users' choices have
-- taught. All of it through nl_catalog and as its caller, as in 0009, so that psql has the same.

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
UPDATE pgparley.database SET newest = newest;

CREATE VIEW nl_catalog.keys WITH (security_barrier) AS
SELECT k.database, k.element[1] AS schema, k.element[2] AS "table", k.kind, k.columns,
       k.referred[1] AS to_schema, k.referred[2] AS to_table, k.to_columns
FROM pgparley.table_key k
WHERE k.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.keys IS 'Primary, unique and foreign keys of their tables, as the last snapshots have them.';

CREATE FUNCTION nl_catalog.is_admin() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.is_admin()
$$;
COMMENT ON FUNCTION nl_catalog.is_admin IS 'Whether the caller sees and changes everything.';

ALTER TABLE pgparley.element ADD COLUMN words text GENERATED ALWAYS AS
    (lower(element[2] || ' ' || coalesce(element[3], '') || ' ' || coalesce(comment, ''))) STORED;
COMMENT ON COLUMN pgparley.element.words IS 'What a search looks at where nothing was said.';

-- Over the tables themselves: the views would make the name of each element before most are dropped. Planned anew each time: with words that it
-- does not know the planner takes twice as long a way.
CREATE FUNCTION nl_catalog.search(words text, most int DEFAULT 50)
RETURNS TABLE (database text, schema text, "table" text, "column" text, element text, type text, description text,
               synonyms text[], hidden boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
    wanted text := lower(btrim(regexp_replace(coalesce(words, ''), '\s+', ' ', 'g')));
    each   CONSTANT text[] := ARRAY(
        SELECT '%' || regexp_replace(w, '([%_\\])', '\\\1', 'g') || '%'
        FROM unnest(string_to_array(left(wanted, 200), ' ')) AS w WHERE w <> '' LIMIT 8);
BEGIN
    IF each = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH open AS MATERIALIZED (SELECT o AS name FROM pgparley.open_databases() AS o),
    found AS (
        SELECT e.database, e.element, e.type, coalesce(k.description, e.comment) AS description, k.synonyms, k.hidden,
               lower(coalesce(e.element[3], e.element[2])) AS name
        FROM pgparley.element e LEFT JOIN pgparley.knowledge k USING (database, element)
        WHERE e.database IN (SELECT name FROM open)
          AND CASE WHEN k.database IS NULL THEN e.words
                   ELSE e.words || lower(concat_ws(' ', '', k.description, array_to_string(k.synonyms, ' '))) END LIKE ALL (each)
        UNION ALL
        SELECT d.name, '{}', 'database', k.description, k.synonyms, k.hidden, lower(d.name)
        FROM pgparley.database d LEFT JOIN pgparley.knowledge k ON k.database = d.name AND k.element = '{}'
        WHERE d.name IN (SELECT name FROM open)
          AND lower(concat_ws(' ', d.name, k.description, array_to_string(k.synonyms, ' '))) LIKE ALL (each)
    ),
    ranked AS (
        SELECT f.*, CASE WHEN f.name = wanted THEN 0
                         WHEN wanted = ANY (string_to_array(lower(array_to_string(f.synonyms, e'\n')), e'\n')) THEN 1
                         WHEN starts_with(f.name, wanted) THEN 2
                         WHEN strpos(f.name, wanted) > 0 THEN 3
                         ELSE 4 END AS class
        FROM found f
        ORDER BY class, cardinality(f.element), f.database COLLATE "C", f.element COLLATE "C"
        LIMIT least(greatest(most, 0), 1000)
    )
    SELECT r.database, r.element[1], r.element[2], r.element[3], pgparley.written(r.database, r.element), r.type,
           r.description, coalesce(r.synonyms, '{}'), coalesce(r.hidden, false)
    FROM ranked r
    ORDER BY r.class, cardinality(r.element), r.database COLLATE "C", r.element COLLATE "C";
END
$$;
COMMENT ON FUNCTION nl_catalog.search IS 'Elements whose name, description or synonyms have all the words, the best first.';

-- Questions that came to nothing. What an answer says of databases that its reader does not see stays unseen: a question is for whom all
-- of the databases that it was routed to are open, and for an nl_admin. Who asked is nobody's business here.

CREATE INDEX ON pgparley.element (database, (element[2] || '.' || coalesce(element[3], '*')));

CREATE FUNCTION pgparley.routed(reply jsonb) RETURNS TABLE (detail text) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT line ->> 'detail' FROM jsonb_array_elements($1 -> 'trace') AS line
    WHERE line ->> 'stage' = 'route' AND line ->> 'event' = 'database'
$$;

CREATE FUNCTION pgparley.failed_words(reply jsonb) RETURNS TABLE (word text, nearest text) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    WITH link AS (
        SELECT line ->> 'event' AS event, d.name, substr(line ->> 'detail', length(d.name) + 3) AS rest
        FROM jsonb_array_elements($1 -> 'trace') AS line
             JOIN pgparley.database d ON starts_with(line ->> 'detail', d.name || ': ')
        WHERE line ->> 'stage' = 'link'
    )
    SELECT DISTINCT ON (unknown.rest) unknown.rest, pgparley.written(e.database, e.element)
    FROM link unknown
         LEFT JOIN link near ON near.name = unknown.name AND lower(near.event) = lower(unknown.rest)
         LEFT JOIN pgparley.element e ON e.database = near.name
              AND e.element[2] || '.' || coalesce(e.element[3], '*') = near.rest
    WHERE unknown.event = 'nothing stands for'
    ORDER BY unknown.rest, e.element IS NULL, unknown.name
$$;

CREATE VIEW nl_catalog.failed_questions WITH (security_barrier) AS
SELECT q.asked_at, q.question,
       CASE WHEN v.kind = 'corrected' THEN 'corrected' WHEN v.kind = 'none' THEN 'rejected' ELSE 'abstained' END AS outcome,
       CASE WHEN v.kind = 'none' THEN v.body ELSE q.reply #>> '{rows,0,explanation}' END AS reason,
       coalesce(v.database, q.reply #>> '{rows,0,database}', r.databases[1]) AS database,
       r.databases, coalesce(v_sql.sql, q.reply #>> '{rows,0,sql}') AS sql, w.words, w.nearest
FROM pgparley.question q
     LEFT JOIN LATERAL (SELECT v.kind, v.database, v.body FROM pgparley.verdict v
                        WHERE v.qid = q.qid ORDER BY v.given_at DESC LIMIT 1) AS v ON true
     LEFT JOIN LATERAL (SELECT v.body AS sql WHERE v.kind = 'corrected') AS v_sql ON true
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(d.name), '{}') AS databases, bool_and(d.name IS NOT NULL) AS whole
                         FROM pgparley.routed(q.reply) AS line
                              LEFT JOIN pgparley.database d ON starts_with(line.detail, d.name || '; tables ')
                                   AND d.name IN (SELECT pgparley.open_databases())) AS r
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(each.word), '{}') AS words, coalesce(array_agg(each.nearest), '{}') AS nearest
                         FROM (SELECT * FROM pgparley.failed_words(q.reply)
                               UNION
                               SELECT t.phrase, pgparley.written(e.database, CASE t.preferred[3] WHEN '*' THEN t.preferred[1:2] ELSE t.preferred END)
                               FROM pgparley.learned_example e JOIN pgparley.learned_vote t ON t.example = e.id
                               WHERE v.kind = 'corrected' AND e.qid = q.qid AND e.kind = 'corrected') AS each) AS w
WHERE q.expires_at > now()
  AND (v.kind IS NOT NULL OR q.reply #>> '{rows,0,kind}' = 'abstain')
  AND (pgparley.is_admin() OR r.whole);
COMMENT ON VIEW nl_catalog.failed_questions IS 'Questions that were abstained from, or whose answer was rejected or corrected, and the words that nothing stood for.';

CREATE VIEW nl_catalog.learned WITH (security_barrier) AS
SELECT e.id AS example, e.database, e.asker, e.question, e.sql, e.kind, e.learned_at, e.approved_at, e.approved_by,
       ARRAY(SELECT format('"%s": %s rather than %s', v.phrase, array_to_string(v.preferred, '.'), array_to_string(v.rejected, '.'))
             FROM pgparley.learned_vote v WHERE v.example = e.id ORDER BY 1) AS preferences
FROM pgparley.learned_example e
WHERE e.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.learned IS 'What users chose, corrected and rejected, what that says of their words, and whether it counts for everybody.';

CREATE FUNCTION pgparley.set_approval(example bigint, by text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE pgparley.learned_example e
    SET approved_at = CASE WHEN by IS NOT NULL THEN coalesce(e.approved_at, now()) END,
        approved_by = CASE WHEN by IS NOT NULL THEN coalesce(e.approved_by, by) END
    WHERE e.id = example AND e.database IN (SELECT pgparley.open_databases()) AND (by IS NULL OR e.kind <> 'rejected');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no example % for which that can be done', coalesce(example::text, 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Examples are of databases that are open to you; a rejected one cannot be approved.',
            HINT = 'SELECT example, question, kind FROM nl_catalog.learned shows them.';
    END IF;
END
$$;

CREATE FUNCTION nl_catalog.approve(example bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.set_approval($1, pgparley.caller())
$$;
COMMENT ON FUNCTION nl_catalog.approve IS 'Lets what a user taught count for everybody who can read what it names.';

CREATE FUNCTION nl_catalog.revoke_approval(example bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.set_approval($1, NULL)
$$;
COMMENT ON FUNCTION nl_catalog.revoke_approval IS 'Takes approve() back: it counts for its user alone again.';

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
