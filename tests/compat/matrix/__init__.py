"""The matrix as a page."""
