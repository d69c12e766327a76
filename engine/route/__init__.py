"""Which databases may answer a question, and which of their tables."""
