"""A statement as sqlglot's tree: parsed once for a text, shared, and not to be changed."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp

KEPT_CHARACTERS = 4_000
"""Longer statements are not cached, so that the cache stays below a few MiB."""

KEPT = 128


def parsed(sql: str) -> exp.Query | None:
    """The tree of a query, with unquoted names in lower case; None where `sql` is no query that sqlglot can parse.

    The tree is cached: copy it before changing it.
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


def unwrapped(node: exp.Expr) -> exp.Expr:
    """What a node says without its alias, parentheses, type and rounding."""
    while isinstance(node, exp.Alias | exp.Paren | exp.Cast | exp.Round):
        node = node.this
    return node


def repeated_items(tree: exp.Query) -> list[exp.Expr]:
    """The items of a SELECT that stand in it before, without their names; none of a set operation."""
    seen: set[str] = set()
    repeated = []
    for item in tree.expressions if isinstance(tree, exp.Select) else ():
        shown = item.unalias()
        text = shown.sql()
        if text in seen and shown.find(exp.Column):
            repeated.append(shown)
        seen.add(text)
    return repeated


_kept = lru_cache(maxsize=KEPT)(_parsed)
