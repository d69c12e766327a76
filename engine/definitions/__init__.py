"""Whether a database takes what a DBA defined for it."""
