"""An analyst's day on the demo's databases, asked through real clients: psql, psycopg and pgjdbc as they come.

Nothing says which database a question is about. An answer is right that gives the rows of a statement written by hand;
each answer is seen as its client sees it. The second and third client ask again what the first one asked.
"""
