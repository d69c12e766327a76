"""Sessions: their two connections, what the engine borrows of them, and who is connected."""
