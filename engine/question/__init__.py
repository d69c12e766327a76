"""What a question says: the one reader of its words."""
