"""Links the question to the schema: its phrases (entities), how near each is to every column (Odin §5.3), and values.

Owns entity extraction; which values of the database are meant is `engine.linking`'s. The paper asks a model for the
entities; here they are the runs of content words, which costs nothing and is the same each time. Similarity is the
encoder's cosine, table included, because `address` of `student_registration` can stand for a student's address and
that of `teacher` can not.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine.errors import NLError
from engine.generation.grammar import WHOLE_TABLE
from engine.generation.value_text import condition
from engine.learning.adapter import Adapter
from engine.state import ColumnKey, Encoder, Entity, Route, State, StatementError, Tools, ValueLink
from engine.types import TraceLine
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Snapshot

ENTITY_WORDS = 3
"""Words that one entity has at most; a longer run of content words is cut."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?|[.,;:?!()]")
_PHRASES = re.compile(r"\bnumbers? of\b|\bin (?:\w+ )?order\b", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”")
_STOP_WORDS = """
a about above after all also an and any are as ask at be been before below between both but by can
could count did do does done each either every find first for from get give greater had has have
having her his how i if in into is it its last least less list many me more most much my no nor not
of on one or other our out over per please same shall should show so some such tell than that the
their them then there these they this those to top total under up was we were what when where
whether which while who whom whose why will with within without would you your average mean minimum
maximum min max sum highest lowest largest smallest greatest fewest best worst different distinct
ascending descending sorted sort grouped group return display
"""

_STOP = frozenset(_STOP_WORDS.split())


def entities(question: str) -> list[str]:
    """Runs of content words, in order and without repetition; numbers and quoted values are no entities."""
    found = [" ".join(run) for run in _runs(_PHRASES.sub(" , ", _QUOTED.sub(" , ", question)))]
    return list(dict.fromkeys(found))


def _runs(question: str) -> Iterator[Sequence[str]]:
    run: list[str] = []
    for word in [*_WORD.findall(question), "."]:
        lower = word.lower()
        if lower in _STOP or not word[0].isalpha() or len(run) == ENTITY_WORDS:
            if run:
                yield run
            run = []
        if lower not in _STOP and word[0].isalpha():
            run.append(lower)


async def link(state: State, tools: Tools) -> State:
    """Gives every route the question's entities, with their similarities to the elements of its schema, and values.

    A store or a database that cannot say which values it has costs the values alone.
    """
    texts = entities(state.ask.question)
    near = [await asyncio.to_thread(linked, texts, route.snapshot, tools.encoder) for route in state.routes]
    routes = tuple(replace(route, entities=found) for route, found in zip(state.routes, near, strict=True))
    best = [_best(route, entity) for route in routes for entity in route.entities]
    outcomes = await asyncio.gather(*(_with_values(route, state, tools) for route in routes))
    lines = [line for _, found in outcomes for line in found]
    return replace(state, routes=tuple(route for route, _ in outcomes)).noted(*best, *lines)


async def _with_values(route: Route, state: State, tools: Tools) -> tuple[Route, list[TraceLine]]:
    try:
        links = await tools.values.links(state.ask.question, route, tools.upstream)
    except (NLError, StatementError, StoreUnavailableError) as error:
        state.deadline.remaining()
        return route, [TraceLine("link", "no values", f"{route.database.name}: {error}")]
    lines = [_value_line(route, link) for link in links]
    return replace(route, values=links), lines


def _value_line(route: Route, link: ValueLink) -> TraceLine:
    event = f"value {link.span}" if link.span else "values of a column"
    meant = condition(link, route.snapshot)
    return TraceLine("link", event, f"{route.database.name}: {meant}", link.similarity)


def linked(
    texts: Sequence[str], snapshot: Snapshot, encoder: Encoder, adapter: Adapter | None = None
) -> tuple[Entity, ...]:
    """Phrases with their similarities to the elements of a schema. `adapter`: turns the phrases' vectors first."""
    elements = element_words(snapshot)
    if not texts or not elements:
        return ()
    vectors = encoder.encode([*texts, *elements.values()])
    phrases = vectors[: len(texts)] if adapter is None else adapter.applied(vectors[: len(texts)])
    cosines = phrases @ vectors[len(texts) :].T
    return tuple(
        Entity(text, {key: float(value) for key, value in zip(elements, row, strict=True)})
        for text, row in zip(texts, cosines, strict=True)
    )


def element_words(snapshot: Snapshot) -> dict[ColumnKey, str]:
    """Columns, and tables as a whole, in words."""
    words: dict[ColumnKey, str] = {}
    for table in snapshot.tables:
        words[*table.key, WHOLE_TABLE] = _words(table.name)
        for column in table.columns:
            words[*table.key, column.name] = f"{_words(table.name)} {_words(column.name)}"
    return words


def _words(name: str) -> str:
    return re.sub(r"[_\W]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower().strip()


def _best(route: Route, entity: Entity) -> TraceLine:
    key = max(entity.similarities, key=entity.similarities.__getitem__)
    return TraceLine(
        "link", entity.text, f"{route.database.name}: {key[1]}.{key[2]}", round(entity.similarities[key], 3)
    )
