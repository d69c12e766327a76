"""A question of which one part stands in one database alone and another in another alone.

Owns what tells it, and how it falls into two questions where both make sense by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.link.element_text import compared, element_words
from engine.link.unknown import GENERAL, alike, schema_words
from engine.question.tokens import identifier_words, question_words
from engine.values.ports import Encoder
from engine.values.state import Route
from schema_catalog.types import Snapshot

APART = 0.45
"""Cosine of a word, at most, to every element of a schema in which nothing stands for it."""

LIKELY = 0.02
"""Least probability of a database that a part is looked for in."""

_SORTED = re.compile(r"\bin (?:\w+ )*?order\b", re.IGNORECASE)

_CLAUSE = re.compile(
    r"(?:how|what|which|who|where|when|list|show|give|find|count|tell|wie|was|welche[rs]?|wer|wo|zeige?|nenne)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s*(?:[,;?.]\s*)?\b(?:and(?: also)?|und(?: auch)?)\s+|\s*[;?.]\s+(?=\w)", re.IGNORECASE)
_RELATED = re.compile(
    r"\b(?:same|each|every|both|per|between|together|common|their|its|his|her|they|them|those|these|such|it|more than"
    r"|fewer than|less than|near|nearest|jede[rsnm]?|gleiche[rsn]?|ihre[rsnm]?|deren|dessen|sie|pro|zusammen)\b",
    re.IGNORECASE,
)
"""Words by which two parts of a question belong together."""


@dataclass(frozen=True, slots=True)
class Part:
    """What of a question only one database has: `words`, of its tables, and the `question` about them by itself.

    `question`: None where the question does not fall into parts.
    """

    database: str
    words: tuple[str, ...]
    question: str | None = None


def divided(question: str, routes: Sequence[Route], encoder: Encoder) -> tuple[Part, Part] | None:
    """The parts of the likeliest database and of another; None where one may hold it all. Encodes some words.

    Both are sure: each names a table, and nothing in the other database is like it.
    """
    likely = [route for route in routes if route.probability >= LIKELY]
    said = [word for word in question_words(_SORTED.sub(" ", question)) if word not in GENERAL]
    named = [_tables_named(said, route.snapshot) for route in likely]
    words = list(dict.fromkeys(word for each in named for word in each))
    known = [_known(words, route, encoder) for route in likely]
    for other in range(1, len(likely)):
        mine = [word for word in named[0] if word not in known[other]]
        theirs = [word for word in named[other] if word not in known[0]]
        together = {*mine, *theirs}
        if mine and theirs and not any(together <= each for each in known):
            first, second = _split(question, mine, theirs)
            return (
                Part(likely[0].database.name, tuple(mine), first),
                Part(likely[other].database.name, tuple(theirs), second),
            )
    return None


def _tables_named(said: Sequence[str], snapshot: Snapshot) -> list[str]:
    """The words of the question that, together, are the name or a synonym of a table."""
    names = (identifier_words(name) for table in snapshot.tables for name in (table.name, *table.synonyms))
    found = {word for name in names if set(name) <= set(said) for word in name}
    return [word for word in said if word in found]


def _known(words: Sequence[str], route: Route, encoder: Encoder) -> set[str]:
    """Those of `words` for which something in the database may stand."""
    stored = {part for link in route.values for part in identifier_words(link.span)}
    spoken = schema_words(route.snapshot) | stored
    sure = {word for word in words if any(alike(word, each) for each in spoken)}
    left = [word for word in words if word not in sure]
    near = compared(left, element_words(route.snapshot), encoder)
    return sure | {each.text for each in near if max(each.similarities.values()) > APART}


def _split(question: str, mine: Iterable[str], theirs: Iterable[str]) -> tuple[str, str] | tuple[None, None]:
    """The question about each by itself; none where words make one of both."""
    text = question.strip().rstrip(" .?!")
    if _RELATED.search(text):
        return None, None
    for joint in _JOINT.finditer(text):
        left, right = text[: joint.start()], text[joint.end() :]
        first, second = set(question_words(left)), set(question_words(right))
        for here, there, swapped in ((set(mine), set(theirs), False), (set(theirs), set(mine), True)):
            if here <= first and there <= second and not (here & second or there & first):
                made = _clauses(left, right, there)
                if made is not None:
                    return (made[1], made[0]) if swapped else made
    return None, None


def _clauses(left: str, right: str, there: set[str]) -> tuple[str, str] | None:
    """Two clauses as they are, or "how many" of "how many customers and airports are there" before each noun."""
    if _CLAUSE.match(right):
        return f"{left}?", f"{right}?"
    noun = re.match(rf"(?:\w+ ){{{len(there) - 1}}}\w+", right)
    opening = re.match(
        r"(?:how (?:many|much)|wie ?viele|(?:list|show|count)(?: me)?(?: all| the)*) ", left, re.IGNORECASE
    )
    if noun is None or opening is None or set(question_words(noun[0])) != there:
        return None
    return f"{left}{right[noun.end() :]}?", f"{opening[0]}{right}?"
