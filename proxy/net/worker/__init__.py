"""One worker process: its connections' shared state, start, reload and shutdown, and its siblings."""
