"""The engine's networks beyond its own process: Ray Serve runs them, and the engine asks over HTTP."""
