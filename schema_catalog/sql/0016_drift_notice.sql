-- A steward or an nl_admin is told once a session, by a NOTICE, that something waits for a decision.

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
