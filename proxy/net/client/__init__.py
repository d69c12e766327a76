"""Clients up to their session: listening, TLS, the first packet, the login at the gateway."""
