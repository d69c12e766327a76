"""Lints about conditions that leave no choice: a column beside itself, bounds that meet or cross, no value that passes.

Each speaks of the parts of one WHERE that all have to hold, and of literals alone. What cannot be read passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from engine.findings.lint import Context
from engine.question.question import Question
from engine.statement.read import Draft
from engine.statement.scope import Scopes, tests_of
from engine.values import wording
from schema_catalog.types import Column, ColumnKey

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)

_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)

_Test = Callable[[str], bool]
"""Whether a value passes."""


@dataclass(frozen=True, slots=True)
class _Bound:
    value: Decimal
    included: bool


def no_choice(statement: Draft, context: Context) -> Iterator[str]:
    """In words, the columns beside themselves, and those of which the conditions leave one value, or none."""
    scopes = statement.scopes
    for node in statement.tree.find_all(*_COMPARED, exp.Sub):
        place = scopes.place(node.left)
        if place is not None and place == scopes.place(node.right):
            said = wording.SUBTRACTS_ITSELF if isinstance(node, exp.Sub) else wording.COMPARES_ITSELF
            yield said.format(node.left.sql(dialect="postgres"))
    lists = {each.column: each.values for each in context.lists}
    for select in statement.tree.find_all(exp.Select):
        for column, tests in _tested(tests_of(select), scopes):
            none = _bounded(column, tests, scopes, context.question)
            if none := none or _of_known(column, tests, scopes, lists):
                yield none


def _tested(tests: Sequence[exp.Expr], scopes: Scopes) -> Iterator[tuple[exp.Column, Sequence[exp.Expr]]]:
    """The columns that tests speak of, one alone in each, and these tests."""
    found: dict[tuple[str, str], list[exp.Expr]] = {}
    first: dict[tuple[str, str], exp.Column] = {}
    for test in tests:
        columns = list(test.find_all(exp.Column))
        place = scopes.place(columns[0]) if len(columns) == 1 else None
        if place is not None and test.find(exp.Query) is None:
            found.setdefault(place, []).append(test.unnest())
            first.setdefault(place, columns[0])
    return ((first[place], each) for place, each in found.items())


def _bounded(column: exp.Column, tests: Sequence[exp.Expr], scopes: Scopes, question: Question) -> str | None:
    """What two bounds that meet or cross say; None of what is meant: a date's whole day, a number of the question."""
    kind = scopes.type_of(column)
    bounds = [found for each in tests if (found := _bounds(each, kind)) is not None]
    low = max(
        (each for each, _ in bounds if each), key=lambda each: (each.value, not each.included), default=None
    )
    high = min(
        (each for _, each in bounds if each), key=lambda each: (each.value, each.included), default=None
    )
    if low is None or high is None or low.value < high.value:
        return None
    name = column.sql(dialect="postgres")
    if low.value > high.value or not (low.included and high.included):
        return wording.NO_VALUE_FITS.format(name)
    meant = kind == "date" or any(isinstance(each, exp.EQ) for each in tests)
    meant = meant or any(low.value == Decimal(str(number)) for _, number in question.numbers)
    return None if meant else wording.ONE_VALUE_FITS.format(name)


def _bounds(test: exp.Expr, kind: str) -> tuple[_Bound | None, _Bound | None] | None:
    """The lowest and the highest value that pass a test of a column itself; None where it cannot be read."""
    if not isinstance(test.this, exp.Column):
        return None
    if isinstance(test, exp.Between):
        if test.args.get("symmetric"):
            return None
        low, high = _value(test.args["low"], kind), _value(test.args["high"], kind)
        return (_Bound(low, True), _Bound(high, True)) if low is not None and high is not None else None  # noqa: FBT003
    value = _value(test.expression, kind) if isinstance(test, _COMPARED) else None
    if value is None or isinstance(test, exp.NEQ):
        return None
    bound = _Bound(value, isinstance(test, exp.EQ | exp.GTE | exp.LTE))
    return (
        bound if isinstance(test, exp.EQ | exp.GT | exp.GTE) else None,
        bound if isinstance(test, exp.EQ | exp.LT | exp.LTE) else None,
    )


def _value(node: exp.Expr, kind: str) -> Decimal | None:
    """A literal as a number, a moment beside a column of moments in microseconds; None for anything else."""
    literal = node.this if isinstance(node, exp.Cast) else node
    if not isinstance(literal, exp.Literal):
        return None
    try:
        if kind == "date" or kind.startswith("timestamp"):
            moment = datetime.fromisoformat(literal.name)
            # One with a zone of its own stands beside others of the session's, which is not known here.
            if moment.tzinfo is not None:
                return None
            return Decimal((moment.replace(tzinfo=UTC) - _YEAR_ONE) // timedelta(microseconds=1))
        return None if literal.is_string else Decimal(literal.name)
    except (ValueError, InvalidOperation):
        return None


def _of_known(
    column: exp.Column,
    tests: Sequence[exp.Expr],
    scopes: Scopes,
    lists: Mapping[ColumnKey, Sequence[str]],
) -> str | None:
    """That no known value passes, where all are known; None where a text is tested for that nobody stored.

    Such a text is looked for in the data, and told by itself.
    """
    stored, key = scopes.stored(column), scopes.key(column)
    known = () if stored is None or key is None else stored.labels or lists.get(key, ())
    passes = [test for each in tests if (test := _passes(each)) is not None]
    # The texts of a citext are equal in any case.
    if (
        not known
        or not passes
        or stored is None
        or stored.type == "citext"
        or _is_sought(tests, known, stored)
    ):
        return None
    left = [value for value in known if all(test(value) for test in passes)]
    return None if left else wording.NO_KNOWN_VALUE_FITS.format(column.sql(dialect="postgres"))


def _is_sought(tests: Sequence[exp.Expr], known: Sequence[str], stored: Column) -> bool:
    """Whether a text that is none of the known ones is looked for as it is."""
    if not stored.type.startswith(("text", "char")):
        return False
    plain = (
        each for each in tests if isinstance(each, exp.EQ | exp.In) and isinstance(each.this, exp.Column)
    )
    return any(texts is not None and not set(texts) & set(known) for texts in map(_texts, plain))


def _passes(test: exp.Expr) -> _Test | None:
    """None where it cannot be read."""
    if isinstance(test, exp.Not):
        inner = _passes(test.this.unnest())
        return None if inner is None else lambda value: not inner(value)
    fold = _fold(test.this) if isinstance(test, exp.EQ | exp.NEQ | exp.In | exp.Like | exp.ILike) else None
    texts = None if fold is None else _texts(test)
    if fold is None or not texts:
        return None
    if isinstance(test, exp.Like | exp.ILike):
        if "\\" in texts[0]:
            return None
        pattern = _pattern(texts[0], any_case=isinstance(test, exp.ILike))
        denied = bool(test.args.get("negate"))
        return lambda value: (pattern.fullmatch(fold(value)) is not None) is not denied
    denied = isinstance(test, exp.NEQ)
    return lambda value: (fold(value) in texts) is not denied


def _texts(test: exp.Expr) -> list[str] | None:
    """The literals that a test compares with; None where there are others beside."""
    given = test.expressions if isinstance(test, exp.In) else [test.expression]
    plain = [each.this if isinstance(each, exp.Cast) else each for each in given]
    return [each.name for each in plain] if all(isinstance(each, exp.Literal) for each in plain) else None


def _fold(compared: exp.Expr) -> Callable[[str], str] | None:
    """What is done to a column before it is compared; None where that is not known."""
    if isinstance(compared, exp.Column):
        return str
    folds: dict[type[exp.Expr], Callable[[str], str]] = {exp.Lower: str.lower, exp.Upper: str.upper}
    fold = folds.get(type(compared))
    return fold if fold is not None and isinstance(compared.this, exp.Column) else None


def _pattern(like: str, *, any_case: bool) -> re.Pattern[str]:
    """A pattern of LIKE without escapes (docs 9.7.1)."""
    parts = {"%": ".*", "_": "."}
    written = "".join(parts.get(each) or re.escape(each) for each in like)
    return re.compile(written, re.DOTALL | (re.IGNORECASE if any_case else re.NOFLAG))
