"""Statements changed by rule, in the open: repairs, normal forms and other readings."""
