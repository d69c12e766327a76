"""The gateway: the wire protocol, the NL surface, the relay."""
