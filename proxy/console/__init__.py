"""The console without I/O: its commands, its tables, and its side of the protocol."""
