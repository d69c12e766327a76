"""Statements whose outcome does not depend on the data: the model is asked for another one, with the reason."""

from __future__ import annotations

from sqlglot import exp

from engine.rewrite.rules.grouping import single_row_groups
from engine.rewrite.rules.quantifiers import exclusions_of_all
from engine.rewrite.scope import Scopes
from engine.sql.tree import parsed
from schema_catalog.types import Snapshot


def degenerate(sql: str, snapshot: Snapshot) -> str | None:
    """COUNT over groups of one row, or NOT IN over the same whole column, in words; None where neither is there."""
    tree = parsed(sql)
    if tree is None:
        return None
    scopes = Scopes(tree, snapshot)
    for select in tree.find_all(exp.Select):
        if tables := single_row_groups(select, scopes):
            return (
                f"each group is one row of {' and '.join(tables)}, so that counting gives 1:"
                " join the table whose rows are to be counted"
            )
    for found in exclusions_of_all(tree, scopes):
        column, table = found.outside.name, found.one.name
        return f"no row is left: {table}.{column} is always among all of {table}"
    return None
