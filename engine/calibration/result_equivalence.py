"""Execution accuracy: whether two statements have the same result.

Rows are a multiset, or a list where the known statement orders them; columns may come in any order; numbers agree to
seven digits, and a timestamp at midnight is its date. Text is never a number.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, InvalidOperation
from itertools import islice, permutations

import sqlglot
from sqlglot import exp

from engine.core.ports import Result

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


def same_result(right: Result, other: Result, *, in_order: bool) -> bool:
    """Whether `other` holds the rows of `right`; False where a row cap cut either."""
    if right.truncated or other.truncated:
        return False
    if len(right.columns) != len(other.columns) or len(right.rows) != len(other.rows):
        return False
    wanted, found = _normal(right), _normal(other)
    if _equal(wanted, found, in_order=in_order):
        return True
    orders = _orders(wanted, found, len(right.columns))
    return any(
        _equal(wanted, [tuple(row[i] for i in order) for row in found], in_order=in_order) for order in orders
    )


def _equal(left: list[Row], right: list[Row], *, in_order: bool) -> bool:
    return left == right if in_order else Counter(left) == Counter(right)


def _orders(wanted: list[Row], found: list[Row], width: int) -> list[tuple[int, ...]]:
    """Orders of the columns of `found` in which each column has the same multiset of values as that of `wanted`."""
    mine = [Counter(row[i] for row in wanted) for i in range(width)]
    other = [Counter(row[i] for row in found) for i in range(width)]
    if Counter(map(_key, mine)) != Counter(map(_key, other)):
        return []
    tried = islice(permutations(range(width)), _MOST_ORDERS)
    return [order for order in tried if all(mine[i] == other[j] for i, j in enumerate(order))]


def _key(column: Counter[str | None]) -> frozenset[tuple[str | None, int]]:
    return frozenset(column.items())


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
