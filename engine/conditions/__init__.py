"""What kind of statement a question asks for (MetaSQL §III-A): operators and hardness, read off SQL or predicted."""
