"""Links the question's entities to every table and column by cosine (Odin §5.3), and its spans to values."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace

from engine.link.closest_part import COLUMNS, closest_part, columns_of
from engine.link.element_text import linked
from engine.link.labels import label_links, label_lists
from engine.link.legends import coded_links
from engine.link.looking import whole_lists
from engine.link.match import LINKS
from engine.link.mentions import named_terms
from engine.link.missing_values import held_words
from engine.link.standing import preferred_first
from engine.link.unknown import unknown_phrases
from engine.statement.written import condition, defined
from engine.values.elements import Entity, SchemaLinks, ValueLink, ValueList, elements_of, plain_name
from engine.values.errors import NLError
from engine.values.messages import TraceLine
from engine.values.ports import StatementError
from engine.values.state import Route, State
from engine.values.tools import NoLinker, Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import ColumnKey, Term

NAMED = 12
"""Columns that a line of the trace names."""


async def link_schemas(state: State, tools: Tools) -> State:
    """Sets `entities`, `links`, `terms`, `values`, `lists` and `unknown` of every route, deprecated tables last.

    Where the store or the database fails the last three hold no stored values, and nothing is unknown: a stored
    value's words would pass for it. Labels and what comments say of codes stand among the values.

    Raises `CancelledError` (57014).
    """
    state = replace(state, routes=tuple([await _of_part(route, state, tools) for route in state.routes]))
    texts = state.question.entities
    linked_entities = [
        await asyncio.to_thread(linked, texts, route.snapshot, tools.encoder) for route in state.routes
    ]
    # Readings read nothing of its decisions.
    linker = NoLinker() if state.asks_for_readings else tools.linker
    # At once: in this process they take turns, elsewhere they need not.
    links = await asyncio.gather(
        *(asyncio.to_thread(linker.link, state.question, route.snapshot) for route in state.routes)
    )
    terms = [named_terms(state.question, route.snapshot) for route in state.routes]
    routes = tuple(
        replace(
            route,
            entities=found,
            links=with_terms(decided, named),
            terms=named,
            tables=preferred_first(route.tables, route.snapshot),
        )
        for route, found, decided, named in zip(state.routes, linked_entities, links, terms, strict=True)
    )
    best = [_best(route, entity) for route in routes for entity in route.entities]
    outcomes = await asyncio.gather(*(_with_values(route, state, tools) for route in routes))
    lines = [line for _, found in outcomes for line in found]
    linked_lines = [line for route in routes for line in (*_term_lines(route), *_linked_lines(route))]
    return replace(state, routes=tuple(route for route, _ in outcomes)).noted(*best, *linked_lines, *lines)


async def _of_part(route: Route, state: State, tools: Tools) -> Route:
    """The route over the part of its schema that is near to the question, where it is a large one.

    A model that follows instructions is shown all of it, so that prompts begin alike.
    """
    if state.asks_for_readings or columns_of(route.snapshot) <= COLUMNS:
        return route
    terms = named_terms(state.question, route.snapshot)
    keys = [element[:2] for term in terms for element in elements_of(term)]
    with contextlib.suppress(NLError, StatementError, StoreUnavailableError):
        links = await tools.values.links(state.question, route, tools.upstream)
        keys += [link.column[:2] for link in links if link.similarity >= 1]
    state.deadline.remaining()
    return await asyncio.to_thread(closest_part, route, keys)


async def _with_values(route: Route, state: State, tools: Tools) -> tuple[Route, list[TraceLine]]:
    """The route with values and lists; labels, and what comments say of codes, are known without the store."""
    labels = await asyncio.to_thread(label_links, state.question, route)
    coded = await asyncio.to_thread(coded_links, state.question, route.snapshot)
    declared = label_lists(route.snapshot)
    try:
        links = await tools.values.links(state.question, route, tools.upstream)
        lists = await tools.values.lists(route, tools.upstream)
        contents = await tools.values.contents(route, tools.upstream)
        told = await tools.values.told(route, tools.upstream)
    except (NLError, StatementError, StoreUnavailableError) as error:
        state.deadline.remaining()
        known = replace(route, values=(*labels, *coded), lists=declared)
        missing = f"{route.database.name}: {error}; neither lists nor ranges of values are in the prompt"
        return known, [TraceLine("link", "no values", missing)]
    links = (*labels, *coded, *links)[:LINKS]
    lines = [_value_line(route, link) for link in links]
    route = replace(route, values=links, contents=contents, told=told)
    # A prompt is made of what the store holds; to a list a grammar alone holds statements.
    whole = lists if state.asks_for_readings else await whole_lists(lists, route, state, tools)
    if len(whole) < len(lists):
        lines.append(_not_known(lists, whole, route))
    if not tools.model.profile.goes_on:
        # A grammar goes to the service as a prompt does.
        withheld = route.withheld
        whole = tuple(each for each in whole if each.column not in withheld)
    lines += _withheld(route)
    route = replace(route, lists=(*declared, *whole))
    lines += [
        TraceLine(
            "link", "all values known", f"{route.database.name}: {plain_name(each.column)}", len(each.values)
        )
        for each in (() if state.asks_for_readings else route.lists)
    ]
    unknown = await asyncio.to_thread(unknown_phrases, state.question, route, tools.encoder)
    unknown = await held_words(unknown, route, state, tools)
    lines += [
        TraceLine("link", "nothing stands for", f"{route.database.name}: {each.text}", each.cosine)
        for each in unknown
    ]
    return replace(route, unknown=unknown), lines


def _not_known(lists: Sequence[ValueList], whole: Sequence[ValueList], route: Route) -> TraceLine:
    """Which lists hold no statement, since nobody knows in time whether they are whole."""
    kept = {each.column for each in whole}
    names = [plain_name(each.column) for each in lists if each.column not in kept]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return TraceLine(
        "link", "values not known to be all", f"{route.database.name}: {', '.join(names[:NAMED])}{more}"
    )


def _withheld(route: Route) -> list[TraceLine]:
    """Of which kept values a prompt tells none, since they are personal data."""
    said = [
        f"{plain_name(each.column)} ({each.personal})" for each in route.told if each.personal is not None
    ]
    more = f" and {len(said) - NAMED} more" if len(said) > NAMED else ""
    text = f"{route.database.name}: {', '.join(said[:NAMED])}{more}"
    return [TraceLine("link", "personal data, not listed", text)] if said else []


def _value_line(route: Route, link: ValueLink) -> TraceLine:
    event = f"value {link.span}" if link.span else "values of a column"
    predicate = condition(link, route.snapshot)
    return TraceLine("link", event, f"{route.database.name}: {predicate}", link.similarity)


def with_terms(links: SchemaLinks | None, terms: Sequence[Term]) -> SchemaLinks | None:
    """`links` with all that `terms` read as surely linked; who asks by a term means these columns."""
    if links is None or not terms:
        return links
    elements = frozenset[ColumnKey]().union(*map(elements_of, terms))
    probabilities = {**links.probabilities, **dict.fromkeys(elements, 1.0)}
    branching = tuple(point for point in links.branching if point.element not in elements)
    return replace(links, probabilities=probabilities, linked=links.linked | elements, branching=branching)


def _term_lines(route: Route) -> list[TraceLine]:
    return [
        TraceLine("link", f"term {each.name}", f"{route.database.name}: {defined(each)}")
        for each in route.terms
    ]


def _linked_lines(route: Route) -> list[TraceLine]:
    """What the linker decided, and where it may have gone astray."""
    if route.links is None:
        return []
    names = ", ".join(sorted(map(plain_name, route.links.linked))) or "nothing"
    lines = [TraceLine("link", "linked", f"{route.database.name}: {names}", route.links.answerable)]
    for point in route.links.branching:
        others = ", ".join(map(plain_name, point.alternatives)) or "nothing"
        decided = "linked" if point.linked else "left out"
        detail = f"{route.database.name}: {plain_name(point.element)} {decided}; perhaps {others}"
        lines.append(TraceLine("link", "branching point", detail))
    return lines


def _best(route: Route, entity: Entity) -> TraceLine:
    key = max(entity.similarities, key=entity.similarities.__getitem__)
    return TraceLine(
        "link", entity.text, f"{route.database.name}: {key[1]}.{key[2]}", round(entity.similarities[key], 3)
    )
