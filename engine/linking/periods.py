"""The periods that a question names: "in 2000", "since December 2024", "after Q1 2023". Read from its words alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto


class Side(Enum):
    """Which days the word before a period means."""

    WITHIN = auto()
    AFTER = auto()
    SINCE = auto()
    BEFORE = auto()
    UNTIL = auto()


@dataclass(frozen=True, slots=True)
class Period:
    """From the day `start` to the day before `end`; `text`: as the question says it."""

    text: str
    start: date
    end: date
    side: Side = Side.WITHIN

    def __contains__(self, day: date) -> bool:
        """Whether the day is one of its."""
        return self.start <= day < self.end


_SIDES = {
    Side.AFTER: ("after", "past", "following", "later than", "newer than"),
    Side.SINCE: ("since", "starting", "starting in", "as of"),
    Side.BEFORE: ("before", "prior to", "earlier than", "older than", "preceding"),
    Side.UNTIL: ("until", "till", "through", "to", "up to"),
}

_WORDS = {word: side for side, words in _SIDES.items() for word in words}

_SIDE = "|".join(re.escape(word) for word in sorted(_WORDS, key=len, reverse=True))

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}

_NAME = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?:[012]?\d|3[01])(?:st|nd|rd|th)?"

_PERIOD = re.compile(
    rf"""(?<![\w.,/-])
    (?:(?P<side>{_SIDE})\s+(?:the\s+)?(?:year\s+)?)?
    (?P<day>{_DAY}\s+(?:of\s+)?(?=[a-z]))?
    (?:{_NAME},?\s+(?P<of_month>{_DAY},?\s+)?(?:of\s+)?
      |q(?P<quarter>[1-4])\s+(?:of\s+)?
      |(?P<ordinal>{"|".join(_ORDINALS)})\s+quarter\s+(?:of\s+)?)?
    (?P<year>1\d{{3}}|2\d{{3}})(?![\w%/-]|[.,:]\d)""",
    re.VERBOSE | re.IGNORECASE,
)


def named_periods(question: str) -> tuple[Period, ...]:
    """In order; days that are named are none."""
    return tuple(_found(question))


def _found(question: str) -> Iterator[Period]:
    for match in _PERIOD.finditer(question):
        if match["day"] or match["of_month"]:
            continue
        year, side = int(match["year"]), _WORDS.get((match["side"] or "").lower(), Side.WITHIN)
        first, months = 1, 12
        if match["month"]:
            first, months = _MONTHS.index(match["month"][:3].lower()) + 1, 1
        elif quarter := match["quarter"] or _ORDINALS.get((match["ordinal"] or "").lower()):
            first, months = 3 * int(quarter) - 2, 3
        start = date(year, first, 1)
        yield Period(match[0], start, months_after(start, months), side)


def months_after(first: date, months: int) -> date:
    """The first day of a month `months` after that of the day `first`; raises `ValueError` behind the year 9999."""
    after = 12 * first.year + first.month - 1 + months
    return date(after // 12, after % 12 + 1, 1)
