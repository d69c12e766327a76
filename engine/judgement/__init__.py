"""How probable it is that each candidate is right: features, and one fitted model of them."""
