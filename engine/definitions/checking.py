"""Checks definitions without planning or running them: the guard, and their names in the newest snapshot.

What only a server can tell, such as whether types compare, shows where a statement is planned: as whoever asks.
"""

from __future__ import annotations

import asyncio
import time
from itertools import groupby

import structlog

from engine.core.background import Background
from engine.core.ports import Upstream
from engine.definitions.statement import DefinitionError, guarded
from engine.errors import NLError
from engine.guard import Rules
from engine.sql.resolution import resolve
from schema_catalog.definitions import Definition, DefinitionStore, State, Stored, Verdict
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogStore, UnknownNameError
from schema_catalog.types import Snapshot

INTERVAL = 1.0
"""Seconds between two looks for something new."""

RETRY = 60.0
"""Seconds until a database that did not answer is asked again."""

log = structlog.stdlib.get_logger("engine")


async def check_pending(
    pool: Pool, upstream: Upstream, database: str | None = None
) -> tuple[tuple[Stored, Verdict], ...]:
    """Checks what is new, and all of a database with a newer snapshot; raises the store's errors.

    `database`: of this one alone. What belongs to a database that does not answer stays as it was, with the reason.
    """
    return await check_definitions(DefinitionStore(pool), CatalogStore(pool), upstream, database)


async def check_definitions(
    store: DefinitionStore, catalog: CatalogStore, upstream: Upstream, database: str | None = None
) -> tuple[tuple[Stored, Verdict], ...]:
    """As `check_pending`, of the definitions in `store` as they stand."""
    outcomes: list[tuple[Stored, Verdict]] = []
    for name, pending in groupby(await store.pending(database), key=lambda each: each.database):
        try:
            snapshot = await catalog.newest(name)
            rules = await upstream.rules((await catalog.get(name)).database)
        except (UnknownNameError, NLError) as problem:
            for each in pending:
                await store.postpone(each, f"not checked: {problem}")
            continue
        if snapshot is None:
            continue
        for each in pending:
            verdict = await asyncio.to_thread(_verdict, each.definition, snapshot, rules)
            await store.note(each, verdict)
            outcomes.append((each, verdict))
    return tuple(outcomes)


async def watch(pool: Pool, upstream: Upstream, background: Background) -> None:
    """Checks whatever is defined while the engine runs, about a second later. Ends when cancelled."""
    store, seen, tried = CatalogStore(pool), -1, 0.0
    while True:
        try:
            version = await store.version()
            if version != seen or time.monotonic() - tried > RETRY:
                seen, tried = version, time.monotonic()
                for stored, verdict in await check_pending(pool, upstream):
                    log.info("definition", database=stored.database, kind=stored.kind, state=verdict.state)
            background.worked("definitions")
        except Exception as problem:  # noqa: BLE001 - costs what was defined, never the engine
            background.failed("definitions", problem)
        await asyncio.sleep(background.pause("definitions", INTERVAL))


def _verdict(definition: Definition, snapshot: Snapshot, rules: Rules) -> Verdict:
    try:
        resolution = resolve(guarded(definition, rules).body, snapshot)
    except DefinitionError as problem:
        return Verdict(State.REFUSED, str(problem))
    if resolution.problems:
        return Verdict(State.REFUSED, "; ".join(problem.message for problem in resolution.problems))
    if not resolution.tables:
        return Verdict(State.REFUSED, "it reads no table")
    return Verdict(State.CHECKED, None, tuple(sorted({*resolution.tables, *resolution.columns})))
