"""What is sent to a server: the guard's tree printed anew, so that no search path and no setting decides what it means.

Every relation, type, function, operator and collation bears its schema, every operator that SQL hides in a word (IN,
BETWEEN, CASE, USING …) is written out, and a literal reads the same under any setting.
"""
