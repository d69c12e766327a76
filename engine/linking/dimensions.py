"""What a question says of time and of parts: its periods and dimensions.

The periods that a question names: "in 2000", "since December 2024", "after Q1 2023". Read from its words alone.

What a question asks a number for each of, its dimensions: "per genre", "by state", "monthly".

Read from its words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import Enum, StrEnum, auto

from sqlglot import exp

from engine.core.elements import Entity
from engine.linking.spans import entities
from engine.text.tokens import identifier_words
from schema_catalog.types import ColumnKey


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
    return tuple(_periods_in(question))


def _periods_in(question: str) -> Iterator[Period]:
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


class Grain(StrEnum):
    """A length of time that rows are put together by."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Dimension:
    """`text`: an entity of the question (`engine.linking.spans`); `grain`: where it is a length of time.

    `listed`: "each" or "every" says it, with which a question may ask for a list as well: "the name of each club".
    """

    text: str
    grain: Grain | None = None
    listed: bool = False


@dataclass(frozen=True, slots=True)
class LinkedDimension:
    """A dimension with its cosine to each element of a schema."""

    asked: Dimension
    cosines: Mapping[ColumnKey, float]


_ADVERBS = {
    "hourly": Grain.HOUR,
    "daily": Grain.DAY,
    "weekly": Grain.WEEK,
    "monthly": Grain.MONTH,
    "quarterly": Grain.QUARTER,
    "yearly": Grain.YEAR,
    "annual": Grain.YEAR,
    "annually": Grain.YEAR,
}

_ADVERB = re.compile(rf"\b(?:{'|'.join(_ADVERBS)})\b")

_EACH = re.compile(r"\b(?:each|every)\s+(?=[a-z])", re.IGNORECASE)

_PER = re.compile(
    r"\b(?:per|(?:group|grouped|split|broken\ down)\ by(?:\ (?:the|their|its))?)\s+(?=[a-z])", re.IGNORECASE
)

_BY = re.compile(r"(?<=\w)\W{1,2}by\s+(?:(?:the|their|its)\s+)?(?=[a-z])")
"""Not before a name: "songs by Ann"."""

_DOER = re.compile(
    r".*\b(?:\w+(?:ed|wn|ught|ung|itten|aken|iven|osen|oken)|built|cut|done|held|kept|led|lent|made|met|paid|put|read|run|said"
    r"|seen|sent|set|sold|spent|took|won|hit|lost|left|is|are|was|were)",
    re.IGNORECASE | re.DOTALL,
)
"""What "by" ends with where it tells who did it."""

_ORDER = re.compile(
    r"\b(?:order|sort|rank|arrange|top\b|ascending|descending|alphabetical|best|worst|most\b|least\b|fewest|largest|highest|lowest"
    r"|smallest|biggest|greatest)",
    re.IGNORECASE,
)
"""Where one of these comes before "by", it tells an order."""


_FIRST = re.compile(r"\b(?:most|least|fewest|best|worst|top|first|last|\w{3,}est)\b", re.IGNORECASE)


def asked_dimensions(question: str) -> tuple[Dimension, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(_dimensions_in(question)))


def linked_dimensions(question: str, entities: Iterable[Entity]) -> tuple[LinkedDimension, ...]:
    """Those that `question` asks for; `entities`: its own, linked."""
    cosines = {each.text: each.similarities for each in entities}
    return tuple(LinkedDimension(each, cosines.get(each.text, {})) for each in asked_dimensions(question))


def dimensions_not_grouped(question: str, tree: exp.Query) -> tuple[str, ...]:
    """What `question` asks a number for each of where `tree` shows aggregates over all rows at once."""
    asked = asked_dimensions(question)
    if not asked or not isinstance(tree, exp.Select) or tree.args.get("group"):
        return ()
    measured = aggregates(tree)
    return tuple(each.text for each in asked if not is_measured(each, measured)) if measured else ()


def dimensions_not_parted(question: str, tree: exp.Query) -> list[Dimension]:
    """What `question` asks the first for each of, where `tree` has the first of all, or all in an order."""
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if order is None or not isinstance(tree, exp.Select):
        return []
    grouped, aggregated = bool(tree.args.get("group")), bool(aggregates(tree))
    if limit is None:
        one = grouped and not aggregated and not order.find(exp.AggFunc) and bool(_FIRST.search(question))
    else:
        one = isinstance(limit, exp.Limit) and limit.expression.sql() == "1" and grouped >= aggregated
    return [each for each in asked_dimensions(question) if not is_measured(each, [order])] if one else []


def aggregates(select: exp.Select) -> list[exp.AggFunc]:
    """Those that a query shows of its own rows."""
    found = (each for item in select.expressions for each in item.find_all(exp.AggFunc))
    return [each for each in found if each.parent_select is select and not each.find_ancestor(exp.Window)]


def is_measured(dimension: Dimension, parts: Iterable[exp.Expr]) -> bool:
    """Whether what it says is part of a name in `parts` of a statement: `hours_per_week`, `monthly_rental`, `mpg`."""
    names = {column.name.casefold() for part in parts for column in part.find_all(exp.Column)}
    word = dimension.text.split()[0]
    timed = dimension.grain is not None
    return any(
        f"per{word}" in name.replace("_", "")
        or (timed and word in name)
        or any(re.fullmatch(rf"[a-z]p{word[0]}", each) for each in identifier_words(name))
        for name in names
    )


def _dimensions_in(question: str) -> Iterator[Dimension]:
    ends = {match.end() for match in _PER.finditer(question)}
    ends |= {match.end() for match in _BY.finditer(question) if _parts(question[: match.start()])}
    each = {match.end() for match in _EACH.finditer(question)}
    for end in sorted(ends | each):
        rest = question[end:].casefold()
        words = next(iter(entities(rest)), "")
        if words and rest.startswith(words.split()[0]):
            yield Dimension(words, _grain(words), end in each)
    for match in _ADVERB.finditer(question):
        yield Dimension(match[0], _ADVERBS[match[0]])


def _parts(before: str) -> bool:
    """Whether "by", behind `before`, tells by what something is parted."""
    clause = re.split(r"[.;?!]", before)[-1]
    return not _DOER.fullmatch(clause) and not _ORDER.search(clause)


def _grain(words: str) -> Grain | None:
    said = identifier_words(words)
    return next((grain for grain in Grain if said == (grain.value,)), None)
