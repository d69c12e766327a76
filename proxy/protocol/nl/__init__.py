"""The NL surface: finding and parsing NL statements and calls in a text."""
