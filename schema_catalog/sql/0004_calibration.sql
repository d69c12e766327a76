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
COMMENT ON COLUMN pgparley.calibration_point.recipe IS 'Digest of what the scores depend on: model, prompts, versions of the scoring functions.';
COMMENT ON COLUMN pgparley.calibration_point.schema IS 'Fingerprint of the database''s snapshot: with another one the point is stale.';
COMMENT ON COLUMN pgparley.calibration_point.width IS 'Candidates looked for; fewer or more are another distribution of scores.';
COMMENT ON COLUMN pgparley.calibration_point.candidates IS '[{"right": bool, "scores": {function: number, null where it has none}}], best ranked first.';
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

ALTER TABLE pgparley.question ADD COLUMN selection jsonb;
COMMENT ON COLUMN pgparley.question.selection IS 'What the answer was selected by, for points from choices; null in rows of older versions.';
