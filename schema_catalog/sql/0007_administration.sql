-- Which databases there are and to whom they are open, and how much who may ask.

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

CREATE FUNCTION nl_catalog.is_admin() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.is_admin()
$$;
COMMENT ON FUNCTION nl_catalog.is_admin IS 'Whether the caller sees and changes everything.';

CREATE FUNCTION nl_catalog.grant_database(database text, role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found text;
BEGIN
    PERFORM pgparley.check_admin();
    SELECT f.database INTO found FROM pgparley.find_element(quote_ident($1)) f;
    IF to_regrole(quote_ident($2)) IS NULL THEN
        RAISE EXCEPTION 'role "%" does not exist', $2 USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Databases are opened to roles of the server that keeps the catalog.',
            HINT = 'CREATE ROLE first, and GRANT nl_steward to it.';
    END IF;
    INSERT INTO pgparley.database_grant VALUES (found, $2) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION nl_catalog.grant_database IS 'Opens a database to a role: it then sees, and as an nl_steward changes, what is said of it.';

CREATE FUNCTION nl_catalog.revoke_database(database text, role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.check_admin();
    DELETE FROM pgparley.database_grant g WHERE (g.database, g.role) = ($1, $2);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'database "%" was not opened to "%"', $1, $2 USING
            ERRCODE = 'undefined_object',
            DETAIL = 'There is no such grant.',
            HINT = 'SELECT * FROM nl_catalog.grants shows them.';
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.revoke_database IS 'Takes grant_database() back.';

-- Who may ask how often. In which databases is said elsewhere: by logins and by the databases' own grants.

CREATE TABLE pgparley.quota (
    role              text PRIMARY KEY,
    questions_an_hour int NOT NULL CHECK (questions_an_hour >= 0)
);
COMMENT ON COLUMN pgparley.quota.role IS 'public: everybody of whom nothing else is said.';

CREATE TABLE pgparley.asked (
    asker    text NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE pgparley.asked IS 'When askers who have a quota asked in the last hour.';
CREATE INDEX ON pgparley.asked (asker, asked_at);

CREATE FUNCTION nl_catalog.set_quota(role text, questions_an_hour int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgparley.is_admin() THEN
        RAISE EXCEPTION 'only an nl_admin says who may ask how many questions' USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('"%s" is no member of nl_admin.', pgparley.caller()),
            HINT = 'Ask one of them, or have a superuser run: GRANT nl_admin TO …';
    ELSIF coalesce($1, '') = '' OR $2 < 0 THEN
        RAISE EXCEPTION '% questions an hour cannot be the quota of %', coalesce($2::text, 'null'),
                        coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A quota is of a role, or of public, and 0 or more.',
            HINT = '0: may not ask at all; null takes a quota back.';
    ELSIF $2 IS NULL THEN
        DELETE FROM pgparley.quota q WHERE q.role = $1;
    ELSE
        INSERT INTO pgparley.quota AS q VALUES ($1, $2)
        ON CONFLICT ON CONSTRAINT quota_pkey DO UPDATE SET questions_an_hour = excluded.questions_an_hour;
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.set_quota IS 'Says how many questions a role, or each of its members, may ask an hour; 0: none; null takes that back.';

CREATE FUNCTION pgparley.groups_of(role text) RETURNS TABLE (name text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    -- Not by pg_has_role(), to which a superuser is a member of every role.
    WITH RECURSIVE found AS (
        SELECT to_regrole(quote_ident($1))::oid AS oid
        UNION
        SELECT m.roleid FROM pg_auth_members m JOIN found ON m.member = found.oid
    )
    SELECT r.rolname::text FROM found JOIN pg_roles r ON r.oid = found.oid
$$;

CREATE FUNCTION pgparley.quota_of(asker text) RETURNS int
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT q.questions_an_hour FROM pgparley.quota q WHERE q.role = $1),
        (SELECT max(q.questions_an_hour) FROM pgparley.quota q WHERE q.role IN (SELECT g.name FROM pgparley.groups_of($1) g)),
        (SELECT q.questions_an_hour FROM pgparley.quota q WHERE q.role = 'public'))
$$;
COMMENT ON FUNCTION pgparley.quota_of IS 'The asker''s own, else the largest of its groups, else that of public; null: without a limit.';

CREATE FUNCTION pgparley.admit(asker text, OUT most int, OUT spent int, OUT again_at timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    most := pgparley.quota_of($1);
    spent := 0;
    IF most IS NULL THEN
        RETURN;
    END IF;
    -- Engines that admit the same asker at once wait for each other, until the end of the transaction.
    PERFORM pg_advisory_xact_lock(hashtext('pgparley.quota'), hashtext($1));
    DELETE FROM pgparley.asked a WHERE a.asker = $1 AND a.asked_at <= clock_timestamp() - interval '1 hour';
    SELECT count(*) INTO spent FROM pgparley.asked a WHERE a.asker = $1;
    IF spent < most THEN
        INSERT INTO pgparley.asked (asker) VALUES ($1);
    ELSIF most > 0 THEN
        SELECT a.asked_at + interval '1 hour' INTO again_at FROM pgparley.asked a WHERE a.asker = $1
        ORDER BY a.asked_at OFFSET spent - most LIMIT 1;
    END IF;
END
$$;
COMMENT ON FUNCTION pgparley.admit IS 'Counts a question where the asker''s quota has room for it: spent < most, or most null. Else says when it will have.';

-- How many tokens an asker may have the language model work through in a day, and how many they did.

CREATE TABLE pgparley.token_budget (
    role         text PRIMARY KEY,
    tokens_a_day bigint NOT NULL CHECK (tokens_a_day >= 0)
);
COMMENT ON COLUMN pgparley.token_budget.role IS 'As in pgparley.quota.';

CREATE TABLE pgparley.token_use (
    asker     text NOT NULL,
    day       date NOT NULL,
    questions int NOT NULL,
    prefilled bigint NOT NULL,
    cached    bigint NOT NULL,
    generated bigint NOT NULL,
    tokens    bigint GENERATED ALWAYS AS (prefilled + generated) STORED,
    PRIMARY KEY (asker, day)
);
COMMENT ON TABLE pgparley.token_use IS 'What questions cost the language model, by asker and day of the last 31 in UTC. The cache''s tokens are no part of a budget.';
CREATE INDEX ON pgparley.token_use (day);

CREATE FUNCTION pgparley.today() RETURNS date LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (now() AT TIME ZONE 'UTC')::date
$$;

CREATE FUNCTION nl_catalog.set_token_budget(role text, tokens_a_day bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgparley.is_admin() THEN
        RAISE EXCEPTION 'only an nl_admin says how many tokens who may use' USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('"%s" is no member of nl_admin.', pgparley.caller()),
            HINT = 'Ask one of them, or have a superuser run: GRANT nl_admin TO …';
    ELSIF coalesce($1, '') = '' OR $2 < 0 THEN
        RAISE EXCEPTION '% tokens a day cannot be the budget of %', coalesce($2::text, 'null'),
                        coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A budget is of a role, or of public, and 0 or more.',
            HINT = '0: may not ask at all; null takes a budget back.';
    ELSIF $2 IS NULL THEN
        DELETE FROM pgparley.token_budget b WHERE b.role = $1;
    ELSE
        INSERT INTO pgparley.token_budget AS b VALUES ($1, $2)
        ON CONFLICT ON CONSTRAINT token_budget_pkey DO UPDATE SET tokens_a_day = excluded.tokens_a_day;
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.set_token_budget IS 'Says how many tokens the questions of a role, or of each of its members, may use a day; 0: none; null takes that back.';

CREATE FUNCTION pgparley.token_budget_of(asker text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT b.tokens_a_day FROM pgparley.token_budget b WHERE b.role = $1),
        (SELECT max(b.tokens_a_day) FROM pgparley.token_budget b
         WHERE b.role IN (SELECT g.name FROM pgparley.groups_of($1) g)),
        (SELECT b.tokens_a_day FROM pgparley.token_budget b WHERE b.role = 'public'))
$$;
COMMENT ON FUNCTION pgparley.token_budget_of IS 'As pgparley.quota_of. As its owner: a view that everybody reads calls it.';

CREATE FUNCTION pgparley.admit_within_budget(
    asker text,
    OUT tokens_a_day bigint, OUT tokens_used bigint, OUT anew_at timestamptz,
    OUT most int, OUT spent int, OUT again_at timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    tokens_a_day := pgparley.token_budget_of($1);
    SELECT u.tokens INTO tokens_used FROM pgparley.token_use u WHERE u.asker = $1 AND u.day = pgparley.today();
    tokens_used := coalesce(tokens_used, 0);
    IF tokens_used >= tokens_a_day THEN
        IF tokens_a_day > 0 THEN
            anew_at := (pgparley.today() + 1)::timestamp AT TIME ZONE 'UTC';
        END IF;
        RETURN;
    END IF;
    SELECT a.most, a.spent, a.again_at INTO most, spent, again_at FROM pgparley.admit($1) a;
END
$$;
COMMENT ON FUNCTION pgparley.admit_within_budget IS 'As pgparley.admit, unless tokens_used has reached tokens_a_day: then nothing is counted, and anew_at is the next day; null where the budget is 0.';

CREATE FUNCTION pgparley.spend_tokens(asker text, prefilled bigint, cached bigint, generated bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO pgparley.token_use AS u (asker, day, questions, prefilled, cached, generated)
    VALUES ($1, pgparley.today(), 1, $2, $3, $4)
    ON CONFLICT ON CONSTRAINT token_use_pkey DO UPDATE SET
        questions = u.questions + 1, prefilled = u.prefilled + excluded.prefilled,
        cached = u.cached + excluded.cached, generated = u.generated + excluded.generated;
    DELETE FROM pgparley.token_use u WHERE u.day <= pgparley.today() - 31;
END
$$;
COMMENT ON FUNCTION pgparley.spend_tokens IS 'Adds a question that has ended, however it did, to the asker''s day.';

-- Which columns' values a model may see.

CREATE FUNCTION nl_catalog.allow_values(element text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found record;
BEGIN
    PERFORM pgparley.check_admin();
    SELECT f.* INTO found FROM pgparley.find_element($1) f;
    IF cardinality(found.element) <> 3 THEN
        RAISE EXCEPTION '% is no column', quote_literal($1) USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'Values are allowed a column at a time.',
            HINT = 'SELECT nl_catalog.allow_values(element) FROM nl_catalog.columns WHERE … allows many.';
    END IF;
    INSERT INTO pgparley.value_column (database, schema, "table", "column")
    VALUES (found.database, found.element[1], found.element[2], found.element[3]) ON CONFLICT DO NOTHING;
    PERFORM nl_catalog.refresh(quote_ident(found.database));
END
$$;
COMMENT ON FUNCTION nl_catalog.allow_values IS 'Lets a language model see values of a column; an engine reads them in a second or two.';

CREATE FUNCTION nl_catalog.deny_values(element text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.check_admin();
    -- Not by find_element: a column that is gone is a reason to call this.
    DELETE FROM pgparley.value_column v
    WHERE $1 IN (pgparley.written(v.database, ARRAY[v.schema, v."table", v."column"]),
                 pgparley.written(v.database, ARRAY[v."table", v."column"]));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'values of % are not allowed', coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'No allowed column is written so.',
            HINT = 'SELECT element FROM nl_catalog.allowed_values shows those that are; name the column as it does.';
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.deny_values IS 'Takes allow_values() back, and forgets the values that were read.';
