"""Generation for models that follow instructions: one call for all readings of a question."""
