"""What the generate stage is made of: the schema as a prompt, as a grammar, and the search over masks."""
