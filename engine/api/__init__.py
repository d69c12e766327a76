"""The engine's interface and what answers its requests."""
