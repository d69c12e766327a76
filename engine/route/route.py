"""Which databases may answer, by their schemas, and again by what linking found in them.

Route: the databases that may answer the question, and their tables, likeliest first.

Schemas are cut to the asker's privileges before they are scored, so that nothing unreadable is scored or named. The
scoring is the router's (`engine.route.router`). The asker's own database is always among them, and so is one of which
the question names allowed values.

Look again: the routes' probabilities by what linking found in each database, and the likeliest of them handed on: the
asker's own, and others beside it only where their evidence is far stronger.

Divide: a question over two databases is told so, and answered in two parts where both make sense by themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from engine.route.divided import divided
from engine.route.places import Place, View, at_home, by_name, looked_at, ranked, with_values
from engine.route.scoring import probabilities
from engine.route.second_look import features, leads_without_prior, reweighed
from engine.values import wording
from engine.values.errors import (
    CancelledError,
    ModelUnavailableError,
    NLError,
    NoRouteError,
    UnsupportedError,
)
from engine.values.messages import Asker, TraceLine
from engine.values.ports import StatementError
from engine.values.refusal import nothing_in, two_databases
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.naming import quote_ident
from schema_catalog.types import Database, Snapshot, TableKey

LIKELY_TABLES, LIKELY_BELOW = 12, 3.5
"""Tables that a question may be about, at most, and how far their scores may be below the best one's."""

_AT_ONCE = 16
"""Databases whose privileges are read at the same time."""

_SHOWN_TABLES = 5
_SHOWN_SETS = 3

Entry = tuple[Database, Snapshot]


async def route(state: State, tools: Tools) -> State:
    """Sets `routes`, likeliest first: those that the second look chooses among. Sets `far`.

    There is none where neither names nor allowed values come near, the asker is at home in none, and the model could
    not say that it cannot. Raises `NoRouteError` (NL003) where nothing is registered, `ask.db` is unknown, or the asker
    may read nothing; `ModelUnavailableError` (58000) where the catalog does not answer; `CancelledError` (57014).
    """
    async with _in_time(state):
        views, unreachable = await askable_views(state, tools)
        home = at_home(state, views)
        question = state.routed_by or state.question
        matches = await asyncio.to_thread(ranked, question, views, home, tools.router)
        places = [Place(views[each.position][0], each, each.position in home) for each in matches]
        if state.ask.db is None:
            places = await with_values(places, views, state, tools)
    if unreachable:
        state = state.noted(TraceLine("route", "unreachable", f"{unreachable} databases did not answer"))
    return _routed(state, places, len(views))


@asynccontextmanager
async def _in_time(state: State) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(state.deadline.remaining()):
            yield
    except TimeoutError:
        raise CancelledError.told(wording.LATE_ROUTE) from None


async def askable_views(state: State, tools: Tools) -> tuple[list[View], int]:
    """What the asker may read of those that may answer, and how many databases did not say; raises as `route`."""
    async with _in_time(state):
        views, unreachable = await readable_views(state.ask.asker, tools, await _entries(tools))
    return _wanted(state, views), unreachable


async def _entries(tools: Tools) -> Sequence[Entry]:
    try:
        entries = await tools.catalog.entries()
    except StoreUnavailableError as error:
        raise ModelUnavailableError.told(wording.CATALOG_AWAY) from error
    if not entries:
        raise NoRouteError.told(wording.NONE_REGISTERED)
    return entries


async def readable_views(asker: Asker, tools: Tools, entries: Sequence[Entry]) -> tuple[list[View], int]:
    """What the asker may read of each database, and how many databases could not say.

    Those are counted, not named: the asker may have no right to know them. Raises `UnsupportedError` where the asker's
    session cannot be lent and nothing else is readable.
    """
    semaphore = asyncio.Semaphore(_AT_ONCE)
    refusals: list[UnsupportedError] = []

    async def view(entry: Entry) -> View | None:
        database, snapshot = entry
        async with semaphore:
            try:
                readable = await tools.upstream.readable(database, asker, snapshot)
            except UnsupportedError as refusal:
                refusals.append(refusal)
                return None
            except (StatementError, NLError, OSError):
                return None
        return (database, snapshot, readable)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(view(entry), name=f"readable {entry[0].name}") for entry in entries]
    known = [task.result() for task in tasks]
    views = [found for found in known if found is not None]
    readable_views = [found for found in views if found[2]]
    if refusals and not readable_views:
        raise refusals[0]
    return readable_views, len(known) - len(views)


def _wanted(state: State, views: list[View]) -> list[View]:
    """The databases to choose from; raises `NoRouteError`, alike for an unreadable and for an unknown `ask.db`."""
    name = state.ask.db
    wanted = [found for found in views if name is None or found[0].name == name]
    if wanted:
        return wanted
    if not views:
        raise _nothing_readable(state)
    names = ", ".join(f'"{found[0].name}"' for found in views)
    raise NoRouteError.told(wording.NOT_AMONG, name=name, names=names)


def _nothing_readable(state: State) -> NoRouteError:
    return NoRouteError.told(wording.NONE_READABLE, user=quote_ident(state.ask.asker.user))


def _routed(state: State, places: Sequence[Place], databases: int) -> State:
    if not places:
        raise _nothing_readable(state)
    tables = sum(len(each.match.tables) for each in places)
    considered = f"{databases} databases, {tables} tables of the closest {len(places)}"
    state = state.noted(TraceLine("route", "considered", considered))
    question = state.routed_by or state.question
    if state.ask.db is not None or any(by_name(each.match, question) for each in places):
        return _chosen(state, places)
    best = max(each.match.evidence for each in places)
    state = state.noted(
        TraceLine("route", "nothing matches", "no table or column comes close to the question", best)
    )
    likely = [each for each in places if each.held or each.home] or (
        list(places) if state.asks_for_readings else []
    )
    state = replace(state, far=not any(each.held for each in places))
    if likely:
        return _chosen(state, likely)
    words = (TraceLine("route", "nothing stands for", each) for each in state.question.content_words)
    return replace(state, routes=()).noted(*words)


def _chosen(state: State, places: Sequence[Place]) -> State:
    shares = probabilities([each.match.logit for each in places])
    order = sorted(range(len(places)), key=lambda i: -shares[i])
    kept = looked_at(order, places, shares, state)
    routes, lines = [], []
    for i in kept:
        match, place = places[i].match, places[i]
        ranked = tuple(key for key, _ in match.tables)
        likely = tuple(key for key, score in match.tables if score >= match.tables[0][1] - LIKELY_BELOW)
        within = likely[:LIKELY_TABLES]
        routes.append(
            Route(place.database, match.snapshot, shares[i], ranked, likely=within, home=place.home)
        )
        lines.append(TraceLine("route", "database", _reason(place), shares[i]))
    lines += _same_schema(routes)
    cut = [i for i in order if i not in kept]
    if cut:
        names = [places[i].database.name for i in cut]
        named = ", ".join(names[:_SHOWN_TABLES]) + (
            f" and {len(cut) - _SHOWN_TABLES} more" if len(cut) > _SHOWN_TABLES else ""
        )
        lines.append(TraceLine("route", "left out", named, shares[cut[0]]))
    return replace(state, routes=tuple(routes)).noted(*lines)


def _reason(place: Place) -> str:
    match = place.match
    parts = [
        place.database.name,
        f"tables {', '.join(_named(key) for key, _ in match.tables[:_SHOWN_TABLES])}",
    ]
    if match.sets:
        sets = [
            f"{' + '.join(map(_named, one.tables))} {one.probability:.0%}" for one in match.sets[:_SHOWN_SETS]
        ]
        parts.append(f"decoded {', '.join(sets)}")
        learned = match.logit - match.retrieval
        parts.append(f"retrieval {match.retrieval:+.1f}, learned {learned:+.1f}")
    if match.reading:
        parts.append(f"read as {match.reading}")
    if match.words:
        parts.append(f"words {', '.join(match.words)}")
    if place.held:
        parts.append(f"values {', '.join(place.held)}")
    if place.home:
        parts.append("you are connected to it")
    return "; ".join(parts)


def _named(key: TableKey) -> str:
    return ".".join(quote_ident(part) for part in key)


def _same_schema(routes: Sequence[Route]) -> list[TraceLine]:
    """A line that names the databases with the first schema that occurs twice: only the asker can tell them apart."""
    for route in routes:
        names = [each.database.name for each in routes if each.snapshot.tables == route.snapshot.tables]
        if len(names) > 1:
            return [TraceLine("route", "same schema", f"{', '.join(names)}: name one with NL (db …)")]
    return []


MAX_ROUTES = 3
"""Databases handed on at most: each costs model calls."""

LEAST = 0.02
"""Least probability of a database after the first."""


async def reweigh(state: State, tools: Tools) -> State:
    """Sets `routes`, likeliest first, and `closer`: three routes at most, but all where none of them comes near.

    Sets `refusal` where nothing comes near, linking found nothing that stands for any of it either, and the model is
    one that would write something all the same.
    """
    if state.far and not state.asks_for_readings and not any(map(_stands_for_some, state.routes)):
        unknown = [each for route in state.routes[:1] for each in route.unknown]
        names = [route.database.name for route in state.routes]
        return state.refused(nothing_in(names, unknown), "link") if names else state
    if len(state.routes) < 2:  # noqa: PLR2004  nothing to choose among
        return state
    routes = reweighed(state.routes, tools.second_look)
    kept = routes if state.far else _handed_on(routes)
    before = {route.database.name: route.probability for route in state.routes}
    lines = [
        TraceLine("link", "database", _found(route, before[route.database.name]), route.probability)
        for route in kept
    ]
    left = [each for each in routes if each not in kept]
    if left:
        named = ", ".join(route.database.name for route in left)
        lines.append(TraceLine("link", "left out", named, left[0].probability))
    closer = left[0].database.name if left and leads_without_prior(left[0], kept[0]) else None
    return replace(state, routes=kept, closer=closer).noted(*lines)


def _stands_for_some(route: Route) -> bool:
    return bool(route.entities) and not route.unanswerable


def _handed_on(routes: Sequence[Route]) -> tuple[Route, ...]:
    """Of the routes, likeliest first: where one is the asker's own, only those before it that are likelier even so."""
    own = next((place for place, each in enumerate(routes) if each.home), None)
    if own is None:
        return (*routes[:1], *(each for each in routes[1:MAX_ROUTES] if each.probability >= LEAST))
    further = (each for each in routes[own + 1 :] if each.home and each.probability >= LEAST)
    return (*routes[: min(own, MAX_ROUTES - 1)], routes[own], *further)[:MAX_ROUTES]


def _found(route: Route, before: float) -> str:
    said = ", ".join(f"{name} {value:+.1f}" for name, value in features(route).items() if value)
    return f"{route.database.name}: {before:.0%} before; {said or 'nothing found'}"


async def divide(state: State, tools: Tools) -> State:
    """Sets `refusal`, and `parts` where it falls into two questions, where no database holds all that is asked about.

    A foreign table that stands for the other side is a table like any other.
    """
    if state.ask.db is not None or state.own_words != state.question:
        return state
    found = await asyncio.to_thread(divided, state.question, state.routes, tools.encoder)
    if found is None:
        return state
    told = state.refused(two_databases([(each.words, each.database) for each in found]), "link")
    parts = tuple((each.database, each.question) for each in found if each.question is not None)
    return replace(told, parts=parts)
