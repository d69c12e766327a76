"""Intervals that hold the values of expressions over constants.

Owns interval arithmetic and the reading of literals: numbers, dates and intervals, the last two in seconds. A value
that depends on data lies between minus and plus infinity. A bound may be wider than the value's true range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

_DAY = 86_400.0
_UNITS = {
    name: seconds
    for seconds, names in {
        1e-6: "microsecond us usec",
        1e-3: "millisecond ms msec",
        1.0: "second sec s",
        60.0: "minute min m",
        3_600.0: "hour hr h",
        _DAY: "day d",
        7 * _DAY: "week w",
        30 * _DAY: "month mon",
        365 * _DAY: "year y",
        3_650 * _DAY: "decade",
        36_500 * _DAY: "century centurie",
    }.items()
    for name in names.split()
}
"""Singular → seconds (docs 8.5.4); approximate, since they only bound the rows of a series."""

_SPAN = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+?)s?\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])[\d_.]++(?:e[+-]?(\d++))?(?!\w)", re.IGNORECASE)
_CLOCK = re.compile(r"\s*([+-]?)(\d+):(\d+)(?::(\d+(?:\.\d+)?))?\s*")
_NOW = 1.8e9
"""Stands for the clock, in seconds since 1970: years more or less do not matter to the bound of a series."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A value's limits; `time`: they are seconds, since 1970 or of a duration."""

    low: float = -math.inf
    high: float = math.inf
    time: bool = False

    @property
    def size(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))


UNKNOWN = Bound()
NOW = Bound(_NOW, _NOW, time=True)


def exactly(value: float, *, time: bool = False) -> Bound:
    """The bound of a value that is known."""
    return Bound(value, value, time)


def literal(text: str) -> Bound:
    """A string as a number, a date or an interval; infinite for `infinity`; unknown for anything else."""
    text = text.strip()
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        return _date(text) or _span(text) or UNKNOWN
    return UNKNOWN if math.isnan(number) else exactly(number)


def written_digits(text: str) -> float:
    """Digits of the longest number that is written in `text`: 1e-9000 has 9,000 behind its point."""
    found = _NUMBER.finditer(text)
    return max((number.end() - number.start() + float(number[1] or 0) for number in found), default=0.0)


def _date(text: str) -> Bound | None:
    if text.lower() in {"now", "today", "yesterday", "tomorrow"}:
        return NOW
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return exactly((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), time=True)


def _span(text: str) -> Bound | None:
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        sign, hours, minutes, seconds = clock.groups()
        total = int(hours) * 3600.0 + int(minutes) * 60.0 + float(seconds or 0)
        return exactly(-total if sign == "-" else total, time=True)
    total, at = 0.0, 0
    while (part := _SPAN.match(text, at)) is not None:
        unit = _UNITS.get(part[2].lower())
        if unit is None:
            return None
        total, at = total + float(part[1]) * unit, part.end()
    return exactly(total, time=True) if at and not text[at:].strip() else None


def hull(bounds: Iterable[Bound]) -> Bound:
    """The smallest bound that contains all `bounds`; unknown where there are none."""
    return _extreme(bounds, min, max)


def least(bounds: Iterable[Bound]) -> Bound:
    """The limits of LEAST."""
    return _extreme(bounds, min, min)


def greatest(bounds: Iterable[Bound]) -> Bound:
    """The limits of GREATEST."""
    return _extreme(bounds, max, max)


def _extreme(bounds: Iterable[Bound], low: Callable[..., float], high: Callable[..., float]) -> Bound:
    found = list(bounds)
    if not found:
        return UNKNOWN
    return Bound(low(b.low for b in found), high(b.high for b in found), any(b.time for b in found))


def add(one: Bound, other: Bound) -> Bound:
    """A sum; a plain number beside a time counts days, as `date + 7` does."""
    one, other = _alike(one, other)
    return _bound((one.low + other.low, one.high + other.high), time=one.time)


def subtract(one: Bound, other: Bound) -> Bound:
    """A difference."""
    return add(one, Bound(-other.high, -other.low, other.time))


def multiply(one: Bound, other: Bound) -> Bound:
    """A product."""
    return _corners(one, other, lambda a, b: a * b if a and b else 0.0)


def divide(one: Bound, other: Bound) -> Bound:
    """A quotient; unknown where the divisor may be near zero."""
    if other.low <= 0 <= other.high:
        return UNKNOWN
    return _corners(one, other, lambda a, b: a / b)


def power(one: Bound, other: Bound) -> Bound:
    """A power; a base that may be negative gives either sign."""
    corners = _corners(Bound(0.0, one.size), other, _power)
    return Bound(-corners.high if one.low < 0 else corners.low, corners.high)


def modulo(one: Bound, other: Bound) -> Bound:
    """A remainder."""
    size = min(one.size, other.size)
    return Bound(-size if one.low < 0 else 0.0, size)


def digits(base: Bound, exponent: Bound) -> float:
    """Decimal digits of a power of constants; 0 where one of them is none."""
    if math.isinf(base.size) or math.isinf(exponent.size):
        return 0.0
    return exponent.size * max(1.0, abs(math.log10(base.size))) if base.size else 0.0


def steps(start: Bound, stop: Bound, step: Bound) -> float:
    """How many values a series has; infinite where one of the three is unknown."""
    span = subtract(stop, start)
    each = _alike(span, step)[1]
    smallest = min(abs(each.low), abs(each.high)) if each.low * each.high > 0 else 0.0
    width = max(span.high, -span.low) if step.low < 0 else span.high
    if width < 0:
        return 0.0
    return math.inf if math.isinf(width) or not smallest else width / smallest + 1


def _alike(one: Bound, other: Bound) -> tuple[Bound, Bound]:
    if one.time == other.time:
        return one, other
    return _as_time(one), _as_time(other)


def _as_time(bound: Bound) -> Bound:
    return bound if bound.time else Bound(bound.low * _DAY, bound.high * _DAY, time=True)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return math.inf


def _corners(one: Bound, other: Bound, of: Callable[[float, float], float]) -> Bound:
    values = [of(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    return _bound((min(values), max(values)), time=one.time or other.time, all_of=values)


def _bound(limits: tuple[float, float], *, time: bool, all_of: Iterable[float] = ()) -> Bound:
    if any(math.isnan(value) for value in (*limits, *all_of)):
        return Bound(time=time)
    return Bound(*limits, time)
