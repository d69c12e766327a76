"""A question of which one part stands in one database alone and another in another alone.

Owns what tells it; how it falls into two questions is `engine.question.parts`'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.link.element_text import compared, element_words
from engine.link.unknown import alike, schema_words
from engine.question.parts import split
from engine.question.question import Question
from engine.values.ports import Encoder
from engine.values.state import Route
from schema_catalog.types import Snapshot
from schema_catalog.words import identifier_words

APART = 0.45
"""Cosine of a word, at most, to every element of a schema in which nothing stands for it."""

LIKELY = 0.02
"""Least probability of a database that a part is looked for in."""


@dataclass(frozen=True, slots=True)
class Part:
    """What of a question only one database has: `words`, of its tables, and the `question` about them by itself.

    `question`: None where the question does not fall into parts.
    """

    database: str
    words: tuple[str, ...]
    question: str | None = None


def divided(question: Question, routes: Sequence[Route], encoder: Encoder) -> tuple[Part, Part] | None:
    """The parts of the likeliest database and of another; None where one may hold it all. Encodes some words.

    Both are sure: each names a table, and nothing in the other database is like it.
    """
    likely = [route for route in routes if route.probability >= LIKELY]
    named = [_tables_named(question.topics, route.snapshot) for route in likely]
    words = list(dict.fromkeys(word for each in named for word in each))
    known = [_known(words, route, encoder) for route in likely]
    for other in range(1, len(likely)):
        mine = [word for word in named[0] if word not in known[other]]
        theirs = [word for word in named[other] if word not in known[0]]
        together = {*mine, *theirs}
        if mine and theirs and not any(together <= each for each in known):
            first, second = split(question.text, mine, theirs)
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
