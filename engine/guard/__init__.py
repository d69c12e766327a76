"""What generated SQL may do: analyse the parse tree, then decide. Default deny."""
