-- What files of knowledge need: to read what was said without the comments, and to change many elements at once.

CREATE OR REPLACE FUNCTION pgparley.said_of(name text) RETURNS pgparley.knowledge
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said  pgparley.knowledge;
    found pgparley.knowledge;
BEGIN
    SELECT f.database, f.element, NULL, '{}', false INTO said FROM pgparley.find_element(name) f;
    -- Until the end of the transaction: of two who change an element at once, the second sees what the first did. The
    -- server keeps some 6,400 locks in all (PostgreSQL docs 19.12), so that elements share 1,024 of them.
    PERFORM pg_advisory_xact_lock(hashtext('pgparley.knowledge'),
                                  hashtext(pgparley.written(said.database, said.element)) & 1023);
    SELECT k.* INTO found FROM pgparley.knowledge k WHERE (k.database, k.element) = (said.database, said.element);
    RETURN CASE WHEN found.database IS NULL THEN said ELSE found END;
END
$$;

CREATE VIEW nl_catalog.said WITH (security_barrier) AS
SELECT k.database, k.element[1] AS schema, k.element[2] AS "table", k.element[3] AS "column",
       pgparley.written(k.database, k.element) AS element, k.description, k.synonyms, k.hidden
FROM pgparley.knowledge k
WHERE k.database IN (SELECT pgparley.open_databases());
COMMENT ON VIEW nl_catalog.said IS 'What was said of elements and nothing else, also of those that are gone.';

-- As in 0009.
DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
