"""How many people one installation serves, and what it keeps to when things break: `python -m benchmarks.capacity`.

A real installation (`pgparley serve`: gateway and engine, two PostgreSQL servers) with a language model whose time and
answers are scripted, so that what is measured is pgparley's own. Every asker asks for numbers of its own and knows the
right rows: an answer that is another's is counted, and none may be.
"""
