"""Descriptions and synonyms that the language model proposes, for a DBA to decide on."""
