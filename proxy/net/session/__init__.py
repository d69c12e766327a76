"""Sessions: their two connections, the loan of the server's to the engine, and their registry."""
