-- What a DBA could do from the command line or the page alone, through nl_catalog as well: register a database, have one read again, see what
-- databases lack. An engine does what is asked for here, a second or two later.

CREATE TABLE pgparley.registration (
    name         text PRIMARY KEY,
    requested_by name NOT NULL,
    problem      text
);
COMMENT ON TABLE pgparley.registration IS 'Databases of the store''s own server that somebody wants to have registered.';
COMMENT ON COLUMN pgparley.registration.problem IS 'Why that failed; null: no engine has tried yet.';

ALTER TABLE pgparley.schema_watch ADD COLUMN asked boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN pgparley.schema_watch.asked IS 'Somebody wants it to be read again now.';

CREATE OR REPLACE FUNCTION pgparley.check_admin() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgparley.is_admin() THEN
        RAISE EXCEPTION 'only an nl_admin says which databases are registered, and open to whom' USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('"%s" is no member of nl_admin.', pgparley.caller()),
            HINT = 'Ask one of them, or have a superuser run: GRANT nl_admin TO …';
    END IF;
END
$$;

-- No connection string: what the engine may log in to is not for whoever has a session to say.
CREATE FUNCTION nl_catalog.register(database text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.check_admin();
    IF $1 IS NULL OR NOT EXISTS (SELECT FROM pg_database p WHERE p.datname = $1 AND p.datallowconn) THEN
        RAISE EXCEPTION 'there is no database % on the server of the catalog', coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'invalid_catalog_name',
            DETAIL = 'By its name alone a database of the same server is registered.',
            HINT = 'SELECT datname FROM pg_database shows them; for another server: pgparley catalog add NAME --dsn DSN';
    ELSIF EXISTS (SELECT FROM pgparley.database d WHERE d.name = $1) THEN
        RAISE EXCEPTION 'database "%" is registered already', $1 USING
            ERRCODE = 'duplicate_object',
            DETAIL = 'A name is registered once.',
            HINT = format('SELECT nl_catalog.refresh(%L) has it read again.', quote_ident($1));
    END IF;
    INSERT INTO pgparley.registration VALUES ($1, pgparley.caller())
    ON CONFLICT (name) DO UPDATE SET requested_by = excluded.requested_by, problem = NULL;
END
$$;
COMMENT ON FUNCTION nl_catalog.register IS 'Registers a database of the catalog''s own server; an engine reads its schema in a second or two.';

CREATE FUNCTION nl_catalog.unregister(database text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted boolean;
BEGIN
    PERFORM pgparley.check_admin();
    DELETE FROM pgparley.registration r WHERE r.name = $1;
    wanted := FOUND;
    DELETE FROM pgparley.database d WHERE d.name = $1;
    IF NOT FOUND AND NOT wanted THEN
        RAISE EXCEPTION 'database % is not registered', coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'invalid_catalog_name',
            DETAIL = 'No database has that name in the catalog.',
            HINT = 'SELECT database FROM nl_catalog.databases shows those that are.';
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.unregister IS 'Forgets a database and what is said of it; the history stays, and the database itself is not touched.';

CREATE FUNCTION nl_catalog.refresh(database text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO pgparley.schema_watch AS w (database, looked_at, asked)
    SELECT f.database, '-infinity', true FROM pgparley.find_element($1) f
    ON CONFLICT ON CONSTRAINT schema_watch_pkey DO UPDATE SET asked = true, digest = NULL;
END
$$;
COMMENT ON FUNCTION nl_catalog.refresh IS 'Has the schema of a database read again; an engine does so in a second or two.';

CREATE OR REPLACE VIEW nl_catalog.databases WITH (security_barrier) AS
SELECT d.name AS database, pgparley.written(d.name) AS element, coalesce(k.description, i.description) AS description,
       CASE WHEN i.synonyms IS NULL THEN coalesce(k.synonyms, '{}')
            ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms, coalesce(k.hidden, false) AS hidden,
       s.taken_at AS refreshed_at,
       CASE WHEN w.asked THEN 'waits for an engine to read its schema' ELSE w.problem END AS problem
FROM pgparley.database d
     LEFT JOIN pgparley.snapshot s ON s.id = d.newest
     LEFT JOIN pgparley.schema_watch w ON w.database = d.name
     LEFT JOIN pgparley.knowledge k ON k.database = d.name AND k.element = '{}'
     LEFT JOIN pgparley.imports_together i ON i.database = d.name AND i.element = '{}'
WHERE d.name IN (SELECT pgparley.open_databases());

CREATE VIEW nl_catalog.registrations WITH (security_barrier) AS
SELECT r.name AS database, r.requested_by, r.problem FROM pgparley.registration r WHERE pgparley.is_admin();
COMMENT ON VIEW nl_catalog.registrations IS 'Databases that an engine is to register, and why that failed.';

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

-- Of a question that came near to no database, and of one whose likeliest statement says nothing of some of its words, the words as well.
CREATE OR REPLACE FUNCTION pgparley.failed_words(reply jsonb) RETURNS TABLE (word text, nearest text) LANGUAGE sql STABLE SECURITY DEFINER
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
