"""What a statement sorts its rows by, shown beside them: rows that share it may stand in any order (docs 7.5).

Owns finding the keys and adding those that are not shown; how rows are compared is `engine.judge.run`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.statement.tree import parsed
from engine.values.ports import Result

Key = int | str
"""The place of a column, from 0 or from the end, or its name."""


@dataclass(frozen=True, slots=True)
class Sorted:
    """A statement `sql` whose last `added` columns, with some of the others, are its sort `keys`."""

    sql: str
    keys: tuple[Key, ...]
    added: int

    def apart(self, result: Result) -> tuple[Result, tuple[tuple[str | None, ...], ...]]:
        """The result as the statement itself gives it, and what each row is sorted by; raises `ValueError`."""
        names = [name for name, _ in result.columns]
        places = [names.index(each) if isinstance(each, str) else each for each in self.keys]
        width = len(names) - self.added
        own = replace(result, columns=result.columns[:width], rows=tuple(row[:width] for row in result.rows))
        return own, tuple(tuple(row[place] for place in places) for row in result.rows)


def showing_keys(sql: str) -> Sorted | None:
    """The statement with all that it sorts by; None where it sorts by nothing, or that cannot be shown beside its rows.

    PostgreSQL adds such columns as well, and drops them behind the sort. Of DISTINCT and set operations they are shown.
    """
    tree = parsed(sql)
    order = None if tree is None else tree.args.get("order")
    if tree is None or order is None:
        return None
    widens = isinstance(tree, exp.Select) and not tree.args.get("distinct")
    sorted_by = [each.this for each in order.expressions]
    shown = [_shown(each, tree.selects) for each in sorted_by]
    added = [each for each, place in zip(sorted_by, shown, strict=True) if place is None]
    if added and not widens:
        return None
    behind = iter(range(-len(added), 0))
    keys = tuple(next(behind) if place is None else place for place in shown)
    if not added:
        return Sorted(sql, keys, 0)
    wider = tree.copy()
    items = [exp.alias_(each.copy(), f"sort_key_{number}") for number, each in enumerate(added)]
    wider.set("expressions", [*wider.selects, *items])
    return Sorted(wider.sql(dialect="postgres"), keys, len(added))


def _shown(key: exp.Expr, items: Sequence[exp.Expr]) -> Key | None:
    """Where a key stands among the outputs: by its number, its name or itself; None where it is none of them."""
    if isinstance(key, exp.Literal) and key.is_int:
        return int(key.name) - 1
    if isinstance(key, exp.Column) and not key.table and any(each.alias == key.name for each in items):
        return key.name
    if any(each.is_star for each in items):
        return None
    return next((place for place, each in enumerate(items) if each.unalias() == key), None)
