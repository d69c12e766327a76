"""Which rows of a statement's result tie under its ORDER BY, so that they may come in any order.

Owns how that is asked: the statement once more, with what it orders by as columns behind its own and, where it has a
LIMIT, with all rows that tie with the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp


@dataclass(frozen=True, slots=True)
class WithKeys:
    """`sql`: the statement with `added` columns behind its own. `most`: rows that it has itself, None: no limit.

    `keys`: what it is ordered by, as numbers of output columns, from 0; below it from the right.
    """

    sql: str
    added: int
    keys: tuple[int, ...]
    most: int | None


def with_keys(sql: str) -> WithKeys | None:
    """A statement with an outer ORDER BY; None where its keys cannot be told, as with a limit that is no number."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    if not isinstance(tree, exp.Query):
        return None
    limit = tree.args.get("limit")
    most = _count(limit)
    if limit is not None and most is None:
        return None
    shown = list(tree.selects)
    added: list[exp.Expr] = []
    keys: list[int] = []
    for each in tree.args["order"].expressions:
        key = _output(each.this, shown)
        if not isinstance(key, int):
            if not isinstance(tree, exp.Select) or _distinct(tree):
                return None
            # Under a name of its own, so that no name of the ORDER BY comes to mean it.
            added.append(exp.alias_(key.copy(), f"order key {len(added) + 1}", quoted=True))
            key = -len(added)
        keys.append(key)
    if isinstance(tree, exp.Select):
        # Numbered from the right, since a star before them is any number of columns.
        tree.select(*reversed(added), copy=False)
    if most is not None:
        ties = exp.LimitOptions(rows=True, with_ties=True)
        count = exp.Literal.number(most)
        tree.set("limit", exp.Fetch(direction="FIRST", count=count, limit_options=ties))
    return WithKeys(tree.sql("postgres"), len(added), tuple(keys), most)


def _count(limit: exp.Expr | None) -> int | None:
    """The rows of LIMIT or FETCH, where it is a number."""
    count = None if limit is None else limit.args.get("expression") or limit.args.get("count")
    return int(count.this) if isinstance(count, exp.Literal) and count.is_int else None


def _output(key: exp.Expr, shown: Sequence[exp.Expr]) -> int | exp.Expr:
    """The output column that `key` is, as PostgreSQL reads it, or else what would have to become one."""
    if isinstance(key, exp.Literal) and key.is_int:
        return int(key.this) - 1
    places = range(len(shown))
    # A name means an output column first.
    named = [p for p in places if shown[p].output_name == key.name] if _is_name(key) else []
    same = named or [p for p in places if shown[p].unalias() == key]
    if not same:
        return key
    return shown[same[0]].unalias() if any(each.is_star for each in shown) else same[0]


def _is_name(key: exp.Expr) -> bool:
    return isinstance(key, exp.Column) and not key.table


def _distinct(tree: exp.Select) -> bool:
    distinct = tree.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is None
