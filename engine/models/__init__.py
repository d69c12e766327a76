"""The only importers of torch and sentence-transformers, lazily."""
