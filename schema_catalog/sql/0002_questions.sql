-- Questions as they were answered, and what their askers chose.

CREATE TABLE pgparley.question (
    qid        text PRIMARY KEY,
    asker      text NOT NULL,
    dbname     text NOT NULL,
    question   text NOT NULL,
    reply      jsonb NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
COMMENT ON COLUMN pgparley.question.asker IS 'The role that asked: nobody else can show or choose.';
CREATE INDEX ON pgparley.question (expires_at);

CREATE TABLE pgparley.choice (
    qid       text NOT NULL REFERENCES pgparley.question (qid) ON DELETE CASCADE,
    n         int NOT NULL,
    chosen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON pgparley.choice (qid);
