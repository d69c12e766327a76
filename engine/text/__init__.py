"""Words: splitting, folding, stop words."""
