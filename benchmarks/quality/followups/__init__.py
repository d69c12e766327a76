"""Follow-up questions: a turn of a dialogue beside the same question in full, and unrelated questions behind one.

Dialogues are SParC's and CoSQL's. The same question in full is one of Spider's over the same database with the very
gold of the turn: only turns that have one are measured, without those in which both speakers' words stand in one text.
The turns before are given with their right statements, as if chosen; their texts are read as a session reads them.
"""
