-- Budgets by day and month, in tokens and money; quotas and budgets of the people behind a login that several share.

DROP VIEW nl_catalog.quotas, nl_catalog.token_use;
DROP FUNCTION nl_catalog.set_quota(text, int), nl_catalog.set_token_budget(text, bigint), pgparley.admit(text),
    pgparley.admit_within_budget(text), pgparley.quota_of(text), pgparley.token_budget_of(text),
    pgparley.spend_tokens(text, bigint, bigint, bigint);

ALTER TABLE pgparley.quota
    DROP CONSTRAINT quota_pkey,
    ADD person text NOT NULL DEFAULT '',
    ALTER questions_an_hour DROP NOT NULL,
    ADD tokens_a_day bigint CHECK (tokens_a_day >= 0),
    ADD tokens_a_month bigint CHECK (tokens_a_month >= 0),
    ADD money_a_day numeric CHECK (money_a_day >= 0),
    ADD money_a_month numeric CHECK (money_a_month >= 0),
    ADD CONSTRAINT quota_pkey PRIMARY KEY (role, person);
COMMENT ON COLUMN pgparley.quota.person IS 'Behind the role: nl.on_behalf; *: each of them; empty: the role itself, with all of them.';
INSERT INTO pgparley.quota AS q (role, tokens_a_day) SELECT b.role, b.tokens_a_day FROM pgparley.token_budget b
ON CONFLICT ON CONSTRAINT quota_pkey DO UPDATE SET tokens_a_day = excluded.tokens_a_day;
DROP TABLE pgparley.token_budget;

ALTER TABLE pgparley.asked ADD person text NOT NULL DEFAULT '';
ALTER TABLE pgparley.token_use
    DROP CONSTRAINT token_use_pkey,
    ADD person text NOT NULL DEFAULT '',
    ADD money float8 NOT NULL DEFAULT 0,
    ADD CONSTRAINT token_use_pkey PRIMARY KEY (asker, person, day);
COMMENT ON COLUMN pgparley.token_use.money IS 'By the prices of [model].';

CREATE FUNCTION pgparley.check_limits(who_says text, role text, limits numeric[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgparley.is_admin() THEN
        RAISE EXCEPTION 'only an nl_admin says %', $1 USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('"%s" is no member of nl_admin.', pgparley.caller()),
            HINT = 'Ask one of them, or have a superuser run: GRANT nl_admin TO …';
    ELSIF coalesce($2, '') = '' OR 0 > ANY ($3) THEN
        RAISE EXCEPTION '% cannot be the limit of %', array_to_string($3, ', ', 'null'), coalesce(quote_literal($2), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A quota or budget is of a role, or of public, and 0 or more.',
            HINT = '0: may not ask at all; null takes it back.';
    END IF;
END
$$;

CREATE FUNCTION nl_catalog.set_quota(role text, questions_an_hour int, person text DEFAULT '') RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.check_limits('who may ask how many questions', $1, ARRAY[$2]);
    INSERT INTO pgparley.quota AS q (role, person, questions_an_hour) VALUES ($1, coalesce($3, ''), $2)
    ON CONFLICT ON CONSTRAINT quota_pkey DO UPDATE SET questions_an_hour = excluded.questions_an_hour;
END
$$;
COMMENT ON FUNCTION nl_catalog.set_quota IS 'Says how many questions a role, or each of its members, may ask an hour, or a person behind it (*: each); 0: none; null takes that back.';

CREATE FUNCTION nl_catalog.set_budget(
    role text, tokens_a_day bigint DEFAULT NULL, tokens_a_month bigint DEFAULT NULL,
    money_a_day numeric DEFAULT NULL, money_a_month numeric DEFAULT NULL, person text DEFAULT '') RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.check_limits('how many tokens who may use', $1, ARRAY[$2, $3, $4, $5]);
    INSERT INTO pgparley.quota AS q (role, person, tokens_a_day, tokens_a_month, money_a_day, money_a_month)
    VALUES ($1, coalesce($6, ''), $2, $3, $4, $5)
    ON CONFLICT ON CONSTRAINT quota_pkey DO UPDATE SET
        tokens_a_day = excluded.tokens_a_day, tokens_a_month = excluded.tokens_a_month,
        money_a_day = excluded.money_a_day, money_a_month = excluded.money_a_month;
END
$$;
COMMENT ON FUNCTION nl_catalog.set_budget IS 'Says what the questions of a role, or of each of its members, or of a person behind it (*: each), may cost, in place of what was said; 0: none; null: without a limit.';

CREATE FUNCTION pgparley.limits_of(asker text, person text) RETURNS TABLE (what text, most numeric)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT ON (v.what) v.what, v.most
    FROM (SELECT q.*, CASE q.role WHEN $1 THEN 0 WHEN 'public' THEN 4 ELSE 2 END + (q.person = '*')::int AS place
          FROM pgparley.quota q
          WHERE CASE WHEN $2 <> '' THEN q.person IN ($2, '*') AND q.role IN ($1, 'public')
                     ELSE q.person = '' AND (q.role IN ($1, 'public') OR q.role IN (SELECT g.name FROM pgparley.groups_of($1) g)) END) AS f
         CROSS JOIN LATERAL (VALUES ('questions_an_hour', f.questions_an_hour::numeric), ('tokens_a_day', f.tokens_a_day),
                                    ('tokens_a_month', f.tokens_a_month), ('money_a_day', f.money_a_day),
                                    ('money_a_month', f.money_a_month)) AS v (what, most)
    WHERE v.most IS NOT NULL
    ORDER BY v.what, f.place, v.most DESC
$$;
COMMENT ON FUNCTION pgparley.limits_of IS 'Each limit by itself: the asker''s own, else the largest of its groups, else that of public; of a person: the own, else that of each. As its owner: a view that everybody reads calls it.';

CREATE FUNCTION pgparley.admit(
    asker text, person text,
    OUT who text, OUT what text, OUT most numeric, OUT used numeric, OUT again_at timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    each    record;
    counted boolean := false;
BEGIN
    FOR each IN
        SELECT a.person, l.what, l.most, substring(l.what FROM '_an?_(.*)') AS period
        FROM (SELECT '' AS person UNION SELECT $2) AS a CROSS JOIN LATERAL pgparley.limits_of($1, a.person) AS l
        ORDER BY l.what = 'questions_an_hour', a.person COLLATE "C", l.what
    LOOP
        IF each.period = 'hour' THEN
            -- Engines that admit the same asker at once wait for each other, until the end of the transaction.
            PERFORM pg_advisory_xact_lock(hashtext('pgparley.quota'), hashtext($1 || each.person));
            DELETE FROM pgparley.asked q WHERE q.asker = $1 AND q.asked_at <= clock_timestamp() - interval '1 hour';
            SELECT count(*) INTO used FROM pgparley.asked q WHERE q.asker = $1 AND each.person IN ('', q.person);
            counted := true;
        ELSE
            SELECT coalesce(sum(CASE WHEN each.what LIKE 'money%' THEN u.money::numeric ELSE u.tokens END), 0) INTO used
            FROM pgparley.token_use u
            WHERE u.asker = $1 AND each.person IN ('', u.person)
              AND u.day >= date_trunc(each.period, pgparley.today()::timestamp)::date;
        END IF;
        CONTINUE WHEN used < each.most;
        SELECT each.person, each.what, each.most INTO who, what, most;
        IF most > 0 AND each.period = 'hour' THEN
            SELECT q.asked_at + interval '1 hour' INTO again_at FROM pgparley.asked q
            WHERE q.asker = $1 AND each.person IN ('', q.person) ORDER BY q.asked_at OFFSET (used - most)::int LIMIT 1;
        ELSIF most > 0 THEN
            again_at := (date_trunc(each.period, pgparley.today()::timestamp) + ('1 ' || each.period)::interval) AT TIME ZONE 'UTC';
        END IF;
        RETURN;
    END LOOP;
    IF counted THEN
        INSERT INTO pgparley.asked (asker, person) VALUES ($1, $2);
    END IF;
END
$$;
COMMENT ON FUNCTION pgparley.admit IS 'Counts a question where every limit of the asker, and of the person, has room for it. Else the first that has none, of whom it is, and from when on it has; null where it is 0.';

CREATE FUNCTION pgparley.spend_tokens(
    asker text, person text, prefilled bigint, cached bigint, generated bigint, money float8) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO pgparley.token_use AS u (asker, person, day, questions, prefilled, cached, generated, money)
    VALUES ($1, $2, pgparley.today(), 1, $3, $4, $5, $6)
    ON CONFLICT ON CONSTRAINT token_use_pkey DO UPDATE SET
        questions = u.questions + 1, prefilled = u.prefilled + excluded.prefilled,
        cached = u.cached + excluded.cached, generated = u.generated + excluded.generated,
        money = u.money + excluded.money;
    DELETE FROM pgparley.token_use u WHERE u.day <= pgparley.today() - 31;
END
$$;
COMMENT ON FUNCTION pgparley.spend_tokens IS 'Adds a question that has ended, however it did, to the day of the asker, or of the person.';

CREATE VIEW nl_catalog.quotas WITH (security_barrier) AS
SELECT q.role, q.questions_an_hour, q.tokens_a_day, q.tokens_a_month, q.money_a_day, q.money_a_month, q.person
FROM pgparley.quota q
WHERE num_nonnulls(q.questions_an_hour, q.tokens_a_day, q.tokens_a_month, q.money_a_day, q.money_a_month) > 0
  AND (pgparley.is_admin()
       OR q.person = '' AND (q.role = 'public' OR q.role IN (SELECT g.name FROM pgparley.groups_of(pgparley.caller()) g)));
COMMENT ON VIEW nl_catalog.quotas IS 'What roles, and people behind them, may ask and use: all to an nl_admin, to others those that may be theirs.';

CREATE VIEW nl_catalog.token_use WITH (security_barrier) AS
SELECT u.day, u.asker AS role, u.questions, u.tokens, u.prefilled, u.cached, u.generated,
       CASE WHEN u.day = pgparley.today()
            THEN (SELECT l.most::bigint FROM pgparley.limits_of(u.asker, u.person) l WHERE l.what = 'tokens_a_day') END AS tokens_a_day,
       u.money, u.person
FROM pgparley.token_use u
WHERE pgparley.is_admin() OR u.asker = pgparley.caller();
COMMENT ON VIEW nl_catalog.token_use IS 'Tokens of the language model, and money, by role, person and day: all to an nl_admin, to others their own.';

REVOKE EXECUTE ON FUNCTION nl_catalog.set_quota, nl_catalog.set_budget FROM PUBLIC;

DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
