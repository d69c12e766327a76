"""The server's side: dialling, prewarmed sockets, TLS, and the gateway's part in logins there."""
