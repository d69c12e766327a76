"""The NL surface: what in a statement's text is for us, and what it says."""
