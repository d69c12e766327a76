"""Links a question to values that stand in the databases, where the DBA allowed that."""
