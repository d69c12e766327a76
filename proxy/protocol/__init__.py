"""The protocol without I/O: no asyncio, sockets, TLS, clock or logging below this package."""
