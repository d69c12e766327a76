-- The functions by which people and imports say something of elements.

CREATE FUNCTION nl_catalog.import_as(source text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF $1 IS NULL OR $1 !~ '^[a-z][a-z0-9_]{0,29}$' THEN
        RAISE EXCEPTION '% cannot be the name of an import', coalesce(quote_literal($1), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'It is 1 to 30 lower-case letters, digits and underscores, a letter first.',
            HINT = 'Name the tool that the file is of: dbt.';
    END IF;
    PERFORM set_config('nl_catalog.source', $1, true);
END
$$;
COMMENT ON FUNCTION nl_catalog.import_as IS 'What is said until the end of the transaction is the import''s: it stands behind what people say and behind comments.';

CREATE FUNCTION pgparley.said_of(name text) RETURNS pgparley.knowledge
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said  pgparley.knowledge;
    kept  pgparley.knowledge;
    parts text[];
BEGIN
    IF pgparley.source() IS NOT NULL THEN
        -- What an import says of an element that is gone can still be taken back, by its whole name.
        parts := parse_ident(name);
        SELECT i.database, i.element, i.description, i.synonyms, false, i.attributes INTO kept FROM pgparley.imported i
        WHERE (i.database, i.element, i.source) = (parts[1], parts[2:], pgparley.source())
          AND i.database IN (SELECT pgparley.open_databases());
        IF FOUND THEN
            RETURN kept;
        END IF;
    END IF;
    SELECT f.database, f.element, NULL, '{}', false, '{}' INTO said FROM pgparley.find_element(name) f;
    IF pgparley.source() IS NOT NULL THEN
        RETURN said;
    END IF;
    -- Until the end of the transaction: of two who change an element at once, the second sees what the first did. The
    -- server keeps some 6,400 locks in all (PostgreSQL docs 19.12), so that elements share 1,024 of them.
    PERFORM pg_advisory_xact_lock(hashtext('pgparley.knowledge'),
                                  hashtext(pgparley.written(said.database, said.element)) & 1023);
    SELECT k.* INTO kept FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, said.element);
    RETURN CASE WHEN kept.database IS NULL THEN said ELSE kept END;
END
$$;

CREATE FUNCTION pgparley.say(said pgparley.knowledge) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    nothing CONSTANT boolean := said.description IS NULL AND said.synonyms = '{}' AND NOT said.hidden
                             AND said.attributes = '{}';
BEGIN
    IF pgparley.source() IS NOT NULL THEN
        PERFORM pgparley.say_imported(said, nothing);
    ELSIF nothing THEN
        DELETE FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, said.element);
    ELSE
        INSERT INTO pgparley.knowledge AS k SELECT said.*
        ON CONFLICT (database, element) DO UPDATE
        SET description = excluded.description, synonyms = excluded.synonyms, hidden = excluded.hidden,
            attributes = excluded.attributes
        WHERE k IS DISTINCT FROM excluded;
    END IF;
    RETURN (SELECT max(c.version) FROM pgparley.knowledge_change c
            WHERE (c.database, c.element) = (said.database, said.element)
              AND c.source IS NOT DISTINCT FROM pgparley.source());
END
$$;

CREATE FUNCTION pgparley.say_imported(said pgparley.knowledge, nothing boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF said.hidden THEN
        RAISE EXCEPTION 'an import hides nothing' USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = format('This transaction speaks for the import "%s".', pgparley.source()),
            HINT = 'Call hide() in a transaction of its own.';
    ELSIF nothing THEN
        DELETE FROM pgparley.imported i
        WHERE (i.database, i.element, i.source) = (said.database, said.element, pgparley.source());
    ELSE
        INSERT INTO pgparley.imported AS i (database, element, source, description, synonyms, attributes)
        VALUES (said.database, said.element, pgparley.source(), said.description, said.synonyms, said.attributes)
        ON CONFLICT (database, element, source) DO UPDATE
        SET description = excluded.description, synonyms = excluded.synonyms, attributes = excluded.attributes
        WHERE i IS DISTINCT FROM excluded;
    END IF;
END
$$;

CREATE FUNCTION pgparley.set_hidden(name text, hidden boolean) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(name);
BEGIN
    said.hidden := hidden;
    RETURN pgparley.say(said);
END
$$;

CREATE FUNCTION nl_catalog.describe(element text, description text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(element);
BEGIN
    IF length(description) > 2000 THEN
        RAISE EXCEPTION 'the description is too long' USING
            ERRCODE = 'string_data_right_truncation',
            DETAIL = format('It has %s characters; 2000 are allowed.', length(description)),
            HINT = 'Say first what the element means: a prompt shows the beginning alone.';
    END IF;
    said.description := nullif(btrim(description), '');
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.describe IS 'Says what an element means, before its COMMENT ON; null takes that back. Returns the version.';

CREATE FUNCTION nl_catalog.add_synonym(element text, synonym text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(element);
    word text := btrim(regexp_replace(synonym, '\s+', ' ', 'g'));
BEGIN
    IF word IS NULL OR word = '' OR length(word) > 60 OR word ~ '[[:cntrl:]]' OR cardinality(said.synonyms) >= 30 THEN
        RAISE EXCEPTION '% cannot be a synonym', coalesce(quote_literal(synonym), 'null') USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A synonym is 1 to 60 characters without control characters, and an element has 30 at most.',
            HINT = 'Give the words that people use for the element; describe() is for sentences.';
    END IF;
    IF NOT EXISTS (SELECT FROM unnest(said.synonyms) AS s WHERE lower(s) = lower(word)) THEN
        said.synonyms := said.synonyms || word;
    END IF;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.add_synonym IS 'Another word for an element; one that it has already changes nothing. Returns the version.';

CREATE FUNCTION nl_catalog.drop_synonym(element text, synonym text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of(element);
    kept text[] := ARRAY(SELECT s FROM unnest(said.synonyms) WITH ORDINALITY AS u (s, n)
                         WHERE lower(s) IS DISTINCT FROM lower(synonym) ORDER BY n);
BEGIN
    IF kept = said.synonyms THEN
        RAISE EXCEPTION '% is no synonym of %', coalesce(quote_literal(synonym), 'null'), element USING
            ERRCODE = 'undefined_object',
            DETAIL = format('Its synonyms: %s.', coalesce(nullif(array_to_string(said.synonyms, ', '), ''), 'none')),
            HINT = 'SELECT element, synonyms FROM nl_catalog.columns shows those of all columns.';
    END IF;
    said.synonyms := kept;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.drop_synonym IS 'Takes a synonym back. Returns the version.';

CREATE FUNCTION nl_catalog.hide(element text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.set_hidden($1, true)
$$;
COMMENT ON FUNCTION nl_catalog.hide IS 'Keeps an element, and what is in it, out of questions; plain SQL is not concerned. Returns the version.';

CREATE FUNCTION nl_catalog.show(element text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgparley.set_hidden($1, false)
$$;
COMMENT ON FUNCTION nl_catalog.show IS 'Takes hide() back. Returns the version.';

CREATE FUNCTION pgparley.checked_attribute(of text[], attribute text, value text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept  CONSTANT text := btrim(value);
    of_what CONSTANT text := CASE cardinality(of) WHEN 2 THEN 'table' WHEN 3 THEN 'column' ELSE 'database' END;
    taken boolean := false;
BEGIN
    IF of_what = 'database' AND attribute = 'rules' THEN
        taken := length(kept) BETWEEN 1 AND 2000 AND translate(kept, E'\r\n\t', '') !~ '[[:cntrl:]]';
    ELSIF of_what <> 'database' AND attribute = 'status' THEN
        taken := kept IN ('preferred', 'deprecated');
    ELSIF of_what <> 'database' AND attribute = 'sensitivity' THEN
        taken := kept = 'sensitive';
    ELSIF of_what = 'column' AND attribute = 'key' THEN
        taken := kept = 'unique';
    ELSIF of_what = 'column' AND attribute = 'unit' THEN
        taken := length(kept) BETWEEN 1 AND 40 AND kept !~ '[[:cntrl:]]';
    ELSIF of_what = 'column' AND attribute = 'time_zone' THEN
        taken := EXISTS (SELECT FROM pg_timezone_names z WHERE z.name = kept);
    END IF;
    IF taken IS NOT TRUE THEN
        RAISE EXCEPTION '% % cannot be said of a %', coalesce(quote_literal(left(attribute, 40)), 'null'),
                        coalesce(quote_literal(left(value, 40)), 'null'), of_what USING
            ERRCODE = 'invalid_parameter_value',
            DETAIL = 'Of tables and columns: status (preferred, deprecated), sensitivity (sensitive). Of columns: unit (1 to 40'
                     ' characters), time_zone (a name of pg_timezone_names), key (unique). Of databases: rules (2,000 characters).',
            HINT = 'Null takes an attribute back.';
    END IF;
    RETURN kept;
END
$$;

CREATE FUNCTION nl_catalog.set_attribute(element text, attribute text, value text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said pgparley.knowledge := pgparley.said_of($1);
BEGIN
    IF $3 IS NULL THEN
        said.attributes := said.attributes - coalesce($2, '');
    ELSE
        said.attributes := said.attributes
                           || jsonb_build_object($2, pgparley.checked_attribute(said.element, $2, $3));
    END IF;
    RETURN pgparley.say(said);
END
$$;
COMMENT ON FUNCTION nl_catalog.set_attribute IS 'Says status, sensitivity, unit, time_zone or key of an element, or the rules of a database; null takes it back. Returns the version.';

CREATE FUNCTION nl_catalog.restore(version bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    was     pgparley.knowledge_change;
    said    pgparley.knowledge;
    speaks  CONSTANT text := coalesce(pgparley.source(), '');
    changed bigint;
BEGIN
    SELECT c.* INTO was FROM pgparley.knowledge_change c
    WHERE c.version = $1 AND c.database IN (SELECT pgparley.open_databases());
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no version %', coalesce($1::text, 'null') USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Nothing of this number was changed in a registered database that is open to you.',
            HINT = 'SELECT * FROM nl_catalog.history shows the versions.';
    END IF;
    -- Of an import's elements its own table; a definition that is restored is the restorer's.
    IF was.kind <> 'element' THEN
        RETURN pgparley.define(was.database, was.kind, was.element, was.after);
    END IF;
    PERFORM set_config('nl_catalog.source', coalesce(was.source, ''), true);
    said := pgparley.said_of(pgparley.written(was.database, was.element));
    SELECT was.after ->> 'description', ARRAY(SELECT jsonb_array_elements_text(was.after -> 'synonyms')),
           coalesce((was.after ->> 'hidden')::boolean, false), coalesce(was.after -> 'attributes', '{}')
    INTO said.description, said.synonyms, said.hidden, said.attributes;
    changed := pgparley.say(said);
    PERFORM set_config('nl_catalog.source', speaks, true);
    RETURN changed;
END
$$;
COMMENT ON FUNCTION nl_catalog.restore IS 'Says again what a version of the history said. Returns the new version.';

-- Values of what is sensitive are neither allowed nor kept, whoever says it.
CREATE FUNCTION pgparley.sensitive(database text) RETURNS SETOF text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.element FROM pgparley.knowledge k WHERE k.database = $1 AND k.attributes ? 'sensitivity'
    UNION
    SELECT i.element FROM pgparley.imported i WHERE i.database = $1 AND i.attributes ? 'sensitivity'
$$;
COMMENT ON FUNCTION pgparley.sensitive IS 'The tables and columns that are said to be sensitive.';

CREATE FUNCTION pgparley.forget_values() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM pgparley.value_column v
    WHERE v.database = NEW.database
      AND NEW.element IN (ARRAY[v.schema, v."table"], ARRAY[v.schema, v."table", v."column"]);
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_values AFTER INSERT OR UPDATE ON pgparley.knowledge
    FOR EACH ROW WHEN (NEW.attributes ? 'sensitivity') EXECUTE FUNCTION pgparley.forget_values();
CREATE TRIGGER forget_values AFTER INSERT OR UPDATE ON pgparley.imported
    FOR EACH ROW WHEN (NEW.attributes ? 'sensitivity') EXECUTE FUNCTION pgparley.forget_values();

CREATE FUNCTION pgparley.refuse_sensitive() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pgparley.sensitive(NEW.database) AS s
               WHERE s IN (ARRAY[NEW.schema, NEW."table"], ARRAY[NEW.schema, NEW."table", NEW."column"])) THEN
        IF TG_OP = 'UPDATE' THEN  -- Allowed while somebody said it: what is read of it now is not kept.
            NEW.stored := '{}';
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'values of %.% are sensitive', quote_ident(NEW."table"), quote_ident(NEW."column") USING
            ERRCODE = 'insufficient_privilege',
            DETAIL = 'No value of such a column is kept or shown to the model.',
            HINT = 'nl_catalog.set_attribute(…, ''sensitivity'', NULL) takes that back.';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER refuse_sensitive BEFORE INSERT OR UPDATE ON pgparley.value_column
    FOR EACH ROW EXECUTE FUNCTION pgparley.refuse_sensitive();
