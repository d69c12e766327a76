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

CREATE OR REPLACE VIEW nl_catalog.quotas WITH (security_barrier) AS
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
