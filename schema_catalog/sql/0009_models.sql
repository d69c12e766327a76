-- What the engine has found out of model servers.

CREATE TABLE pgparley.model_profile (
    place text NOT NULL,
    model text NOT NULL,
    profile jsonb NOT NULL,
    found_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (place, model)
);
COMMENT ON TABLE pgparley.model_profile IS 'What a model server can do, by its address and the model''s name: see engine.llm.profile.';
