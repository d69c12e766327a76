"""The engine process."""
