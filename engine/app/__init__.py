"""The engine as a process: its interface, its pipeline, its store."""
