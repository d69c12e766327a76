"""Statements that differ from another one in one element of the schema."""
