-- Who asks the language model about a database before anybody asks, and what that cost on a day.

CREATE TABLE pgparley.asking_ahead (
    database text PRIMARY KEY REFERENCES pgparley.database (name) ON DELETE CASCADE,
    until    timestamptz NOT NULL
);
COMMENT ON TABLE pgparley.asking_ahead IS 'Until then an engine asks about a database, and no other does.';

CREATE TABLE pgparley.asked_ahead (
    day     date PRIMARY KEY,
    tokens  bigint NOT NULL,
    seconds double precision NOT NULL
);
COMMENT ON TABLE pgparley.asked_ahead IS 'What engines asked by themselves, by the day in UTC: see [catalog] ask_ahead_tokens.';
