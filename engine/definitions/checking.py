"""Checks definitions on their databases: the guard, their names, EXPLAIN.

EXPLAIN runs under the catalog's own login. That one may lack the right to read: PostgreSQL looks at rights behind names
and types (docs 55.2), so a definition that fails there has stood the check. Each asker's rights are looked at when they
ask.
"""

from __future__ import annotations

import asyncio
import time
from itertools import groupby

import structlog

from engine.core.deadline import Deadline
from engine.core.ports import StatementError, Upstream
from engine.definitions.renaming import write_renames
from engine.definitions.statement import DefinitionError, statement_of
from engine.errors import CancelledError, NLError, UnsafeSQLError
from engine.guard import Refused, Rules, check
from engine.sql.resolution import resolve
from engine.types import Asker
from engine.upstream.catalog_login import catalog_login
from schema_catalog.definitions import Definition, DefinitionStore, Element, State, Stored, Verdict
from schema_catalog.pg import Pool
from schema_catalog.refresh import ConnectSettings, UnreachableError
from schema_catalog.store import CatalogStore, UnknownNameError
from schema_catalog.types import Database, Snapshot, Term

SECONDS = 10.0
"""For planning one definition."""

INTERVAL = 1.0
"""Seconds between two looks for something new."""

RETRY = 60.0
"""Seconds until a database that did not answer is asked again."""

_NO_RIGHT = "42501"

_PASSING = frozenset({"08", "40", "53", "55", "57"})
"""Classes of errors that are of the moment (docs, appendix A): a lock, a shutdown, no memory."""

log = structlog.stdlib.get_logger("engine")


async def check_pending(
    pool: Pool, upstream: Upstream, settings: ConnectSettings, database: str | None = None
) -> tuple[tuple[Stored, Verdict], ...]:
    """Checks what is new, and all of a database with a newer snapshot; raises the store's errors.

    Definitions follow accepted renames first.

    `database`: of this one alone. What belongs to a database that does not answer stays as it was, with the reason.
    """
    await write_renames(pool)
    return await check_definitions(DefinitionStore(pool), CatalogStore(pool), upstream, settings, database)


async def check_definitions(
    store: DefinitionStore,
    catalog: CatalogStore,
    upstream: Upstream,
    settings: ConnectSettings,
    database: str | None = None,
) -> tuple[tuple[Stored, Verdict], ...]:
    """As `check_pending`, of the definitions in `store` as they stand."""
    outcomes: list[tuple[Stored, Verdict]] = []
    for name, pending in groupby(await store.pending(database), key=lambda each: each.database):
        left = list(pending)
        try:
            snapshot, reader, asker = await _opened(catalog, name, settings)
            while left:
                verdict = await _verdict(left[0].definition, snapshot, reader, asker, upstream)
                await store.note(left[0], verdict)
                outcomes.append((left.pop(0), verdict))
        except (UnreachableError, UnknownNameError, NLError) as problem:
            for each in left:
                await store.postpone(each, f"not checked: {problem}")
    return tuple(outcomes)


async def watch(pool: Pool, upstream: Upstream, settings: ConnectSettings) -> None:
    """Checks whatever is defined while the engine runs, about a second later. Ends when cancelled."""
    store, seen, tried = CatalogStore(pool), -1, 0.0
    while True:
        try:
            version = await store.version()
            if version != seen or time.monotonic() - tried > RETRY:
                seen, tried = version, time.monotonic()
                for stored, verdict in await check_pending(pool, upstream, settings):
                    log.info("definition", database=stored.database, kind=stored.kind, state=verdict.state)
        except Exception as problem:  # noqa: BLE001 - costs what was defined, never the engine
            log.warning("definitions not checked", problem=f"{type(problem).__name__}: {problem}")
        await asyncio.sleep(INTERVAL)


async def _opened(
    catalog: CatalogStore, name: str, settings: ConnectSettings
) -> tuple[Snapshot, Database, Asker]:
    """The newest snapshot of a database, and the catalog's way in."""
    database = (await catalog.get(name)).database
    snapshot = await catalog.newest(name)
    if snapshot is None:
        raise UnreachableError("its schema was never read")
    return (snapshot, *await catalog_login(database, settings))


async def _verdict(
    definition: Definition, snapshot: Snapshot, database: Database, asker: Asker, upstream: Upstream
) -> Verdict:
    """Raises `NLError` and `UnreachableError` where the database does not answer."""
    rules = await upstream.rules(database)
    try:
        sql, reads = await asyncio.to_thread(_named, definition, snapshot, rules)
        await upstream.explain(database, asker, sql, Deadline(time.monotonic() + SECONDS))
    except StatementError as error:
        if error.sqlstate == _NO_RIGHT:
            reason = f"planned up to the rights of the catalog's role: {error.message}"
            return Verdict(State.CHECKED, reason, reads)
        if error.sqlstate[:2] in _PASSING:
            raise UnreachableError(error.message) from error
        return Verdict(State.REFUSED, error.message)
    except (DefinitionError, UnsafeSQLError) as problem:
        return Verdict(State.REFUSED, str(problem))
    except CancelledError:
        return Verdict(State.REFUSED, "planning it takes too long")
    return Verdict(State.CHECKED, None, reads)


def _named(definition: Definition, snapshot: Snapshot, rules: Rules) -> tuple[str, tuple[Element, ...]]:
    """The statement that stands for the definition, and what it reads; raises `DefinitionError`."""
    verdict = check(statement_of(definition), rules)
    if isinstance(verdict, Refused):
        raise DefinitionError(f"not allowed: {verdict.detail}")
    if isinstance(definition, Term) and not verdict.analysis.repeatable:
        raise DefinitionError(
            "not allowed: it calls a volatile function, so that it means something else each time"
        )
    resolution = resolve(verdict.analysis.body, snapshot)
    if resolution.problems:
        raise DefinitionError("; ".join(problem.message for problem in resolution.problems))
    if not resolution.tables:
        raise DefinitionError("it reads no table")
    return verdict.analysis.body, tuple(sorted({*resolution.tables, *resolution.columns}))
