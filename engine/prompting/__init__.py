"""A schema, values, examples and instructions as text for a prompt."""
