"""Links the question's entities to every table and column by cosine (Odin §5.3), and its spans to values."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.core.elements import Entity, ValueLink
from engine.core.ports import StatementError
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.errors import NLError
from engine.linking.element_text import linked
from engine.linking.entities import entities
from engine.prompting.value_text import condition
from engine.types import TraceLine
from schema_catalog.catalog import StoreUnavailableError


async def link(state: State, tools: Tools) -> State:
    """Sets `entities` and `values` of every route; no values where the store or the database fails.

    Raises `CancelledError` (57014).
    """
    texts = entities(state.ask.question)
    linked_entities = [
        await asyncio.to_thread(linked, texts, route.snapshot, tools.encoder) for route in state.routes
    ]
    routes = tuple(
        replace(route, entities=found) for route, found in zip(state.routes, linked_entities, strict=True)
    )
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
    predicate = condition(link, route.snapshot)
    return TraceLine("link", event, f"{route.database.name}: {predicate}", link.similarity)


def _best(route: Route, entity: Entity) -> TraceLine:
    key = max(entity.similarities, key=entity.similarities.__getitem__)
    return TraceLine(
        "link", entity.text, f"{route.database.name}: {key[1]}.{key[2]}", round(entity.similarities[key], 3)
    )
