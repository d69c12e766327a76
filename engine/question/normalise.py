"""Normalised keys of values and of spans: without case, accents, separators, plurals; units by their sign.

Stems are cut by one expression: Snowball's English stemmer is a dependency for four lines less, and tells a visit from
a visitor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from engine.question.numerals import MONTH, month_number
from engine.question.tokens import WORD
from schema_catalog.words import identifier_words, without_accents

_UNITS = dict(
    pair.split(":")
    for pair in """
        kilometre:km kilometer:km metre:m meter:m centimetre:cm centimeter:cm millimetre:mm millimeter:mm mile:mi
        foot:ft feet:ft inch:in kilogram:kg gram:g pound:lb ounce:oz litre:l liter:l gigabyte:gb megabyte:mb hour:h
        minute:min
    """.split()  # noqa: SIM905  a table reads better so
)
"""A unit's name → its sign, where it follows a number: `5 kilometres` is `5 km`."""

_TIME = r"(?:[ T]00:00(?::00(?:\.0+)?)?)?"
_DATE = re.compile(
    rf"""
      (?P<y1>\d{{4}})[-/.](?P<m1>\d{{1,2}})[-/.](?P<d1>\d{{1,2}}){_TIME}
    | (?P<n2>{MONTH})\.?\ (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\ (?P<y2>\d{{4}})
    | (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:\ of)?[\ -](?P<n3>{MONTH})\.?,?[\ -](?P<y3>\d{{4}})
    | (?P<n4>{MONTH})\.?(?:\ of)?,?\ (?P<y4>\d{{4}})
    | (?P<a5>\d{{1,2}})[/.](?P<b5>\d{{1,2}})[/.](?P<y5>\d{{4}}){_TIME}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LAST_MONTH = 12
_STEM = 3
_INITIALS = range(2, 6)
"""Words of a name that has initials."""

_ENDING = re.compile(r"(?:ations?|ions?|ings?|ments?|ness|ers?|ors?|ed|es|ly|al|e|s|y)$")
_LEFT = 4
"""Letters of a stem, at least."""

_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:[.][0-9]+)?")
_MARK = re.compile(r"[0-9]+|[+#*<>=%$]|-$")

OPPOSITES = frozenset({"un", "in", "im", "il", "ir", "dis", "non", "fe"})
"""Beginnings that make a word another one: Satisfied is no spelling of Unsatisfied."""


def words(text: str) -> list[str]:
    """The words of `text` without case and accents, in order."""
    return WORD.findall((text if text.isascii() else without_accents(text)).casefold())


def key(text: str) -> str:
    """The key of `text`: equal for its spellings; empty where it has no letter or digit."""
    parts = words(text)
    if not parts:
        return ""
    last = _singular(parts[-1])
    if len(parts) > 1 and parts[-2].isdigit():
        last = _UNITS.get(last, last)
    return "".join(parts[:-1]) + last


def initials(text: str) -> str | None:
    """The first letters of a name of several words: `us` of `United States`."""
    parts = text.split()
    if len(parts) not in _INITIALS or not all(part[0].isupper() or len(part) < _STEM for part in parts):
        return None
    return key("".join(part[0] for part in parts if part[0].isupper())) or None


def dates(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(key, (start, end)) of the dates written in `text`: days as `2013-05-14`, months as `2013-05`.

    Of `5/14/2013` the number over 12 is the day; where both may be the month, the first is.
    """
    for found in _DATE.finditer(text):
        before, after = text[: found.start()][-1:], text[found.end() :][:1]
        day = _day(found)
        if day is not None and not (before.isalnum() or after.isalnum()):
            yield day, found.span()


def date_key(text: str) -> str | None:
    """The key of a value that is a date; None for any other."""
    found = _DATE.fullmatch(text.strip())
    return None if found is None else _day(found)


@lru_cache(maxsize=65_536)
def _singular(word: str) -> str:
    # "goalies" loses more than "goalie" would: both end alike here.
    bare = "".join(identifier_words(word)) or word
    return f"{bare[:-2]}y" if len(bare) > _STEM and bare.endswith("ie") else bare


def _day(found: re.Match[str]) -> str | None:
    parts = {name[0]: value for name, value in found.groupdict().items() if value is not None}
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        month, day = (second, first) if first > _LAST_MONTH else (first, second)
    else:
        month = month_number(parts["n"]) if "n" in parts else int(parts["m"])
        day = int(parts.get("d", 0))
    if not 1 <= month <= _LAST_MONTH or day > 31:  # noqa: PLR2004  no month is longer
        return None
    return f"{parts['y']}-{month:02}" + (f"-{day:02}" if day else "")


def stems(text: str) -> list[str]:
    """Of the words, in order."""
    return [_stem(word) for word in words(text)]


def _stem(word: str) -> str:
    while len(shorter := _ENDING.sub("", word)) >= _LEFT and shorter != word:
        word = shorter
    return word[:-1] if len(word) > _LEFT and word[-1:] == word[-2:-1] else word


def number_key(text: str) -> Decimal | None:
    """The number that a text is, thousands in groups or not; None of any other."""
    if _NUMBER.fullmatch(text.strip()) is None:
        return None
    try:
        return Decimal(text.strip().replace(",", ""))
    except InvalidOperation:
        return None


def same_marks(text: str, other: str) -> bool:
    """Whether their digits and signs agree: `AA123` is no misspelling of `AA124`, nor `B` of `B+`."""
    return _MARK.findall(text) == _MARK.findall(other)
