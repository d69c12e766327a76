"""What the model may write: the grammar of a schema, and the search over masks and conditions."""
