"""SQL expressions of other tools' files, put together; what comes out is checked as any definition is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from schema_catalog.naming import dotted

_MOST = 4_000
"""Characters of an expression that is parsed at all; a definition has 400 at most."""


class ExpressionError(Exception):
    """It cannot be written as an expression over one table; the message says why."""


def composed(expression: str, parts: Mapping[str, str]) -> str:
    """`expression` with each name of `parts` replaced by what it stands for; raises `ExpressionError`."""
    tree = parsed(expression)
    inner = {name: exp.paren(parsed(part)) for name, part in parts.items()}
    for column in list(tree.find_all(exp.Column)):
        if column.table or column.name not in inner:
            raise ExpressionError(f"{column.sql('postgres')} stands for nothing that it is computed of")
        column.replace(inner[column.name].copy())
    return tree.sql("postgres")


def qualified(expression: str, name: Callable[[str, str], str]) -> str:
    """`expression` with every column as `name` writes it, from what stands before it ("": nothing) and its name.

    Raises `ExpressionError`.
    """
    tree = parsed(expression)
    for column in list(tree.find_all(exp.Column)):
        table = dotted((column.db, column.table)) if column.db else column.table
        written = name(table, column.name)
        column.replace(sqlglot.parse_one(written, dialect="postgres"))
    return tree.sql("postgres")


def parsed(expression: str) -> exp.Expression:
    """The tree of `expression`, which holds no query; raises `ExpressionError`."""
    if "{{" in expression or "{%" in expression:
        raise ExpressionError("it is a template that only its tool can fill in")
    if len(expression) > _MOST:
        raise ExpressionError(f"it has more than {_MOST:,} characters")
    try:
        tree = sqlglot.parse_one(expression, dialect="postgres")
    except (SqlglotError, RecursionError) as problem:
        raise ExpressionError(f"it is no SQL expression: {str(problem).splitlines()[0]}") from None
    if tree.find(exp.Query) is not None or not isinstance(tree, exp.Expression):
        raise ExpressionError("it holds a query")
    # The tree may be of the expression itself alone, which has nothing to be replaced in.
    return exp.paren(tree, copy=False) if isinstance(tree, exp.Column) else tree
