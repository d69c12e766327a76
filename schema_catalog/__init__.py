"""The schemas of the registered databases: introspection, snapshots, the store."""
