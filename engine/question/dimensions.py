"""What a question asks a number for each of, its dimensions: "per genre", "by state", "monthly".

Read from its words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.question.periods import Grain
from engine.question.spans import entities_in
from schema_catalog.words import identifier_words


@dataclass(frozen=True, slots=True)
class Dimension:
    """`text`: an entity of the question (`Question.entities`); `grain`: where it is a length of time.

    `listed`: "each" or "every" says it, with which a question may ask for a list as well: "the name of each club".
    """

    text: str
    grain: Grain | None = None
    listed: bool = False


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


def dimensions_not_grouped(asked: Sequence[Dimension], tree: exp.Query) -> tuple[str, ...]:
    """What a question asks a number for each of where `tree` shows aggregates over all rows at once."""
    if not asked or not isinstance(tree, exp.Select) or tree.args.get("group"):
        return ()
    measured = aggregates(tree)
    return tuple(each.text for each in asked if not is_measured(each, measured)) if measured else ()


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


def dimensions_in(text: str) -> tuple[Dimension, ...]:
    """What a question asks a number for each of, each once."""
    return tuple(dict.fromkeys(_dimensions(text)))


def _dimensions(text: str) -> Iterator[Dimension]:
    ends = {match.end() for match in _PER.finditer(text)}
    ends |= {match.end() for match in _BY.finditer(text) if _parts(text[: match.start()])}
    each = {match.end() for match in _EACH.finditer(text)}
    for end in sorted(ends | each):
        rest = text[end:].casefold()
        words = next(iter(entities_in(rest)), "")
        if words and rest.startswith(words.split()[0]):
            yield Dimension(words, _grain(words), end in each)
    for match in _ADVERB.finditer(text):
        yield Dimension(match[0], _ADVERBS[match[0]])


def _parts(before: str) -> bool:
    """Whether "by", behind `before`, tells by what something is parted."""
    clause = re.split(r"[.;?!]", before)[-1]
    return not _DOER.fullmatch(clause) and not _ORDER.search(clause)


def _grain(words: str) -> Grain | None:
    said = identifier_words(words)
    return next((grain for grain in Grain if said == (grain.value,)), None)
