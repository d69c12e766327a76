-- Joins that nobody declared and that an engine proposes: by names, and by values where the catalog's role reads them.

CREATE TABLE pgparley.proposed_join (
    database    text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    element     text[] NOT NULL CHECK (cardinality(element) = 6),
    evidence    text NOT NULL,
    declined_by name,
    PRIMARY KEY (database, element)
);
COMMENT ON TABLE pgparley.proposed_join IS 'As of the last look at the database; what was declined stays declined.';
COMMENT ON COLUMN pgparley.proposed_join.element IS 'As of a join in pgparley.definition.';
CREATE CONSTRAINT TRIGGER bump AFTER INSERT OR UPDATE OR DELETE ON pgparley.proposed_join
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgparley.bump_catalog_version();

CREATE VIEW nl_catalog.proposed_joins WITH (security_barrier) AS
SELECT p.database, pgparley.written(p.database, p.element[1:3]) AS from_column,
       pgparley.written(p.database, p.element[4:6]) AS to_column, p.evidence
FROM pgparley.proposed_join p
WHERE p.declined_by IS NULL AND p.database IN (SELECT pgparley.open_databases())
  AND NOT EXISTS (SELECT FROM pgparley.definition d WHERE d.database = p.database AND d.kind = 'join'
                  AND d.element IN (p.element, p.element[4:6] || p.element[1:3]));
COMMENT ON VIEW nl_catalog.proposed_joins IS 'Joins that seem to be there and nobody declared, each with its evidence: see accept_join(), decline_join().';

CREATE FUNCTION pgparley.find_proposal(from_column text, to_column text) RETURNS pgparley.proposed_join
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found pgparley.proposed_join;
BEGIN
    SELECT p.* INTO found FROM pgparley.find_element($1) one, pgparley.find_element($2) other, pgparley.proposed_join p
    WHERE (p.database, p.element) = (one.database, one.element || other.element) AND one.database = other.database;
    IF found.database IS NULL THEN
        RAISE EXCEPTION 'no join of % and % is proposed', quote_literal($1), quote_literal($2) USING
            ERRCODE = 'undefined_object',
            DETAIL = 'Proposals are of columns without a foreign key, and are made when a schema is read.',
            HINT = 'SELECT from_column, to_column, evidence FROM nl_catalog.proposed_joins shows them;'
                   ' declare_join() declares any other.';
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION nl_catalog.accept_join(from_column text, to_column text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgparley.find_proposal($1, $2);
    RETURN nl_catalog.declare_join($1, $2);
END
$$;
COMMENT ON FUNCTION nl_catalog.accept_join IS 'Declares a proposed join. Returns the version.';

CREATE FUNCTION nl_catalog.accept_joins(database text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(nl_catalog.declare_join(p.from_column, p.to_column))
    FROM nl_catalog.proposed_joins p WHERE p.database = pgparley.open_database($1)
$$;
COMMENT ON FUNCTION nl_catalog.accept_joins IS 'Declares all joins that are proposed of a database. Returns how many.';

CREATE FUNCTION nl_catalog.decline_join(from_column text, to_column text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    proposed pgparley.proposed_join := pgparley.find_proposal($1, $2);
BEGIN
    UPDATE pgparley.proposed_join p SET declined_by = pgparley.caller()
    WHERE (p.database, p.element) = (proposed.database, proposed.element);
END
$$;
COMMENT ON FUNCTION nl_catalog.decline_join IS 'Says that a proposed join is none: it is neither used nor proposed again.';
