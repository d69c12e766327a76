"""The periods that a question says, half-open: "in 2000", "after Q1 2023", "last month", "year to date".

Owns what people mean by such words, read from the words and the day on which they are said. What a statement covers is
`engine.findings.rules.coverage`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum, StrEnum, auto

from engine.question.numerals import MONTH, NUMBER, NUMBERS, month_number
from schema_catalog.words import identifier_words


class Grain(StrEnum):
    """A length of time that rows are put together by."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class Side(Enum):
    """Which days the word before a period means."""

    WITHIN = auto()
    AFTER = auto()
    SINCE = auto()
    BEFORE = auto()
    UNTIL = auto()


@dataclass(frozen=True, slots=True)
class Period:
    """From the day `start` to the day before `end`; `text`: as the question says it.

    `relative`: to the day on which it is asked. `slack`: days by which others put its first day earlier or later.
    """

    text: str
    start: date
    end: date
    side: Side = Side.WITHIN
    relative: bool = False
    slack: int = 0

    def __contains__(self, day: date) -> bool:
        """Whether the day is one of its."""
        return self.start <= day < self.end

    @property
    def bounds(self) -> tuple[date | None, date | None]:
        """The first day that is meant, and the first behind it."""
        return {
            Side.WITHIN: (self.start, self.end),
            Side.SINCE: (self.start, None),
            Side.AFTER: (self.end, None),
            Side.UNTIL: (None, self.end),
            Side.BEFORE: (None, self.start),
        }[self.side]

    @property
    def words(self) -> str:
        """The bounds in words."""
        return span_words(*self.bounds)


def span_words(first: date | None, behind: date | None) -> str:
    """A span of time in words: `from 2026-10-01 to before 2026-11-01`."""
    start = [f"from {first}"] if first else []
    return " ".join(
        [*start, f"to before {behind}" if start else f"before {behind}"] if behind else [*start, "on"]
    )


_SIDES = {
    Side.AFTER: ("after", "past", "following", "later than", "newer than"),
    Side.SINCE: ("since", "starting", "starting in", "as of"),
    Side.BEFORE: ("before", "prior to", "earlier than", "older than", "preceding"),
    Side.UNTIL: ("until", "till", "through", "to", "up to"),
}

_WORDS = {word: side for side, words in _SIDES.items() for word in words}

_SIDE = "|".join(re.escape(word) for word in sorted(_WORDS, key=len, reverse=True))

_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}

_NAME = rf"(?P<month>{MONTH})\.?"
_DAY = r"(?:[012]?\d|3[01])(?:st|nd|rd|th)?"

_UNIT, _LAST = "(?:week|month|quarter|year)", "(?:last|past|previous)"

_RELATIVE = re.compile(
    rf"""(?<![\w-])(?:(?P<side>{_SIDE})\s+|(?P<lead>in|during|over|within|for|of|by|than|from)\s+)?(?P<the>the\s+)?(?:
        same\s+(?P<same>{_UNIT})\s+(?:(?:a|one)\s+year\s+(?:ago|before|earlier)|(?:of\s+)?(?:the\s+)?{_LAST}\s+year)
      | this\s+(?P<again>{_UNIT})\s+last\s+year
      | (?P<begun>{_UNIT})[ -]to[ -]date | (?P<letter>[ymqw])td
      | (?:this|current)\s+(?P<this>{_UNIT})
      | {_LAST}\s+(?P<count>\d{{1,3}}|{NUMBER})\s+(?P<counted>day|{_UNIT})s
      | {_LAST}\s+(?P<last>{_UNIT})
      | next\s+(?P<next>{_UNIT})
      | (?P<today>today|yesterday)
      | (?P<weekday>mon|tues|wednes|thurs|fri|satur|sun)day
      | (?P<earlier>last\s+)?{_NAME}(?!\s+(?:{_DAY}\b|of\b))
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)

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


def shortest(periods: Iterable[Period], day: date | None) -> Period | None:
    """The shortest of some periods that hold a day."""
    found = [each for each in periods if day is not None and day in each]
    return min(found, key=lambda each: each.end - each.start, default=None)


def periods_in(text: str) -> tuple[Period, ...]:
    """Those with a year, in order; days that are named are none."""
    return tuple(_named(text))


def _named(text: str) -> Iterator[Period]:
    for match in _PERIOD.finditer(text):
        if match["day"] or match["of_month"]:
            continue
        year, side = int(match["year"]), _WORDS.get((match["side"] or "").lower(), Side.WITHIN)
        first, months = 1, 12
        if match["month"]:
            first, months = month_number(match["month"]), 1
        elif quarter := match["quarter"] or _ORDINALS.get((match["ordinal"] or "").lower()):
            first, months = 3 * int(quarter) - 2, 3
        start = date(year, first, 1)
        yield Period(match[0], start, months_after(start, months), side)


def relative_periods(text: str, today: date) -> Iterator[Period]:
    """Those relative to `today`. A week begins on Monday.

    A month without a year is the last one that has begun. "In the last month" are the days behind today, "last month"
    is the month before this one.
    """
    rest = _PERIOD.sub(lambda match: "," * len(match[0]), text)
    return filter(None, (_relative(match, today) for match in _RELATIVE.finditer(rest)))


def _relative(match: re.Match[str], today: date) -> Period | None:
    side, lead = _WORDS.get((match["side"] or "").lower(), Side.WITHIN), (match["lead"] or "").lower()
    behind = match["the"] and "previous" not in match[0].lower()
    rolled = match["counted"] or (match["last"] if behind else None)
    if rolled and (match["count"] or lead):
        count, unit = match["count"] or "1", Grain(rolled.lower())
        number = int(count) if count.isdigit() else NUMBERS[count.lower()]
        start, end = shifted(today, unit, -number), shifted(today, Grain.DAY, 1)
        slack = (shifted(today, unit, 1) - today).days
    elif bounds := _whole(match, today, lead) if not rolled else None:
        (start, end), slack = bounds, 0
    else:
        return None
    text = match[0].removeprefix(match["lead"] or "").strip()
    return Period(text, start, end, side, relative=True, slack=slack)


def _whole(match: re.Match[str], today: date, lead: str) -> tuple[date, date] | None:
    """From the first day to the one behind; None where the words are no period here."""
    tomorrow = shifted(today, Grain.DAY, 1)
    if match["today"]:
        start = today if match["today"].lower() == "today" else shifted(today, Grain.DAY, -1)
        ends = lead in {"by", "than", "from"} or (match["side"] or "").lower() == "as of"
        return None if ends else (start, shifted(start, Grain.DAY, 1))
    if match["weekday"]:
        days = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun").index(match["weekday"].lower())
        since = shifted(today, Grain.DAY, -((today.weekday() - days) % 7))
        return (since, tomorrow) if (match["side"] or "").lower() == "since" else None
    if match["month"]:
        if not (match["side"] or match["earlier"] or lead in {"in", "during", "of"}):
            return None
        month = month_number(match["month"])
        start = date(today.year - (month > today.month - bool(match["earlier"])), month, 1)
        return start, months_after(start, 1)
    if begun := match["begun"] or match["letter"]:
        return first_of(next(each for each in Grain if each.value[0] == begun[0].lower()), today), tomorrow
    again = match["same"] or match["again"]
    unit = Grain((again or match["this"] or match["last"] or match["next"]).lower())
    start = first_of(unit, shifted(today, Grain.YEAR, -1) if again else today)
    start = shifted(start, unit, bool(match["next"]) - bool(match["last"]))
    return start, shifted(start, unit, 1)


def first_of(unit: Grain, day: date) -> date:
    """The first day of the week, month, quarter or year that holds `day`; the day itself for shorter units."""
    if unit is Grain.WEEK:
        return day - timedelta(days=day.weekday())
    months = {Grain.MONTH: day.month, Grain.QUARTER: 3 * ((day.month - 1) // 3) + 1, Grain.YEAR: 1}
    return date(day.year, months[unit], 1) if unit in months else day


def named_grain(column: str) -> Grain | None:
    """The length of time that a column's name says: `revenue_month` holds the first days of months."""
    words = identifier_words(column)
    return next((each for each in (Grain.WEEK, *_MONTHS_OF) if each.value in words), None)


_MONTHS_OF = {Grain.MONTH: 1, Grain.QUARTER: 3, Grain.YEAR: 12}


def shifted(day: date, unit: Grain, count: int) -> date:
    """So many units later; the last day of a month that is too short. Raises `ValueError`, `OverflowError`."""
    if unit not in _MONTHS_OF:
        return day + timedelta(days=count * (7 if unit is Grain.WEEK else 1))
    first = months_after(day, count * _MONTHS_OF[unit])
    return min(first + timedelta(days=day.day - 1), months_after(first, 1) - timedelta(days=1))


def months_after(first: date, months: int) -> date:
    """The first day of a month `months` after that of the day `first`; raises `ValueError` behind the year 9999."""
    after = 12 * first.year + first.month - 1 + months
    return date(after // 12, after % 12 + 1, 1)
