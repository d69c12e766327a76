-- Questions as they were answered, what their askers said of the answers, and what was learnt of that.

CREATE TABLE pgparley.question (
    qid        text PRIMARY KEY,
    asker      text NOT NULL,
    dbname     text NOT NULL,
    question   text NOT NULL,
    reply      jsonb NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    request    jsonb NOT NULL DEFAULT '{}',
    prompts    jsonb NOT NULL DEFAULT '[]',
    selection  jsonb,
    dialogue   jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON COLUMN pgparley.question.asker IS 'The role that asked: nobody else can show or choose.';
COMMENT ON COLUMN pgparley.question.request IS 'The AskRequest, for asking again.';
COMMENT ON COLUMN pgparley.question.prompts IS 'What the language model was sent, for NL SHOWPROMPT.';
COMMENT ON COLUMN pgparley.question.selection IS 'What the answer was selected by, for points from choices.';
COMMENT ON COLUMN pgparley.question.dialogue IS
    'Turns, rejected statements, candidates left and the first rows of their results, as the asker could read them.';
CREATE INDEX ON pgparley.question (expires_at);
CREATE INDEX ON pgparley.question (asker, asked_at);

CREATE TABLE pgparley.choice (
    qid       text NOT NULL REFERENCES pgparley.question (qid) ON DELETE CASCADE,
    n         int NOT NULL,
    chosen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON pgparley.choice (qid);

CREATE TABLE pgparley.verdict (
    qid      text NOT NULL REFERENCES pgparley.question (qid) ON DELETE CASCADE,
    kind     text NOT NULL CHECK (kind IN ('none', 'corrected')),
    database text,
    body     text,
    given_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN pgparley.verdict.body IS 'none: why nothing fits, if said. corrected: the statement that would have been right.';
CREATE INDEX ON pgparley.verdict (qid);

-- What selection has learnt of its own scores: judged questions, and what each answer was selected by.

CREATE TABLE pgparley.calibration_point (
    question   text NOT NULL,
    source     text NOT NULL CHECK (source IN ('file', 'verified', 'choice')),
    recipe     text NOT NULL,
    database   text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    schema     text NOT NULL,
    grouping   text NOT NULL,
    width      int NOT NULL,
    candidates jsonb NOT NULL,
    qid        text,
    judged_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (question, recipe, width)
);
COMMENT ON TABLE pgparley.calibration_point IS 'Judged questions. Holds no question, no statement and no value of a row.';
COMMENT ON COLUMN pgparley.calibration_point.question IS 'SHA-256 (hex) of the question''s id: decides to which split it belongs.';
COMMENT ON COLUMN pgparley.calibration_point.recipe IS 'Digest of what the scores depend on: model, prompts, the program.';
COMMENT ON COLUMN pgparley.calibration_point.schema IS 'Fingerprint of the database''s snapshot: with another one the point is stale.';
COMMENT ON COLUMN pgparley.calibration_point.width IS 'Candidates looked for; fewer or more are another distribution of scores.';
COMMENT ON COLUMN pgparley.calibration_point.candidates IS '[{"right": bool, "score": number}], best ranked first.';
COMMENT ON COLUMN pgparley.calibration_point.qid IS 'Of a choice: the answer, so that forgetting it forgets the point.';
CREATE INDEX ON pgparley.calibration_point (recipe, width);
CREATE INDEX ON pgparley.calibration_point (qid) WHERE qid IS NOT NULL;

CREATE TABLE pgparley.calibration_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  bigint NOT NULL
);
INSERT INTO pgparley.calibration_version (version) VALUES (1);

CREATE FUNCTION pgparley.bump_calibration_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pgparley.calibration_version SET version = version + 1;
    RETURN NULL;
END
$$;
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.calibration_point
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_calibration_version();

-- What users have shown by choosing, correcting and rejecting: questions with their statements, what words meant, and
-- what was trained on that.

CREATE TABLE pgparley.learned_example (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asker       text NOT NULL,
    database    text NOT NULL REFERENCES pgparley.database (name) ON DELETE CASCADE,
    question    text NOT NULL,
    normal_form text NOT NULL,
    sql         text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('chosen', 'corrected', 'rejected')),
    qid         text NOT NULL,
    learned_at  timestamptz NOT NULL DEFAULT now(),
    approved_at timestamptz CHECK (approved_at IS NULL OR kind <> 'rejected'),
    approved_by text
);
COMMENT ON TABLE pgparley.learned_example IS 'Outlives the answer that it came of: it goes with NL FORGET or nl_catalog.forget().';
COMMENT ON COLUMN pgparley.learned_example.asker IS 'Whose it is: nobody else is answered by it until it is approved.';
COMMENT ON COLUMN pgparley.learned_example.normal_form IS 'Equal where a question is an unchanged repeat.';
CREATE INDEX ON pgparley.learned_example (database, asker);
CREATE INDEX ON pgparley.learned_example (asker, qid);
CREATE INDEX ON pgparley.learned_example (database) WHERE approved_at IS NOT NULL;

CREATE TABLE pgparley.learned_vote (
    example   bigint NOT NULL REFERENCES pgparley.learned_example (id) ON DELETE CASCADE,
    phrase    text NOT NULL,
    preferred text[] NOT NULL CHECK (cardinality(preferred) = 3),
    rejected  text[] NOT NULL CHECK (cardinality(rejected) = 3),
    weight    float8 NOT NULL CHECK (weight > 0),
    PRIMARY KEY (example, phrase, preferred, rejected)
);
COMMENT ON TABLE pgparley.learned_vote IS 'By a phrase of the question, one column (or table: *) was meant rather than another.';
COMMENT ON COLUMN pgparley.learned_vote.preferred IS '{schema, table, column}; the column * stands for the table.';

CREATE TABLE pgparley.learned_adapter (
    version    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope      text NOT NULL,
    votes      int NOT NULL,
    weights    bytea,
    before     float8 NOT NULL,
    after      float8 NOT NULL,
    verdict    text NOT NULL,
    trained_at timestamptz NOT NULL DEFAULT now(),
    withdrawn  boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE pgparley.learned_adapter IS 'The newest of a scope that has weights and was not withdrawn is in use.';
COMMENT ON COLUMN pgparley.learned_adapter.scope IS 'A role, or nothing: for everybody, from what was approved.';
COMMENT ON COLUMN pgparley.learned_adapter.weights IS 'Two matrices as little-endian float32; null where the check on pairs that were held out was failed.';
COMMENT ON COLUMN pgparley.learned_adapter.before IS 'Share of the pairs held out that the encoder alone gets right; after: with the adapter.';

-- One row that every question reads. The generation changes when what is shared has changed so much that scores are
-- other scores: with each doubling of the approved votes and with each other adapter for everybody.
CREATE TABLE pgparley.learning_version (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version    bigint NOT NULL,
    generation text NOT NULL
);
INSERT INTO pgparley.learning_version (version, generation) VALUES (1, '');

CREATE FUNCTION pgparley.bump_learning_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    approved bigint;
    adapter  bigint;
BEGIN
    SELECT count(*) INTO approved
    FROM pgparley.learned_vote v JOIN pgparley.learned_example e ON e.id = v.example WHERE e.approved_at IS NOT NULL;
    SELECT max(a.version) INTO adapter
    FROM pgparley.learned_adapter a WHERE a.scope = '' AND a.weights IS NOT NULL AND NOT a.withdrawn;
    UPDATE pgparley.learning_version
    SET version = version + 1,
        generation = CASE WHEN approved = 0 AND adapter IS NULL THEN ''
                          ELSE floor(log(2.0, approved + 1))::text || '/' || coalesce(adapter, 0) END;
    RETURN NULL;
END
$$;
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.learned_example
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_learning_version();
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.learned_vote
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_learning_version();
CREATE TRIGGER bump AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pgparley.learned_adapter
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.bump_learning_version();

-- An adapter goes with any example that it may have been trained on: forgetting is whole.
CREATE FUNCTION pgparley.drop_adapters_of_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pgparley.learned_adapter a USING gone
    WHERE gone.kind <> 'rejected' AND (a.scope = gone.asker OR gone.approved_at IS NOT NULL);
    RETURN NULL;
END
$$;
CREATE TRIGGER gone AFTER DELETE ON pgparley.learned_example REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.drop_adapters_of_gone();

CREATE FUNCTION pgparley.drop_adapters_of_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pgparley.learned_adapter a USING before, after
    WHERE before.id = after.id AND before.approved_at IS NOT NULL AND after.approved_at IS NULL
      AND a.scope <> before.asker;
    RETURN NULL;
END
$$;
CREATE TRIGGER revoked AFTER UPDATE ON pgparley.learned_example REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION pgparley.drop_adapters_of_revoked();

-- What the engine has found out of model servers.

CREATE TABLE pgparley.model_profile (
    place text NOT NULL,
    model text NOT NULL,
    profile jsonb NOT NULL,
    found_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (place, model)
);
COMMENT ON TABLE pgparley.model_profile IS 'What a model server can do, by its address and the model''s name: see engine.values.model_profile.';
