"""The numbers that a question says, and those of them that a statement does without.

Of Spider's training questions 1,728 say one; the known statements of 11 of them leave one out,
most of which say another one instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

_SAID = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")

_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
"""From 2 on. "One" is seldom a number."""

_SAID_IN_WORDS = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)

_UNITS = (1.0, 1e3, 1e6, 1e9, 0.01)
"""What a number may be counted in: "1.5 million", "20 %"."""

_PLACES = 6
"""Behind the point, in which numbers are compared."""


def numbers_not_used(question: str, tree: exp.Expr, names: Iterable[str]) -> list[str]:
    """The numbers of `question`, as they stand there, that are in no literal of `tree` and in no name that it reads.

    `names`: of its columns and tables. A whole number is used as well by its neighbours: "at least 3" is `> 2`.
    """
    texts = (*(literal.this for literal in tree.find_all(exp.Literal)), *names)
    used = {round(float(digits), _PLACES) for text in texts for digits in _DIGITS.findall(text)}
    return [said for said, number in _said(question) if not used & set(_alike(number))]


def _said(question: str) -> Iterator[tuple[str, float]]:
    for found in _SAID.finditer(question):
        yield found.group(), float(found.group().replace(",", ""))
    for found in _SAID_IN_WORDS.finditer(question):
        yield found.group(), float(_WORDS.index(found.group().lower()) + 2)


def _alike(number: float) -> Iterator[float]:
    yield from (round(number * unit, _PLACES) for unit in _UNITS)
    if number.is_integer():
        yield from (number - 1, number + 1)
