"""A statement as sqlglot's tree: parsed once for a text, shared, and not to be changed."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp

KEPT_CHARACTERS = 4_000
"""Longer statements are not kept, so that what is kept stays below a few MiB."""

KEPT = 128


def parsed(sql: str) -> exp.Query | None:
    """The tree of a query, its names as PostgreSQL reads them: unquoted ones in lower case. None where it has none.

    One text gives one tree as long as it is kept: whoever changes it changes a copy.
    """
    return _kept(sql) if len(sql) <= KEPT_CHARACTERS else _parsed(sql)


def _parsed(sql: str) -> exp.Query | None:
    try:
        tree = sqlglot.parse_one(sql, dialect="postgres")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Query):
        return None
    for name in tree.find_all(exp.Identifier):
        if not name.quoted:
            name.set("this", name.name.lower())
    return tree


_kept = lru_cache(maxsize=KEPT)(_parsed)
