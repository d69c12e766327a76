"""Schema linking: the tables and columns of one database that a question is about (RTS §3)."""
