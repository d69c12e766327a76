"""Execution accuracy: whether two statements have the same result.

Rows are a multiset. Where the known statement orders them, they come in its order, those that tie in any (it is run
once more, with its keys and all that tie at its limit). Columns may come in any order; numbers agree to seven digits,
and a timestamp at midnight is its date. Text is never a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import islice, permutations

import sqlglot
from sqlglot import exp

from engine.values.ports import Result


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


_NUMERIC = ("integer", "bigint", "smallint", "numeric", "real", "double precision", "money", "oid")
_TIME = ("timestamp", "date")
_DIGITS = 7
_MOST_ORDERS = 5_040
"""Column orders tried at most: all of seven columns."""

Row = tuple[str | None, ...]


def ordered(sql: str) -> bool:
    """Whether the statement has an outer ORDER BY; raises `sqlglot.errors.ParseError`."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    return isinstance(tree, exp.Query) and tree.args.get("order") is not None


@dataclass(frozen=True, slots=True)
class Reference:
    """What a known statement gives. `take`: rows of a right result; `result` has all that tie at the limit besides.

    `runs`: for each row the number of the run of ties that it is in; None: rows in any order.
    """

    result: Result
    runs: tuple[int, ...] | None
    take: int

    @classmethod
    def unordered(cls, result: Result) -> Reference:
        """Rows in any order."""
        return cls(result, None, len(result.rows))

    @classmethod
    def in_order(cls, result: Result) -> Reference:
        """Rows in this order and no other."""
        return cls(result, tuple(range(len(result.rows))), len(result.rows))

    @classmethod
    def by_keys(cls, result: Result, keys: Sequence[int], added: int, most: int | None) -> Reference:
        """Rows in the order of their keys, as `engine.judge.result_equivalence.WithKeys` has them."""
        runs: list[int] = []
        before = None
        for place, row in enumerate(_normal(result)):
            key = tuple(row[each] for each in keys)
            runs.append(runs[-1] if key == before else place)
            before = key
        width = len(result.columns) - added
        own = replace(result, columns=result.columns[:width], rows=tuple(row[:width] for row in result.rows))
        return cls(own, tuple(runs), len(runs) if most is None else min(most, len(runs)))


def same_result(right: Reference, other: Result) -> bool:
    """Whether `other` holds the rows of `right`; False where a row cap cut either."""
    if right.result.truncated or other.truncated:
        return False
    width = len(right.result.columns)
    if width != len(other.columns) or len(other.rows) != right.take:
        return False
    wanted, found = _normal(right.result), _normal(other)
    if _equal(wanted, found, right.runs):
        return True
    return any(
        _equal(wanted, [tuple(row[i] for i in order) for row in found], right.runs)
        for order in _orders(wanted, found, width)
    )


def _equal(wanted: list[Row], found: list[Row], runs: tuple[int, ...] | None) -> bool:
    """Whether `found` has the runs of `wanted` in turn, of the last one perhaps only some."""
    if runs is None:
        return Counter(wanted) == Counter(found)
    start = 0
    for size in Counter(runs).values():
        some = found[start : start + size]
        if not Counter(some) <= Counter(wanted[start : start + size]):
            return False
        start += size
    return True


def _orders(wanted: list[Row], found: list[Row], width: int) -> list[tuple[int, ...]]:
    """Orders of the columns of `found` in which the values of each are, as a multiset, among those of `wanted`."""
    mine = [Counter(row[i] for row in wanted) for i in range(width)]
    other = [Counter(row[i] for row in found) for i in range(width)]
    held = [[column <= each for column in other] for each in mine]
    if not all(map(any, held)):
        return []
    tried = islice(permutations(range(width)), _MOST_ORDERS)
    return [order for order in tried if all(held[i][j] for i, j in enumerate(order))]


def _normal(result: Result) -> list[Row]:
    kinds = [kind for _, kind in result.columns]
    return [tuple(_value(v, kind) for v, kind in zip(row, kinds, strict=True)) for row in result.rows]


def _value(value: str | None, kind: str) -> str | None:
    if value is None:
        return None
    if kind.startswith(_NUMERIC):
        return _number(value)
    if kind.startswith(_TIME):
        return f"t{value.removesuffix(' 00:00:00')}"
    return f"'{value}"


def _number(value: str) -> str:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return value
    if not number.is_finite():
        return str(number)
    if number == 0:
        return "0"
    whole = number == number.to_integral_value()
    return format(number.normalize(), "f") if whole else format(float(number), f".{_DIGITS}g")
