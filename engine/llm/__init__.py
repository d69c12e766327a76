"""The language model: its client, what it can do, its prompts."""
