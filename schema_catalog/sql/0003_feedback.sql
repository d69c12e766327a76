-- What is needed to ask again and to show how an answer came about, and what askers say of their answers.

ALTER TABLE pgparley.question ADD COLUMN request jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN pgparley.question.request IS 'The AskRequest, for asking again; {} in rows of older versions.';
ALTER TABLE pgparley.question ADD COLUMN prompts jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN pgparley.question.prompts IS 'What the language model was sent, for NL SHOWPROMPT.';
CREATE INDEX ON pgparley.question (asker, asked_at);

CREATE TABLE pgparley.verdict (
    qid      text NOT NULL REFERENCES pgparley.question (qid) ON DELETE CASCADE,
    kind     text NOT NULL CHECK (kind IN ('none', 'corrected')),
    database text,
    body     text,
    given_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN pgparley.verdict.body IS 'none: why nothing fits, if said. corrected: the statement that would have been right.';
CREATE INDEX ON pgparley.verdict (qid);
