-- For who looks after large catalogs: a NOTICE, once a session, that something waits for a decision; and views that take less time.

CREATE INDEX ON pgparley.definition (database) WHERE state = 'refused';

CREATE FUNCTION pgparley.tell_what_waits() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    concerned text;
    renames   int;
    refused   int;
BEGIN
    IF current_setting('nl_catalog.told', true) = pgparley.caller()
       OR NOT (pgparley.is_admin() OR coalesce(pg_has_role(pgparley.caller(), to_regrole('nl_steward'), 'USAGE'), false)) THEN
        RETURN;
    END IF;
    SELECT string_agg(DISTINCT quote_ident(w.database), ', ' ORDER BY quote_ident(w.database)),
           count(*) FILTER (WHERE w.rename), count(*) FILTER (WHERE NOT w.rename)
    INTO concerned, renames, refused
    FROM (SELECT d.database, true AS rename FROM pgparley.drift d WHERE d.state = 'proposed'
          UNION ALL
          SELECT f.database, false FROM pgparley.definition f WHERE f.state = 'refused') AS w
    WHERE w.database IN (SELECT pgparley.databases_of_caller());
    IF concerned IS NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('nl_catalog.told', pgparley.caller(), false);
    RAISE NOTICE 'renames that wait for a decision: %; joins, terms and verified queries that are refused: %', renames, refused USING
        DETAIL = format('In %s.', concerned),
        HINT = 'SELECT id, old, new, breaks FROM nl_catalog.drift WHERE state = ''proposed''; columns state and reason of'
               ' nl_catalog.joins, terms and verified_queries. This is said once a session.';
END
$$;
COMMENT ON FUNCTION pgparley.tell_what_waits IS 'By a NOTICE to a steward or an nl_admin, once a session. nl_catalog.told: whom this session has told.';

CREATE FUNCTION pgparley.databases_of_caller() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.name FROM pgparley.database d WHERE pgparley.is_admin()
    UNION
    SELECT g.database FROM pgparley.database_grant g
    WHERE pg_has_role(pgparley.caller(), to_regrole(quote_ident(g.role)), 'USAGE')
$$;

-- What every view and function of nl_catalog asks first: hence the place to tell.
CREATE OR REPLACE FUNCTION pgparley.open_databases() RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.tell_what_waits();
    RETURN QUERY SELECT d FROM pgparley.databases_of_caller() AS d;
END
$$;

-- The name of an element is made once, not at each reading, and what is said and imported of it is looked up together.
ALTER TABLE pgparley.element ADD COLUMN written text GENERATED ALWAYS AS
    (quote_ident(database) || '.' || quote_ident(element[1]) || '.' || quote_ident(element[2])
     || coalesce('.' || quote_ident(element[3]), '')) STORED;
COMMENT ON COLUMN pgparley.element.written IS 'As pgparley.written() gives it.';
CREATE INDEX ON pgparley.element (written);

CREATE VIEW pgparley.said_together AS
SELECT database, element, k.description, coalesce(k.hidden, false) AS hidden, i.description AS imported,
       CASE WHEN i.element IS NULL THEN k.synonyms ELSE pgparley.with_imported(k.synonyms, i.synonyms) END AS synonyms,
       coalesce(i.attributes, '{}') || coalesce(k.attributes, '{}') AS attributes
FROM pgparley.knowledge k FULL JOIN pgparley.imports_together i USING (database, element);
COMMENT ON VIEW pgparley.said_together IS 'What people and imports say of an element; imported: the import''s description, which stands behind a comment.';

CREATE OR REPLACE VIEW nl_catalog.tables WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", e.written AS element, e.type AS kind,
       coalesce(s.description, e.comment, s.imported) AS description, e.comment, coalesce(s.synonyms, '{}') AS synonyms,
       coalesce(s.hidden, false) AS hidden, coalesce(s.attributes, '{}') AS attributes
FROM pgparley.element e LEFT JOIN pgparley.said_together s USING (database, element)
WHERE e.place = 0 AND e.database IN (SELECT pgparley.open_databases());

CREATE OR REPLACE VIEW nl_catalog.columns WITH (security_barrier) AS
SELECT e.database, e.element[1] AS schema, e.element[2] AS "table", e.element[3] AS "column", e.place, e.written AS element,
       e.type, coalesce(s.description, e.comment, s.imported) AS description, e.comment, coalesce(s.synonyms, '{}') AS synonyms,
       coalesce(s.hidden, false) AS hidden, coalesce(s.attributes, '{}') AS attributes
FROM pgparley.element e LEFT JOIN pgparley.said_together s USING (database, element)
WHERE e.place > 0 AND e.database IN (SELECT pgparley.open_databases());
