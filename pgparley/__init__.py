"""The composition root: configuration, command line, supervisor, demo. Nothing imports it."""
