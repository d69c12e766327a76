-- What clients read of all that, each of what is open to the reader.

CREATE FUNCTION pgparley.with_imported(synonyms text[], imported text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce($1, '{}') || ARRAY(SELECT s FROM unnest($2) AS s
                                       WHERE lower(s) NOT IN (SELECT lower(t) FROM unnest($1) AS t))
$$;

-- Nearly always there is one source, which makes no look at the others worth while.
CREATE VIEW pgparley.imports_together AS
SELECT i.database, i.element,
       (array_agg(i.description ORDER BY i.source) FILTER (WHERE i.description IS NOT NULL))[1] AS description,
       CASE count(*) WHEN 1 THEN min(i.synonyms)
           ELSE ARRAY(SELECT DISTINCT s FROM pgparley.imported j, unnest(j.synonyms) AS s
                      WHERE (j.database, j.element) = (i.database, i.element) ORDER BY 1) END AS synonyms,
       CASE count(*) WHEN 1 THEN (array_agg(i.attributes))[1]
           ELSE (SELECT coalesce(jsonb_object_agg(a.name, a.value ORDER BY j.source DESC), '{}')
                 FROM pgparley.imported j, jsonb_each(j.attributes) AS a (name, value)
                 WHERE (j.database, j.element) = (i.database, i.element)) END AS attributes
FROM pgparley.imported i
GROUP BY i.database, i.element;
COMMENT ON VIEW pgparley.imports_together IS 'Of an element the description and attributes of the first source by name, and the synonyms of all.';

CREATE VIEW pgparley.said_together AS
SELECT database, element, k.description, coalesce(k.hidden, false) AS hidden, i.description AS imported,
       CASE WHEN i.element IS NULL THEN k.synonyms ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms,
       coalesce(i.attributes, '{}') || coalesce(k.attributes, '{}') AS attributes
FROM pgparley.knowledge k FULL JOIN pgparley.imports_together i USING (database, element);
COMMENT ON VIEW pgparley.said_together IS 'What people and imports say of an element; imported: the import''s description, which stands behind a comment.';

CREATE VIEW nl_catalog.databases WITH (security_barrier) AS
SELECT d.name AS database, pgparley.written(d.name) AS element, coalesce(k.description, i.description) AS description,
       CASE WHEN i.synonyms IS NULL THEN coalesce(k.synonyms, '{}')
            ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms, coalesce(k.hidden, false) AS hidden,
       s.taken_at AS refreshed_at,
       CASE WHEN w.asked THEN 'waits for an engine to read its schema' ELSE w.problem END AS problem,
       coalesce(k.attributes ->> 'rules', i.attributes ->> 'rules') AS rules
FROM pgparley.database d
     LEFT JOIN pgparley.snapshot s ON s.id = d.newest
     LEFT JOIN pgparley.schema_watch w ON w.database = d.name
     LEFT JOIN pgparley.knowledge k ON k.database = d.name AND k.element = '{}'
     LEFT JOIN pgparley.imports_together i ON i.database = d.name AND i.element = '{}'
WHERE d.name IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.databases IS 'The registered databases that are open to the reader.';

CREATE VIEW nl_catalog.registrations WITH (security_barrier) AS
SELECT r.name AS database, r.requested_by, r.problem FROM pgparley.registration r WHERE pgparley.is_admin();
COMMENT ON VIEW nl_catalog.registrations IS 'Databases that an engine is to register, and why that failed.';

CREATE VIEW nl_catalog.grants WITH (security_barrier) AS
SELECT g.database, g.role FROM pgparley.database_grant g
WHERE g.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.grants IS 'The roles to which databases are open; an nl_admin needs no grant.';

CREATE VIEW nl_catalog.tables WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", e.written AS element, e.type AS kind,
       coalesce(s.description, e.comment, s.imported) AS description, e.comment, coalesce(s.synonyms, '{}') AS synonyms,
       coalesce(s.hidden, false) AS hidden, coalesce(s.attributes, '{}') AS attributes
FROM pgparley.element e LEFT JOIN pgparley.said_together s USING (database, element)
WHERE e.place = 0 AND e.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.tables IS 'Their tables and views, with what is said of each and its COMMENT ON.';

CREATE VIEW nl_catalog.columns WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", e.element[3] AS "column", e.place, e.written AS element,
       e.type, coalesce(s.description, e.comment, s.imported) AS description, e.comment, coalesce(s.synonyms, '{}') AS synonyms,
       coalesce(s.hidden, false) AS hidden, coalesce(s.attributes, '{}') AS attributes
FROM pgparley.element e LEFT JOIN pgparley.said_together s USING (database, element)
WHERE e.place > 0 AND e.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.columns IS 'Their columns, with what is said of each and its COMMENT ON.';

CREATE VIEW nl_catalog.keys WITH (security_barrier) AS
SELECT k.database, k.element[1] AS schema, k.element[2] AS "table", k.kind, k.columns,
       k.referred[1] AS to_schema, k.referred[2] AS to_table, k.to_columns
FROM pgparley.table_key k
WHERE k.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.keys IS 'Primary, unique and foreign keys of their tables, as the last snapshots have them.';

CREATE VIEW nl_catalog.allowed_values WITH (security_barrier) AS
SELECT v.database, pgparley.written(v.database, ARRAY[v.schema, v."table", v."column"]) AS element,
       cardinality(v.stored) AS kept, v.more, v.read_at, v.problem
FROM pgparley.value_column v
WHERE v.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.allowed_values IS 'Columns whose values a language model may see: how many are kept, whether there are others, and why some could not be read.';

CREATE VIEW nl_catalog.said WITH (security_barrier) AS
SELECT k.database, k.element[1] AS schema, k.element[2] AS "table", k.element[3] AS "column",
       pgparley.written(k.database, k.element) AS element, k.description, k.synonyms, k.hidden, k.attributes
FROM pgparley.knowledge k
WHERE k.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.said IS 'What was said of elements and nothing else, also of those that are gone.';

CREATE VIEW nl_catalog.imported WITH (security_barrier) AS
SELECT i.database, i.element[1] AS schema, i.element[2] AS "table", i.element[3] AS "column",
       pgparley.written(i.database, i.element) AS element, i.source, i.description, i.synonyms, i.attributes
FROM pgparley.imported i
WHERE i.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.imported IS 'What imports say of elements, whether it counts or not.';

CREATE VIEW nl_catalog.joins WITH (security_barrier) AS
SELECT d.database, pgparley.written(d.database, d.element[1:3]) AS from_column,
       pgparley.written(d.database, d.element[4:6]) AS to_column,
       d.body ->> 'cardinality' AS cardinality, d.state, d.reason, d.checked_at, d.source
FROM pgparley.definition d
WHERE d.kind = 'join' AND d.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.joins IS 'The declared joins, and whether the database takes each.';

CREATE VIEW nl_catalog.terms WITH (security_barrier) AS
SELECT d.database, d.body ->> 'name' AS term, d.body ->> 'definition' AS definition,
       d.body ->> 'description' AS description, d.state, d.reason, d.checked_at, d.source
FROM pgparley.definition d
WHERE d.kind = 'term' AND d.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.terms IS 'The terms of the business, and whether the database takes the definition of each.';

CREATE VIEW nl_catalog.verified_queries WITH (security_barrier) AS
SELECT d.database, d.body ->> 'question' AS question, d.body ->> 'sql' AS sql,
       ARRAY(SELECT jsonb_array_elements_text(d.body -> 'tags')) AS tags, d.body ->> 'owner' AS owner,
       d.state, d.reason, d.checked_at
FROM pgparley.definition d
WHERE d.kind = 'query' AND d.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.verified_queries IS 'Questions with the statements that answer them; one that the database refuses is out of use.';

CREATE VIEW nl_catalog.history WITH (security_barrier) AS
SELECT c.version, c.database,
       CASE c.kind WHEN 'element' THEN pgparley.written(c.database, c.element)
                   WHEN 'join' THEN concat_ws(' = ', pgparley.written(c.database, c.element[1:3]),
                                              pgparley.written(c.database, c.element[4:6]))
                   ELSE c.element[1] END AS element,
       c.changed_by, c.changed_at, c.before, c.after, c.kind, c.source
FROM pgparley.knowledge_change c
WHERE c.database IN (SELECT pgparley.open_databases()) OR pgparley.is_admin();
COMMENT ON VIEW nl_catalog.history IS 'Every change: its version, who, when, what was said before and after; null: nothing.';

CREATE FUNCTION pgparley.says_else(text, text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT rtrim(lower(btrim(regexp_replace($1, '\s+', ' ', 'g'))), '.') <> rtrim(lower(btrim(regexp_replace($2, '\s+', ' ', 'g'))), '.')
$$;
COMMENT ON FUNCTION pgparley.says_else IS 'Whether two texts differ in more than capitals, white space and a full stop.';

CREATE VIEW nl_catalog.conflicts WITH (security_barrier) AS
SELECT k.database, pgparley.written(k.database, k.element) AS element,
       CASE WHEN e.element IS NULL THEN 'gone' ELSE 'comment differs' END AS problem, k.description, e.comment,
       NULL AS source, NULL AS imported
FROM pgparley.knowledge k LEFT JOIN pgparley.element e USING (database, element)
WHERE k.element <> '{}' AND (e.element IS NULL OR pgparley.says_else(k.description, e.comment))
  AND k.database IN (SELECT pgparley.open_databases())
UNION ALL
SELECT i.database, pgparley.written(i.database, i.element),
       CASE WHEN e.element IS NULL AND i.element <> '{}' THEN 'gone' ELSE 'import differs' END,
       k.description, e.comment, i.source, i.description
FROM pgparley.imported i
     LEFT JOIN pgparley.element e USING (database, element)
     LEFT JOIN pgparley.knowledge k USING (database, element)
     LEFT JOIN pgparley.imports_together t USING (database, element)
WHERE (e.element IS NULL AND i.element <> '{}' OR pgparley.says_else(i.description, coalesce(k.description, e.comment, t.description)))
  AND i.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.conflicts IS 'Where what is said differs from COMMENT ON, or an import from either or another import; and where an element is gone from the schema.';

-- Names that keys share are meant to be the same; the others are told apart by their descriptions alone.
CREATE VIEW nl_catalog.health AS
WITH keyed AS NOT MATERIALIZED (
    SELECT k.database, k.schema, k."table", unnest(k.columns) AS "column" FROM nl_catalog.keys k
    UNION
    SELECT k.database, k.to_schema, k.to_table, unnest(k.to_columns) FROM nl_catalog.keys k WHERE k.kind = 'foreign'
), named AS NOT MATERIALIZED (
    SELECT c.database, c.schema, c."table", c."column", c.element, c.description, lower(c."column") AS name
    FROM nl_catalog.columns c LEFT JOIN keyed k USING (database, schema, "table", "column")
    WHERE NOT c.hidden AND k."column" IS NULL
    UNION ALL
    SELECT s.database, s.schema, s."table", s."column", s.element, s.description, lower(synonym)
    FROM nl_catalog.said s, unnest(s.synonyms) AS synonym
    WHERE NOT s.hidden AND s."table" IS NOT NULL
), shared AS (
    SELECT n.database, n.name, count(*) AS n FROM named n GROUP BY n.database, n.name
    HAVING count(DISTINCT n.element) > 1 AND (count(n.description) < count(*) OR count(DISTINCT n.description) < count(*))
), joined AS (
    SELECT k.database, k.schema, k."table" FROM nl_catalog.keys k WHERE k.kind = 'foreign'
    UNION
    SELECT k.database, k.to_schema, k.to_table FROM nl_catalog.keys k WHERE k.kind = 'foreign'
    UNION
    SELECT c.database, c.schema, c."table"
    FROM nl_catalog.columns c JOIN nl_catalog.joins j ON j.database = c.database AND c.element IN (j.from_column, j.to_column)
)
SELECT t.database, 'table without description' AS problem, t.schema, t."table", NULL AS "column", t.element, t.kind AS detail
FROM nl_catalog.tables t WHERE t.description IS NULL AND NOT t.hidden
UNION ALL
SELECT c.database, 'column without description', c.schema, c."table", c."column", c.element, c.type
FROM nl_catalog.columns c WHERE c.description IS NULL AND NOT c.hidden
UNION ALL
SELECT n.database, 'ambiguous name', n.schema, n."table", n."column", n.element, format('“%s” stands for %s', n.name, s.n)
FROM named n JOIN shared s ON s.database = n.database AND s.name = n.name
UNION ALL
SELECT t.database, 'table without key', t.schema, t."table", NULL, t.element, t.kind
FROM nl_catalog.tables t
WHERE NOT t.hidden AND t.kind NOT IN ('view', 'materialized view')
  AND NOT EXISTS (SELECT FROM nl_catalog.keys k WHERE (k.database, k.schema, k."table") = (t.database, t.schema, t."table")
                  AND k.kind IN ('primary', 'unique'))
UNION ALL
SELECT t.database, 'table without join', t.schema, t."table", NULL, t.element, t.kind
FROM nl_catalog.tables t LEFT JOIN joined j USING (database, schema, "table")
WHERE NOT t.hidden AND j."table" IS NULL
UNION ALL
SELECT c.database, 'conflict', NULL, NULL, NULL, c.element, c.problem FROM nl_catalog.conflicts c
UNION ALL
SELECT d.database, 'refused definition', NULL, NULL, NULL, d.name, d.reason
FROM (SELECT t.database, t.term AS name, t.state, t.reason FROM nl_catalog.terms t
      UNION ALL SELECT q.database, q.question, q.state, q.reason FROM nl_catalog.verified_queries q
      UNION ALL SELECT j.database, j.from_column || ' = ' || j.to_column, j.state, j.reason FROM nl_catalog.joins j) AS d
WHERE d.state = 'refused';
COMMENT ON VIEW nl_catalog.health IS 'What databases lack for questions about them, and what in the catalog is not used.';

CREATE VIEW nl_catalog.drift WITH (security_barrier) AS
SELECT d.id, d.database, d.what, d.kind, CASE WHEN d.old IS NOT NULL THEN pgparley.written(d.database, d.old) END AS old,
       CASE WHEN d.new IS NOT NULL THEN pgparley.written(d.database, d.new) END AS new, d.detail,
       ARRAY(SELECT b ->> 'shown' FROM jsonb_array_elements(d.breaks) AS b) AS breaks,
       d.found_at, d.state, d.decided_by, d.decided_at
FROM pgparley.drift d
WHERE d.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.drift IS 'What changed in the schemas, what that breaks, and the renames that are proposed.';

CREATE VIEW nl_catalog.suggestions WITH (security_barrier) AS
SELECT s.id, s.database, pgparley.written(s.database, s.element) AS element, s.kind, s.suggestion, s.suggested_at, s.state,
       s.decided_by, s.decided_at
FROM pgparley.suggestion s
WHERE s.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.suggestions IS 'Descriptions and synonyms that the language model proposes, and what became of them.';

CREATE VIEW nl_catalog.learned WITH (security_barrier) AS
SELECT e.id AS example, e.database, e.asker, e.question, e.sql, e.kind, e.learned_at, e.approved_at, e.approved_by,
       ARRAY(SELECT format('"%s": %s rather than %s', v.phrase, array_to_string(v.preferred, '.'), array_to_string(v.rejected, '.'))
             FROM pgparley.learned_vote v WHERE v.example = e.id ORDER BY 1) AS preferences
FROM pgparley.learned_example e
WHERE e.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.learned IS 'What users chose, corrected and rejected, what that says of their words, and whether it counts for everybody.';

CREATE VIEW nl_catalog.adapters WITH (security_barrier) AS
SELECT version, scope, votes, before, after, CASE WHEN withdrawn THEN 'withdrawn' ELSE verdict END AS verdict, trained_at,
       version IS NOT DISTINCT FROM max(version) FILTER (WHERE weights IS NOT NULL AND NOT withdrawn) OVER (PARTITION BY scope) AS used
FROM pgparley.learned_adapter
WHERE pgparley.is_admin();
COMMENT ON VIEW nl_catalog.adapters IS 'Every training of the adapter, of a role or (no scope) for everybody, and whether its check kept it; to an nl_admin.';

CREATE VIEW nl_catalog.quotas WITH (security_barrier) AS
SELECT role, q.questions_an_hour, b.tokens_a_day
FROM pgparley.quota q FULL JOIN pgparley.token_budget b USING (role)
WHERE pgparley.is_admin() OR role = 'public' OR role IN (SELECT g.name FROM pgparley.groups_of(pgparley.caller()) g);
COMMENT ON VIEW nl_catalog.quotas IS 'How many questions an hour roles may ask, and how many tokens a day use: all to an nl_admin, to others those that may be theirs.';

CREATE VIEW nl_catalog.token_use WITH (security_barrier) AS
SELECT u.day, u.asker AS role, u.questions, u.tokens, u.prefilled, u.cached, u.generated,
       CASE WHEN u.day = pgparley.today() THEN pgparley.token_budget_of(u.asker) END AS tokens_a_day
FROM pgparley.token_use u
WHERE pgparley.is_admin() OR u.asker = pgparley.caller();
COMMENT ON VIEW nl_catalog.token_use IS 'Tokens of the language model by role and day: all to an nl_admin, to others their own.';

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

CREATE FUNCTION pgparley.routed(reply jsonb) RETURNS TABLE (detail text) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT line ->> 'detail' FROM jsonb_array_elements($1 -> 'trace') AS line
    WHERE line ->> 'stage' = 'route' AND line ->> 'event' = 'database'
$$;

-- Of a question that came near to no database, and of one whose likeliest statement says nothing of some of its words, the words as well.
CREATE FUNCTION pgparley.failed_words(reply jsonb) RETURNS TABLE (word text, nearest text) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    WITH link AS (
        SELECT line ->> 'event' AS event, d.name, substr(line ->> 'detail', length(d.name) + 3) AS rest
        FROM jsonb_array_elements($1 -> 'trace') AS line
             JOIN pgparley.database d ON starts_with(line ->> 'detail', d.name || ': ')
        WHERE line ->> 'stage' = 'link'
    )
    (SELECT DISTINCT ON (unknown.rest) unknown.rest, nullif(pgparley.written(e.database, e.element), '')
     FROM link unknown
          LEFT JOIN link near ON near.name = unknown.name AND lower(near.event) = lower(unknown.rest)
          LEFT JOIN pgparley.element e ON e.database = near.name
               AND e.element[2] || '.' || coalesce(e.element[3], '*') = near.rest
     WHERE unknown.event = 'nothing stands for'
     ORDER BY unknown.rest, e.element IS NULL, unknown.name)
    UNION ALL
    SELECT DISTINCT line ->> 'detail', NULL FROM jsonb_array_elements($1 -> 'trace') AS line
    WHERE line ->> 'event' = 'nothing stands for' AND line ->> 'stage' <> 'link'
$$;

-- Of an answer that shows no statement: that which was ranked first.
CREATE FUNCTION pgparley.likeliest(reply jsonb) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT line ->> 'event' FROM jsonb_array_elements($1 -> 'trace') WITH ORDINALITY AS each (line, n)
    WHERE line ->> 'stage' = 'judge' AND line ->> 'event' ~ '^(SELECT|WITH) ' ORDER BY n LIMIT 1
$$;

CREATE VIEW nl_catalog.failed_questions WITH (security_barrier) AS
SELECT q.asked_at, q.question,
       CASE WHEN v.kind = 'corrected' THEN 'corrected' WHEN v.kind = 'none' THEN 'rejected' ELSE 'abstained' END AS outcome,
       CASE WHEN v.kind = 'none' THEN v.body ELSE q.reply #>> '{rows,0,explanation}' END AS reason,
       coalesce(v.database, q.reply #>> '{rows,0,database}', r.databases[1]) AS database,
       r.databases, coalesce(v_sql.sql, q.reply #>> '{rows,0,sql}', pgparley.likeliest(q.reply)) AS sql, w.words, w.nearest
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

CREATE VIEW nl_catalog.not_understood WITH (security_barrier) AS
SELECT f.database, lower(w.word) AS word, w.element, count(*) AS times, max(f.asked_at) AS last_asked
FROM nl_catalog.failed_questions f CROSS JOIN unnest(f.words, f.nearest) AS w (word, element)
WHERE NOT EXISTS (SELECT FROM nl_catalog.said s, unnest(s.synonyms) AS synonym WHERE s.database = f.database AND lower(synonym) = lower(w.word))
  AND NOT EXISTS (SELECT FROM nl_catalog.verified_queries v WHERE v.database = f.database AND lower(v.question) = lower(f.question))
GROUP BY f.database, lower(w.word), w.element;
COMMENT ON VIEW nl_catalog.not_understood IS 'Words of questions that nothing stood for and nothing stands for yet, with the element that each came nearest to.';

CREATE FUNCTION nl_catalog.create_roles() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY '{nl_admin,nl_steward}'::text[] LOOP
        IF to_regrole(role) IS NULL THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
    END LOOP;
    GRANT USAGE ON SCHEMA nl_catalog TO nl_admin, nl_steward;
    GRANT SELECT ON ALL TABLES IN SCHEMA nl_catalog TO nl_admin, nl_steward;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA nl_catalog TO nl_admin, nl_steward;
END
$$;
COMMENT ON FUNCTION nl_catalog.create_roles IS 'Makes nl_admin and nl_steward where they are missing, and gives them their rights; for the owner or a superuser.';

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA nl_catalog FROM PUBLIC;

-- The roles are the server's: another store may be making them now, and the owner of this one may not be allowed to.
DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
