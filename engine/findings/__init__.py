"""What is found about a statement, and what mends it."""
