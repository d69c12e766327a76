"""What the databases hold: introspection, snapshots, the store."""
