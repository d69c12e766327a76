"""Whether the first rows of a statement's result can be those of a known result.

Columns may come in any order; numbers agree to seven digits, and a timestamp at midnight is its date. Without types,
what can be read as a number is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice, permutations

from engine.values.candidate import Preview

Cell = str | None
Row = tuple[Cell, ...]

MOST_ORDERS = 5_040
"""Column orders tried at most: all of seven columns."""

_DIGITS = 7


def fits(preview: Preview, rows: Sequence[Row], *, ordered: bool) -> bool:
    """Whether a result that begins with `preview` may be `rows`, in that order where they are `ordered`.

    A preview that shows everything must have as many rows.
    """
    if rows and len(preview.columns) != len(rows[0]):
        return False
    if len(preview.rows) > len(rows) or preview.more == (len(preview.rows) == len(rows)):
        return False
    known, shown = _normal(rows), _normal(preview.rows)
    orders = islice(permutations(range(len(preview.columns))), MOST_ORDERS)
    return any(_begins(known, [tuple(row[i] for i in order) for row in shown], ordered) for order in orders)


def _begins(known: list[Row], shown: list[Row], ordered: bool) -> bool:  # noqa: FBT001 - private
    return known[: len(shown)] == shown if ordered else Counter(shown) <= Counter(known)


def _normal(rows: Sequence[Row]) -> list[Row]:
    return [tuple(map(_cell, row)) for row in rows]


def _cell(text: Cell) -> Cell:
    if text is None:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text.removesuffix(" 00:00:00")
    if not number.is_finite():
        return text
    whole = number == number.to_integral_value()
    return format(number.to_integral_value() + 0, "f") if whole else format(float(number), f".{_DIGITS}g")
