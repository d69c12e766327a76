"""Which databases may answer, by their schemas, and again by what linking found in them.

Route: the databases that may answer the question, and their tables, likeliest first.

Schemas are cut to the asker's privileges before they are scored, so that nothing unreadable is scored or named. The
scoring is the router's (`engine.routing`).

Look again: the routes' probabilities by what linking found in each database, and the likeliest of them handed on.

Divide: a question over two databases is told so, and answered in two parts where both make sense by themselves.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from engine.core.ports import Match, StatementError
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.dialogue.policy import refused
from engine.dialogue.refusal import two_databases
from engine.errors import CancelledError, ModelUnavailableError, NLError, NoRouteError, UnsupportedError
from engine.linking.mentions import short_names
from engine.routing.scoring import probabilities
from engine.routing.second_look import LOOKED_AT, features, reweighed
from engine.text.tokens import question_words
from engine.types import Asker, TraceLine
from engine.understanding.divided import divided
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.naming import quote_ident
from schema_catalog.types import Database, ReadableColumns, Snapshot, TableKey

MIN_PROBABILITY = 0.005
"""Least probability of a database after the first."""

CONNECTED_PRIOR = math.log(2)
"""Added to the logit of the database that the asker is connected to, which doubles its odds."""

MIN_EVIDENCE = 0.25
"""Least cosine of the question and its closest table or column, where no word of it stands in the schema.

Of 767 fitting questions none is below 0.26 in its right database.
"""

LIKELY_TABLES, LIKELY_BELOW = 12, 3.5
"""Tables that a question may be about, at most, and how far their scores may be below the best one's."""

_AT_ONCE = 16
"""Databases whose privileges are read at the same time."""

_SHOWN_TABLES = 5
_SHOWN_SETS = 3

Entry = tuple[Database, Snapshot]
View = tuple[Database, Snapshot, ReadableColumns]


async def route(state: State, tools: Tools) -> State:
    """Sets `routes`, likeliest first: those that the second look chooses among; none where no schema matches at all.

    Raises `NoRouteError` (NL003) where nothing is registered, `ask.db` is unknown, or the asker may read
    nothing; `ModelUnavailableError` (58000) where the catalog does not answer; `CancelledError` (57014).
    """
    async with _in_time(state):
        wanted, unreachable = await askable_views(state, tools)
        matches = await asyncio.to_thread(
            tools.router.rank,
            state.ask.question,
            [(snapshot, readable) for _, snapshot, readable in wanted],
        )
    if unreachable:
        state = state.noted(TraceLine("route", "unreachable", f"{unreachable} databases did not answer"))
    return _routed(state, [view[0] for view in wanted], matches)


@asynccontextmanager
async def _in_time(state: State) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(state.deadline.remaining()):
            yield
    except TimeoutError:
        raise CancelledError(
            "the question ran out of time while looking for a database", hint="Raise nl.timeout."
        ) from None


async def askable_views(state: State, tools: Tools) -> tuple[list[View], int]:
    """What the asker may read of those that may answer, and how many databases did not say; raises as `route`."""
    async with _in_time(state):
        views, unreachable = await readable_views(state.ask.asker, tools, await _entries(tools))
    return _wanted(state, views), unreachable


async def _entries(tools: Tools) -> Sequence[Entry]:
    try:
        entries = await tools.catalog.entries()
    except StoreUnavailableError as error:
        raise ModelUnavailableError(
            "the schema catalog does not answer",
            hint="Its administrator should check the store's connection.",
        ) from error
    if not entries:
        raise NoRouteError(
            "no database is registered", hint="An administrator registers one with: pgparley catalog add"
        )
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
    raise NoRouteError(f'database "{name}" is not among those you may ask', hint=f"You may ask: {names}.")


def _nothing_readable(state: State) -> NoRouteError:
    return NoRouteError(
        "there is no registered database that you may read",
        hint=f"An administrator can grant SELECT to {quote_ident(state.ask.asker.user)}.",
    )


def _routed(state: State, databases: Sequence[Database], matches: Sequence[Match]) -> State:
    if not matches:
        raise _nothing_readable(state)
    tables = sum(len(match.tables) for match in matches)
    state = state.noted(
        TraceLine(
            "route",
            "considered",
            f"{len(databases)} databases, {tables} tables of the closest {len(matches)}",
        )
    )
    near = any(match.words or match.evidence >= MIN_EVIDENCE for match in matches)
    near = near or any(short_names(state.ask.question, match.snapshot) for match in matches)
    if state.ask.db is None and not near:
        best = max(match.evidence for match in matches)
        return replace(state, routes=()).noted(
            TraceLine("route", "nothing matches", "no table or column comes close to the question", best),
            *(TraceLine("route", "nothing stands for", word) for word in question_words(state.ask.question)),
        )
    return _chosen(state, databases, matches)


def _chosen(state: State, databases: Sequence[Database], matches: Sequence[Match]) -> State:
    dbname = state.ask.asker.dbname
    here = [databases[match.position].dbname == dbname for match in matches]
    logits = [match.logit + CONNECTED_PRIOR * own for match, own in zip(matches, here, strict=True)]
    shares = probabilities(logits)
    order = sorted(range(len(matches)), key=lambda i: -shares[i])
    kept = order[:1] + [i for i in order[1:LOOKED_AT] if shares[i] >= MIN_PROBABILITY]
    routes, lines = [], []
    for i in kept:
        match, database = matches[i], databases[matches[i].position]
        ranked = tuple(key for key, _ in match.tables)
        likely = tuple(key for key, score in match.tables if score >= match.tables[0][1] - LIKELY_BELOW)
        routes.append(Route(database, match.snapshot, shares[i], ranked, likely=likely[:LIKELY_TABLES]))
        lines.append(TraceLine("route", "database", _reason(database, match, connected=here[i]), shares[i]))
    lines += _same_schema(routes)
    cut = [databases[matches[i].position].name for i in order[len(kept) :]]
    if cut:
        best = shares[order[len(kept)]]
        named = ", ".join(cut[:_SHOWN_TABLES]) + (
            f" and {len(cut) - _SHOWN_TABLES} more" if len(cut) > _SHOWN_TABLES else ""
        )
        lines.append(TraceLine("route", "left out", named, best))
    return replace(state, routes=tuple(routes)).noted(*lines)


def _reason(database: Database, match: Match, *, connected: bool) -> str:
    parts = [database.name, f"tables {', '.join(_named(key) for key, _ in match.tables[:_SHOWN_TABLES])}"]
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
    if connected:
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


async def reweigh_routes(state: State, tools: Tools) -> State:
    """Sets `routes`: at most three, likeliest first."""
    if len(state.routes) < 2:  # noqa: PLR2004  nothing to choose among
        return state
    routes = reweighed(state.routes, tools.second_look)
    kept = routes[:1] + tuple(each for each in routes[1:MAX_ROUTES] if each.probability >= LEAST)
    before = {route.database.name: route.probability for route in state.routes}
    lines = [
        TraceLine("reweigh_routes", "database", _found(route, before[route.database.name]), route.probability)
        for route in kept
    ]
    if left := routes[len(kept) :]:
        names = ", ".join(route.database.name for route in left)
        lines.append(TraceLine("reweigh_routes", "left out", names, left[0].probability))
    return replace(state, routes=kept).noted(*lines)


def _found(route: Route, before: float) -> str:
    said = ", ".join(f"{name} {value:+.1f}" for name, value in features(route).items() if value)
    return f"{route.database.name}: {before:.0%} before; {said or 'nothing found'}"


async def divide(state: State, tools: Tools) -> State:
    """Sets `refusal`, and `parts` where it falls into two questions, where no database holds all that is asked about.

    A foreign table that stands for the other side is a table like any other.
    """
    if state.ask.db is not None or state.own_words != state.ask.question:
        return state
    found = await asyncio.to_thread(divided, state.ask.question, state.routes, tools.encoder)
    if found is None:
        return state
    told = refused(state, two_databases([(each.words, each.database) for each in found]), "divide")
    parts = tuple((each.database, each.question) for each in found if each.question is not None)
    return replace(told, parts=parts)
