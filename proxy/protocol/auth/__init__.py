"""Logins without I/O: secrets, SCRAM, md5, host rules, and the two machines that use them."""
