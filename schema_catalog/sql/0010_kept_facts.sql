-- What is known of the kept values beside their texts, so that a prompt needs no look at the data; and whether values that
-- are personal data may stand in prompts.

ALTER TABLE pgparley.value_column
    ADD counts bigint[] NOT NULL DEFAULT '{}',
    ADD least text,
    ADD greatest text,
    ADD personal text,
    ADD personal_allowed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN pgparley.value_column.counts IS 'Of each of the stored values: the rows that have it.';
COMMENT ON COLUMN pgparley.value_column.least IS 'Of numbers and times; greatest as well.';
COMMENT ON COLUMN pgparley.value_column.personal IS 'The kind of personal data that the values look like; null: none.';
COMMENT ON COLUMN pgparley.value_column.personal_allowed IS 'Prompts may list its values although they are personal data.';

DROP FUNCTION nl_catalog.allow_values(text);
CREATE FUNCTION nl_catalog.allow_values(element text, personal boolean DEFAULT false) RETURNS void
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
    INSERT INTO pgparley.value_column AS v (database, schema, "table", "column", personal_allowed)
    VALUES (found.database, found.element[1], found.element[2], found.element[3], coalesce($2, false))
    ON CONFLICT ON CONSTRAINT value_column_pkey DO UPDATE SET personal_allowed = true
        WHERE excluded.personal_allowed AND NOT v.personal_allowed;
    PERFORM nl_catalog.refresh(quote_ident(found.database));
END
$$;
COMMENT ON FUNCTION nl_catalog.allow_values IS 'Lets a language model see values of a column; with personal also where they are personal data, which else only a question that names them shows. An engine reads them in a second or two.';
REVOKE EXECUTE ON FUNCTION nl_catalog.allow_values FROM PUBLIC;

CREATE OR REPLACE VIEW nl_catalog.allowed_values WITH (security_barrier) AS
SELECT v.database, pgparley.written(v.database, ARRAY[v.schema, v."table", v."column"]) AS element,
       cardinality(v.stored) AS kept, v.more, v.read_at, v.problem, v.personal, v.personal_allowed
FROM pgparley.value_column v
WHERE v.database IN (SELECT pgparley.open_databases());

DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
