"""One worker process: what its connections share, its start, reload and end, and its siblings."""
