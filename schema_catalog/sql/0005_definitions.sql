-- What a DBA defines: joins that no foreign key declares, terms of the business, verified queries. Beside the definition
-- stands whether the database takes it, which the engine finds out (engine.definitions): SQL alone cannot.

CREATE FUNCTION pgparley.define(database text, kind text, element text[], body jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    speaks CONSTANT text := pgparley.source();
BEGIN
    IF speaks IS NOT NULL AND ($2 = 'query' OR EXISTS (
        SELECT FROM pgparley.definition d
        WHERE (d.database, d.kind, d.element) = ($1, $2, $3) AND d.source IS DISTINCT FROM speaks)) THEN
        RAISE EXCEPTION 'an import does not change this %', $2 USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = format('This transaction speaks for the import "%s"; somebody else said it.', speaks),
            HINT = 'Say it in a transaction of its own.';
    ELSIF $4 IS NULL THEN
        DELETE FROM pgparley.definition d WHERE (d.database, d.kind, d.element) = ($1, $2, $3);
    ELSE
        INSERT INTO pgparley.definition AS d (database, kind, element, body, source) VALUES ($1, $2, $3, $4, speaks)
        ON CONFLICT (database, kind, element) DO UPDATE
        SET body = excluded.body, source = excluded.source, state = DEFAULT, reason = NULL, reads = DEFAULT, checked_at = NULL
        WHERE (d.body, d.source) IS DISTINCT FROM (excluded.body, excluded.source);
    END IF;
    RETURN (SELECT max(c.version) FROM pgparley.knowledge_change c
            WHERE (c.database, c.kind, c.element) = ($1, $2, $3));
END
$$;

CREATE FUNCTION nl_catalog.declare_join(from_column text, to_column text, cardinality text DEFAULT 'many-to-one')
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one   record;
    other record;
BEGIN
    SELECT f.* INTO one FROM pgparley.find_element($1) f;
    SELECT f.* INTO other FROM pgparley.find_element($2) f;
    IF array_length(one.element, 1) IS DISTINCT FROM 3 OR array_length(other.element, 1) IS DISTINCT FROM 3
       OR one.database <> other.database OR one = other THEN
        RAISE EXCEPTION '% and % cannot be joined', quote_literal($1), quote_literal($2) USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A join is declared between two different columns of one database.',
            HINT = 'Name both as database.schema.table.column.';
    ELSIF $3 IS NULL OR $3 NOT IN ('many-to-one', 'one-to-many', 'one-to-one') THEN
        RAISE EXCEPTION '% is no cardinality', coalesce(quote_literal($3), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'It is many-to-one, one-to-many or one-to-one: what the first column''s rows are to the second''s.',
            HINT = 'Of many to many declare the two joins to the table that stands between.';
    ELSIF $3 = 'one-to-many' THEN
        RETURN nl_catalog.declare_join($2, $1);
    ELSIF EXISTS (SELECT FROM pgparley.definition d
                  WHERE (d.database, d.kind, d.element) = (one.database, 'join', other.element || one.element)) THEN
        RAISE EXCEPTION 'the join of % and % is declared the other way round', quote_literal($1), quote_literal($2) USING
            ERRCODE = 'duplicate_object',
            DETAIL = format('Declared is that %s refers to %s.', $2, $1),
            HINT = 'Take that back with drop_join() first.';
    END IF;
    RETURN pgparley.define(one.database, 'join', one.element || other.element, jsonb_build_object('cardinality', $3));
END
$$;
COMMENT ON FUNCTION nl_catalog.declare_join IS 'Says that a column refers to another, as a foreign key would. Returns the version.';

CREATE FUNCTION nl_catalog.drop_join(from_column text, to_column text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    declared pgparley.definition;
BEGIN
    -- Not by find_element: a column that is gone is a reason to call this.
    SELECT d.* INTO declared
    FROM pgparley.definition d,
         LATERAL (VALUES (d.element[1:3], d.element[4:6]), (d.element[4:6], d.element[1:3])) AS ends (one, other)
    WHERE d.kind = 'join' AND d.database IN (SELECT pgparley.open_databases())
      AND $1 IN (pgparley.written(d.database, one), pgparley.written(d.database, one[2:3]))
      AND $2 IN (pgparley.written(d.database, other), pgparley.written(d.database, other[2:3]));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no join of % and % is declared', coalesce(quote_literal($1), 'null'),
                        coalesce(quote_literal($2), 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Foreign keys of the database itself cannot be taken back here.',
            HINT = 'SELECT from_column, to_column FROM nl_catalog.joins shows those that are; name the columns as it does.';
    END IF;
    RETURN pgparley.define(declared.database, 'join', declared.element, NULL);
END
$$;
COMMENT ON FUNCTION nl_catalog.drop_join IS 'Takes declare_join() back, the columns in either order. Returns the version.';

CREATE FUNCTION pgparley.checked_text(what text, value text, most int) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept text := btrim(value, E' \t\r\n');
BEGIN
    IF kept IS NULL OR kept = '' OR length(kept) > most OR translate(kept, E'\t\r\n', '') ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION '% cannot be %', coalesce(quote_literal(left(value, 80)), 'null'), what USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = format('%s characters are given; 1 to %s without control characters can be.', coalesce(length(kept), 0), most),
            HINT = 'Give less and plain text.';
    END IF;
    RETURN kept;
END
$$;

CREATE FUNCTION pgparley.one_line(text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT btrim(regexp_replace($1, '\s+', ' ', 'g'))
$$;

CREATE FUNCTION pgparley.undefine(database text, kind text, element text, shown text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_in text := pgparley.open_database($1);
BEGIN
    IF NOT EXISTS (SELECT FROM pgparley.definition d
                   WHERE (d.database, d.kind, d.element) = (found_in, $2, ARRAY[$3])) THEN
        RAISE EXCEPTION 'database "%" has no % %', found_in, $2, coalesce(quote_literal(left($3, 80)), 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Nothing was changed.',
            HINT = format('SELECT * FROM nl_catalog.%s shows those that there are.', $4);
    END IF;
    RETURN pgparley.define(found_in, $2, ARRAY[$3], NULL);
END
$$;

-- What is wrong is said at once, as far as the words alone tell: whether the database takes it, the engine finds out.

CREATE FUNCTION pgparley.check_syntax(what text, written text, hint text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET check_function_bodies = on AS $$
BEGIN
    -- PL/pgSQL has the server's parser read all of a block before it runs (PostgreSQL docs 41.11), and this one ends at once.
    EXECUTE 'DO ' || quote_literal(format(E'BEGIN RETURN; PERFORM %s;\nEND', $2));
EXCEPTION WHEN OTHERS THEN
    RAISE EXCEPTION '% cannot be read: %', $1, rtrim(split_part(SQLERRM, E'\n', 1), ');') USING ERRCODE = 'syntax_error', DETAIL = 'Nothing was kept.', HINT = $3;
END
$$;

CREATE FUNCTION pgparley.unknown_name(database text, sql text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ident CONSTANT text := '(?:"[^"]+"|[[:alpha:]_][[:alnum:]_$]*)';
    plain CONSTANT text := regexp_replace(regexp_replace($2, E'\\$(\\w*)\\$.*?\\$\\1\\$', ' ', 'g'), '''[^'']*''', ' ', 'g');
    path  CONSTANT text[] := (SELECT d.search_path FROM pgparley.database d WHERE d.name = $1);
    whole CONSTANT boolean := $2 ~* '\mselect\M';
    match text[];
    parts text[];
    last  int;
BEGIN
    FOR match IN SELECT regexp_matches(plain, '(' || ident || '(?:\.' || ident || ')+)\s*(\(?)', 'g') LOOP
        parts := parse_ident(match[1]);
        last := cardinality(parts);
        CONTINUE WHEN match[2] <> '' OR EXISTS (
            SELECT FROM pgparley.element e
            WHERE e.database = $1 AND (e.element = parts OR e.element[2:] = parts AND (whole OR e.element[1] = ANY (path))));
        IF NOT whole AND EXISTS (SELECT FROM pgparley.element e WHERE e.database = $1 AND e.element[2:] = parts) THEN
            RETURN format('write %s with its schema: %s', match[1], (SELECT min(pgparley.written(e.element[1], e.element[2:]))
                                                                     FROM pgparley.element e
                                                                     WHERE e.database = $1 AND e.element[2:] = parts));
        ELSIF EXISTS (SELECT FROM pgparley.element e
                   WHERE e.database = $1 AND e.place = 0 AND (e.element = parts[:last - 1] OR e.element[2:] = parts[:last - 1])) THEN
            RETURN format('%s has no column %s', array_to_string(parts[:last - 1], '.'), quote_ident(parts[last]));
        ELSIF NOT plain ~* ('(?:^|[^.[:alnum:]_"])"?' || regexp_replace(parts[1], '\W', '.', 'g') || '"?(?![[:alnum:]_$"])(?!\s*\.)') THEN
            RETURN format('there is no table %s', array_to_string(parts[:last - 1], '.'));
        END IF;
    END LOOP;
    IF whole THEN
        -- Behind FROM also stands what extract() and IS DISTINCT FROM compare, and what WITH names.
        RETURN (SELECT format('there is no table %s', m[1])
                FROM regexp_matches(plain, '\m(?:from|join)\s+(' || ident || ')(?![[:alnum:]_$"])(?!\s*[.(])', 'gi') AS m
                WHERE NOT EXISTS (SELECT FROM pgparley.element e
                                  WHERE e.database = $1 AND ((parse_ident(m[1]))[1] = e.element[3]
                                                             OR (parse_ident(m[1]))[1] = e.element[2] AND e.element[1] = ANY (path)))
                  AND NOT EXISTS (SELECT FROM pg_get_keywords() k WHERE k.word = lower(m[1]) AND k.catcode IN ('R', 'T'))
                  AND NOT plain ~* ('\m' || regexp_replace(m[1], '\W', '.', 'g') || '\s*(?:\([^)]*\)\s*)?as\s+(?:not\s+)?(?:materialized\s*)?\(')
                LIMIT 1);
    END IF;
    FOR match IN SELECT regexp_matches(plain, '(?:^|[^.:[:alnum:]_"$])(' || ident || ')(?![[:alnum:]_$"])(?!\s*[.(])(?!\s+from\s)', 'gi') LOOP
        SELECT e.element[2:] INTO parts FROM pgparley.element e
        WHERE e.database = $1 AND e.place > 0 AND e.element[3] = (parse_ident(match[1]))[1]
          AND NOT EXISTS (SELECT FROM pg_get_keywords() k WHERE k.word = e.element[3] AND k.catcode IN ('R', 'T'))
        ORDER BY 1 LIMIT 1;
        IF FOUND THEN
            RETURN format('write %s with its table before it: %s', match[1],
                          (SELECT string_agg(quote_ident(p), '.') FROM unnest(parts) AS p));
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION pgparley.unknown_name IS 'What an expression or a statement names that the last snapshot has not, in words; null: nothing is seen.';

CREATE FUNCTION pgparley.warn_of_names(what text, database text, sql text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wrong CONSTANT text := pgparley.unknown_name($2, $3);
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE WARNING '% is kept, but not used: %', $1, wrong USING
            DETAIL = 'It is used as soon as the database has what it names.',
            HINT = 'Within SQL a column is written table.column or schema.table.column; capitals in double quotes.'
                   ' SELECT element FROM nl_catalog.columns shows the names.';
    END IF;
END
$$;

CREATE FUNCTION nl_catalog.define_term(database text, term text, definition text, description text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named   text := pgparley.checked_text('a term', pgparley.one_line($2), 60);
    meaning text := nullif(btrim($4), '');
    opened  text := pgparley.open_database($1);
    defined text := pgparley.checked_text('a definition', $3, 400);
BEGIN
    IF pgparley.source() IS NULL THEN
        PERFORM pgparley.check_syntax(format('the definition of %L', named), format(E'(%s\n)', defined),
            'A definition is one SQL expression over columns with their tables: sum(orders.net), or orders.status = ''paid''.');
        PERFORM pgparley.warn_of_names(format('term %L', named), opened, defined);
    END IF;
    RETURN pgparley.define(opened, 'term', ARRAY[lower(named)], jsonb_build_object(
        'name', named,
        'definition', defined,
        'description', CASE WHEN meaning IS NOT NULL THEN pgparley.checked_text('a description', meaning, 2000) END));
END
$$;
COMMENT ON FUNCTION nl_catalog.define_term IS 'Says what a term means, as an SQL expression over columns named with their tables. Returns the version.';

CREATE FUNCTION pgparley.terms_in(database text, rules text) RETURNS TABLE (rule text, term text, definition text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH rule AS (SELECT btrim(line, E' \t\r-*') AS line
                  FROM regexp_split_to_table($2, E'\n|(?<=[.;])\\s+') AS line),
    -- A condition on one column: from a name that the database has to a constant.
    predicate AS (
        SELECT line, (regexp_match(line, '((?:[[:alpha:]_]\w*\.){1,2}[[:alpha:]_]\w*\s*(?:=|<>|!=|<=?|>=?|is\s+not|is)\s*(?:''[^'']*''|-?[\d.]*\d|null|true|false))', 'i'))[1] AS found
        FROM rule),
    -- A year of one's own: its first month, and a date that it may count.
    year AS (
        SELECT line, 13 - array_position(ARRAY['january','february','march','april','may','june','july','august','september','october',
                                               'november','december'], lower(m[1])) AS months
        FROM rule, regexp_match(line, '(?:fiscal|financial|business)\s+year\M.*\m(january|february|march|april|may|june|july|august|september|october|november|december)', 'i') AS m
        WHERE m IS NOT NULL),
    day AS (SELECT quote_ident(e.element[2]) || '.' || quote_ident(e.element[3]) AS name FROM pgparley.element e
            WHERE e.database = $1 AND e.type ~ '^(date|timestamp)' ORDER BY e.element LIMIT 1)
    SELECT line, coalesce(nullif(btrim(regexp_replace(split_part(line, p.found, 1),
               '^\s*(?:always\s+|please\s+)?(?:ignore|exclude|leave out|without|do not count|only|count only)\s+|\s*(?:with|where|whose|have|are|is|:|,|\()+\s*$', '', 'gi')), ''), 'rule'), p.found
    FROM predicate p WHERE p.found IS NOT NULL AND pgparley.unknown_name($1, p.found) IS NULL
    UNION ALL
    SELECT line, 'fiscal year', format('extract(year FROM %s + interval ''%s months'')', d.name, y.months % 12) FROM year y, day d
$$;
COMMENT ON FUNCTION pgparley.terms_in IS 'Of free text the rules that hold a condition or a year of one''s own, each with the term that would say it.';

CREATE FUNCTION nl_catalog.set_rules(database text, rules text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    opened  CONSTANT text := pgparley.open_database($1);
    said    CONSTANT text := nullif(btrim($2), '');
    proposed text;
BEGIN
    IF pgparley.source() IS NULL THEN
        SELECT string_agg(format('SELECT nl_catalog.define_term(%L, %L, %L);', opened, left(t.term, 60), t.definition), E'\n')
        INTO proposed FROM pgparley.terms_in(opened, said) t
        WHERE NOT EXISTS (SELECT FROM pgparley.definition d
                          WHERE (d.database, d.kind, d.element) = (opened, 'term', ARRAY[lower(left(t.term, 60))]));
        IF proposed IS NOT NULL THEN
            RAISE INFO 'what a rule defines is better said as a term, which is checked and counts with every model' USING
                DETAIL = 'A term is a condition, a period or an expression that people name in questions.',
                HINT = E'Look at names and columns, and run:\n' || proposed;
        END IF;
    END IF;
    RETURN nl_catalog.set_attribute(quote_ident(opened), 'rules', said);
END
$$;
COMMENT ON FUNCTION nl_catalog.set_rules IS 'Says what holds in a database unless a question says otherwise, in free text; null takes that back. Returns the version.';

CREATE FUNCTION nl_catalog.drop_term(database text, term text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.undefine($1, 'term', lower(pgparley.one_line($2)), 'terms')
$$;
COMMENT ON FUNCTION nl_catalog.drop_term IS 'Takes define_term() back. Returns the version.';

CREATE FUNCTION pgparley.question_key(text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT rtrim(lower(pgparley.one_line($1)), ' .?!;')
$$;

CREATE FUNCTION nl_catalog.verify(database text, question text, sql text, tags text[] DEFAULT '{}') RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked  text := pgparley.checked_text('a question', pgparley.one_line($2), 500);
    opened text := pgparley.open_database($1);
    answer text := pgparley.checked_text('a statement', $3, 10000);
    -- The question's parameters are values.
    plain text := CASE WHEN asked ~ '\{ *\w+ *:' THEN regexp_replace(answer, '\{ *[a-z_]\w* *\}', 'NULL', 'g') ELSE answer END;
BEGIN
    PERFORM pgparley.check_syntax(format('the statement of %L', asked), format(E'1 FROM (%s\n) AS q', rtrim(plain, E'; \t\r\n')),
                                  'A question is answered by one SELECT.');
    PERFORM pgparley.warn_of_names(format('the answer to %L', asked), opened, plain);
    IF cardinality($4) > 20 THEN
        RAISE EXCEPTION 'a verified query has 20 tags at most' USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = format('%s are given.', cardinality($4)),
            HINT = 'Give fewer.';
    END IF;
    RETURN pgparley.define(
        opened, 'query',
        ARRAY[pgparley.checked_text('a question', pgparley.question_key(asked), 500)],
        jsonb_build_object(
            'question', asked,
            'sql', answer,
            'tags', ARRAY(SELECT DISTINCT pgparley.checked_text('a tag', pgparley.one_line(t), 60) FROM unnest($4) AS t ORDER BY 1),
            'owner', pgparley.person()));
END
$$;
COMMENT ON FUNCTION nl_catalog.verify IS 'Says which statement answers a question; it answers that one and is an example for others. Returns the version.';

CREATE FUNCTION nl_catalog.revoke(database text, question text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.undefine($1, 'query', pgparley.question_key($2), 'verified_queries')
$$;
COMMENT ON FUNCTION nl_catalog.revoke IS 'Takes verify() back. Returns the version.';

-- Which of what users taught counts for everybody.

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
    SELECT pgparley.set_approval($1, pgparley.person())
$$;
COMMENT ON FUNCTION nl_catalog.approve IS 'Lets what a user taught count for everybody who can read what it names.';

CREATE FUNCTION nl_catalog.revoke_approval(example bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.set_approval($1, NULL)
$$;
COMMENT ON FUNCTION nl_catalog.revoke_approval IS 'Takes approve() back: it counts for its user alone again.';

CREATE FUNCTION nl_catalog.forget(example bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM pgparley.learned_example e WHERE e.id = $1 AND e.database IN (SELECT pgparley.open_databases());
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no example %', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object', HINT = 'SELECT example, question, kind FROM nl_catalog.learned shows them.';
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.forget IS 'Deletes what a user taught, for its user as well, with every adapter that may have been trained on it.';

CREATE FUNCTION nl_catalog.withdraw_adapter(version bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE pgparley.learned_adapter a SET withdrawn = true WHERE a.version = $1 AND pgparley.is_admin();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no adapter % that you may withdraw', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object', HINT = 'SELECT * FROM nl_catalog.adapters shows them to an nl_admin.';
    END IF;
END
$$;
COMMENT ON FUNCTION nl_catalog.withdraw_adapter IS 'Takes an adapter out of use: the one before it of the same scope is used again (nl_admin).';
