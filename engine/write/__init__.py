"""Statements for a question: readings of a model that follows instructions, or a search."""
