"""The retrieval index behind the route stage: schemas as vectors and words, scored against a question."""
