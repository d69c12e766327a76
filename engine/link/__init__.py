"""What of a question stands for what of a schema."""
