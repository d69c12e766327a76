"""The vocabulary of `engine.guard.growth`: the measure of one node, and the growths found so far.

Owns these values and the walk over a node's parts. The rules that measure a node are in `engine.guard.growth`, those
for calls of functions in `engine.guard.calls`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pglast import ast

from engine.guard.bounds import UNKNOWN, Bound

COLUMN = 32.0
"""Characters that a column's value is taken to have: the statement does not say how many it really has."""


class Quantity(StrEnum):
    """What a growth counts. The limits of each are in `engine.guard.policy`."""

    CHARACTERS = "characters"
    ROWS = "rows"
    GATHERED = "characters gathered from rows"
    PAIRS = "steps"
    DIGITS = "digits"
    FACTORS = "factors"


@dataclass(frozen=True, slots=True)
class Growth:
    """`what` (a function, an operator, a type) produces `amount` of `quantity`; infinite where there is no bound."""

    quantity: Quantity
    what: str
    amount: float


@dataclass(frozen=True, slots=True)
class Measure:
    """Upper bounds for one node: `size` in characters, `value` as a number, `rows` that it returns.

    `gathered`: characters that an aggregate in it keeps for each row.
    """

    size: float = COLUMN
    value: Bound = UNKNOWN
    rows: float = 1.0
    gathered: float = 0.0


_DIGITS = {Quantity.DIGITS: 1, Quantity.FACTORS: 3}
"""Digits that one more of a quantity gives a number."""

_JOINING = frozenset({"||", "concat", "concat_ws"})
"""They make no text that is long where none was."""

_COSTS = dict.fromkeys(("*", "/", "%", "^", "mod", "pow", "power"), 1 / 200) | {"log": 1.0}
"""Operation on two numbers → steps for two digits (numeric.c). log(b, x) divides by the logarithm of `b`, which has as
many zeros as `b` is near to 1; a product takes four digits by four."""

_NUMERIC = ("numeric", "decimal", "to_number")

NOTHING = Measure(size=0.0)


@dataclass(slots=True)
class Evaluation:
    """Measures by the id of their node; `longest` text of the queries done; `rows` of WITH queries by name.

    `digits` of long numbers that are written or are powers; `made`: the longest text that is; `descents`: how often the
    constants hold `**`, which in a path of JSON stands for every level; `named`: types and functions.
    """

    measures: dict[int, Measure] = field(default_factory=dict)
    longest: float = COLUMN
    rows: dict[str, float] = field(default_factory=dict)
    digits: float = 0.0
    made: float = 0.0
    descents: float = 0.0
    named: set[str] = field(default_factory=set)
    found: list[Growth] = field(default_factory=list)

    def of(self, node: object) -> Measure:
        """The measure of `node`; `NOTHING` where it has none."""
        return self.measures.get(id(node), NOTHING)

    def each(self, nodes: Sequence[object] | None) -> list[Measure]:
        """The measures of several nodes."""
        return [self.of(node) for node in nodes or ()]

    def names(self, words: Iterable[str]) -> bool:
        """Whether a type or function that was named holds one of `words`."""
        return any(word in name for word in words for name in self.named)

    def note(self, quantity: Quantity, what: str, amount: float) -> None:
        """Records a growth."""
        self.found.append(Growth(quantity, what, amount))
        if quantity is Quantity.CHARACTERS and what not in _JOINING:
            self.made = max(self.made, amount)
        self.digits += amount * _DIGITS.get(quantity, 0)

    def product(self, what: str, sizes: Iterable[float]) -> None:
        """Records the steps of comparing every part of the longest with every part of the next to it."""
        *_, shorter, longer = [0.0, 0.0, *sorted(sizes)]
        self.note(Quantity.PAIRS, what, shorter * longer)

    def numbers(self, what: str, operands: int) -> None:
        """Records the steps of an operation on the longest numbers, digit by digit."""
        if operands > 1 and what in _COSTS:
            digits = self.digits + (self.made if self.names(_NUMERIC) else 0.0)
            self.note(Quantity.PAIRS, what, digits * digits * _COSTS[what])

    def path(self, what: str, size: float) -> None:
        """Records what a path through `size` characters of JSON finds: each `**` all of it again below everything."""
        if self.descents:
            self.note(Quantity.CHARACTERS, what, size * max(1.0, size / 2) ** min(self.descents, 9.0))

    def text(self, what: str, size: float) -> Measure:
        """Records that `what` produces a text of at most `size` characters; returns its measure."""
        self.note(Quantity.CHARACTERS, what, size)
        return Measure(size)


FIRST = ("withClause", "fromClause", "larg", "rarg")
"""Slots of a SELECT that are read before its expressions, which refer to them."""


_LEAVES = frozenset({ast.String, ast.Integer, ast.Float, ast.Boolean, ast.BitString})
"""Parts of constants and names: read with the node around them."""


@functools.cache
def _slots(kind: str) -> tuple[str, ...]:
    slots = tuple(getattr(ast, kind).__slots__)
    return (*(slot for slot in FIRST if slot in slots), *(slot for slot in slots if slot not in FIRST))


def parts_of(node: Any, without: tuple[str, ...] = ()) -> Iterator[Any]:
    """The nodes directly below, those of the slots `FIRST` before others; without those of the slots `without`."""
    for slot in _slots(type(node).__name__):
        value = getattr(node, slot)
        if value is None or slot in without:
            continue
        if isinstance(value, tuple):
            yield from _listed(value)
        elif isinstance(value, ast.Node) and type(value) not in _LEAVES:
            yield value


def _listed(parts: tuple[Any, ...]) -> Iterator[Any]:
    """The nodes of a list, those of lists in it as well, in order."""
    waiting = list(reversed(parts))
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting.extend(reversed(part))
        elif isinstance(part, ast.Node) and type(part) not in _LEAVES:
            yield part


def most_rows(parts: Sequence[Measure]) -> float:
    """The largest number of rows; 1 for no parts."""
    return max((p.rows for p in parts), default=1.0)


def most_gathered(parts: Sequence[Measure]) -> float:
    """The most characters gathered; 0 for no parts."""
    return max((p.gathered for p in parts), default=0.0)


def one_of(measures: Sequence[Measure], value: Bound) -> Measure:
    """The measure of an expression that returns one of several values: the longest, with `value`."""
    size = max((m.size for m in measures), default=0.0)
    return Measure(size, value, most_rows(measures), most_gathered(measures))
