-- Optional: makes the surface of pgparley visible in a database (\df nl.*).
--
-- Through the gateway these functions are never called: it puts the answer in their place. A connection that
-- bypasses it gets a clear error from them. Run it in each database as a role that may create schemas.

CREATE SCHEMA IF NOT EXISTS nl;
COMMENT ON SCHEMA nl IS 'Questions in plain words, answered by pgparley';

CREATE OR REPLACE FUNCTION nl.ask(question text)
    RETURNS TABLE (n int4, kind text, database text, confidence float8, explanation text, sql text, next text, qid text)
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'nl.ask is answered by pgparley, which this connection bypasses'
        USING ERRCODE = 'feature_not_supported', HINT = 'Connect to the port of the gateway (6432 by default).';
END
$$;
COMMENT ON FUNCTION nl.ask(text) IS 'Candidates that answer a question in plain words';

CREATE OR REPLACE FUNCTION nl.run(qid text, n int4) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'nl.run is answered by pgparley, which this connection bypasses'
        USING ERRCODE = 'feature_not_supported', HINT = 'Connect to the port of the gateway (6432 by default).';
END
$$;
COMMENT ON FUNCTION nl.run(text, int4) IS 'The rows of candidate n of an answer, as an item of FROM';

GRANT USAGE ON SCHEMA nl TO PUBLIC;
