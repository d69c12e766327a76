"""The server's side: dialling, spares, TLS, and what the gateway has to do with logins there."""
