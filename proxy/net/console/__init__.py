"""The console's connections, and its commands carried out over all workers."""
