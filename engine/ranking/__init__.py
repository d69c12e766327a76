"""Which candidate says what the question says (MetaSQL §III-C): statements in words, two encoders, a cross-encoder."""
