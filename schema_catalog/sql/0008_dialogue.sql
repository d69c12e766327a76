-- What the asker of a question has said about it, and the question back that waits for them.

ALTER TABLE pgparley.question ADD COLUMN dialogue jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN pgparley.question.dialogue IS
    'Turns, rejected statements, candidates left and the first rows of their results, as the asker could read them.';
