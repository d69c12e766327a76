"""Questions of a working day: small databases, each made after one thing that real ones have and benchmarks lack.

Mixed-case names, several schemas, enums, JSON, sums over two to-many paths, dates as text, NULL, wide tables: the
figures are told by such a mechanism. The database is given, the values of all text columns are allowed. The cases,
their loader and what judges them come with the data (`workday.py`); a follow-up question is asked by itself.
"""
