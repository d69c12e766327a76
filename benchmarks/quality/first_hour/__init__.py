"""A DBA's first hour: right answers on a terse database without keys, before a word, after proposals, after an hour.

The database and its 40 questions are those of `tests/fixtures/own_database`; half of the questions were set aside.
The knowledge of the hour is `knowledge.sql`. Asked through the gateway as a user of that database.
"""
