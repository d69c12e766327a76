"""How likely each candidate is right: its order, its confidence, what is kept."""
