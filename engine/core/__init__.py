"""Values and ports of the pipeline, imported by everything else of the engine."""
