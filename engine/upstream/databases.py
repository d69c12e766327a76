"""The engine's operations on the registered databases, as the asker and within limits.

Owns the operations and their deadlines, and checks every statement by `engine.guard` so that none goes around it.
`access` decides through which login a statement runs, `connections` connects, `frame` prepares the transaction.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from logging import DEBUG, WARNING
from typing import TypeVar

import asyncpg
import structlog

from engine.guard import Analysis, Refused, Rules, check
from engine.guard.server_rules import rules_for
from engine.statement.printing.statement import Printed
from engine.upstream.access import Access, Accesses
from engine.upstream.connections import Connections
from engine.upstream.errors import translated
from engine.upstream.frame import Frame
from engine.upstream.masking import Masking
from engine.upstream.meter import MeteredConnection
from engine.upstream.overdue import Overdue, Statement
from engine.upstream.rows import TypeNames, rows
from engine.upstream.ttl_cache import TTLCache
from engine.values.deadline import Deadline
from engine.values.errors import NLError, UnsafeSQLError, for_log
from engine.values.guard_rules import Dropped
from engine.values.messages import Asker
from engine.values.ports import Catalog, Result, StatementError
from engine.values.settings import GuardSettings, UpstreamSettings
from schema_catalog.pg import Connection
from schema_catalog.privileges import readable_columns, row_secured_tables, unbound
from schema_catalog.types import Database, ReadableColumns, Snapshot, TableKey

log = structlog.stdlib.get_logger("engine")

_EXPLAIN = "EXPLAIN (FORMAT JSON) "

_FAREWELL = 1.0
"""Seconds that a server gets to end a transaction which did not run out of time."""

_OVERHEAD = 8 << 20
"""Bytes beyond the cap of an answer: the protocol around it, and the last row's excess."""

_RUNNING = """
    SELECT a.pid FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = pg_catalog.current_database() AND a.pid = ANY ($1::int[]) AND a.usename = ANY ($2::name[])
"""


@dataclass(frozen=True, slots=True)
class _Open:
    """A statement in its frame."""

    connection: MeteredConnection
    statement: Printed


T = TypeVar("T")


class Databases:
    """The registered databases; implements `engine.values.ports.Upstream`. Holds connections until `aclose`."""

    def __init__(
        self,
        settings: UpstreamSettings,
        guard: GuardSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        catalog: Catalog | None = None,
    ) -> None:
        """`guard`: names that a DBA allows beyond the built-in lists. `catalog`: says what is masked."""
        self._settings = settings
        self._guard = guard or GuardSettings()
        self._clock = clock
        self._connections = Connections(settings)
        self._accesses = Accesses(self._connections, settings, clock)
        self._frame = Frame(settings, clock)
        self._types = TypeNames()
        ttl = settings.privileges_ttl
        # With the snapshot: while the answer counts, no other one has its id.
        self._readable = TTLCache[tuple[Database, str, int], tuple[Snapshot | None, ReadableColumns]](
            ttl, clock
        )
        self._secured = TTLCache[Database, frozenset[TableKey]](ttl, clock)
        self._rules = TTLCache[Database, Rules](ttl, clock)
        self._masking = Masking(catalog, self._asked, ttl, clock)
        self._warned: set[tuple[str, str]] = set()
        self._dropped: dict[Database, tuple[Dropped, ...]] = {}
        self._overdue = Overdue(self._still_running, clock, most=settings.overdue_per_asker)

    async def aclose(self) -> None:
        """Closes every connection, those in use as well."""
        await self._overdue.aclose()
        await self._connections.aclose()

    @property
    def overdue(self) -> int:
        """How many statements a server has not stopped at their deadline."""
        return self._overdue.count

    # -- system catalogs, read by the catalog's role

    async def readable(
        self, database: Database, asker: Asker, snapshot: Snapshot | None = None
    ) -> ReadableColumns:
        """The columns that `asker` may SELECT there, at most `privileges_ttl` seconds old.

        Of a `snapshot` that is asked about for the first time they are read anew: a column that is new, or has a new
        name, is in no older answer. Empty where the asker has neither a session nor a login there, where that role does
        not exist, or may not connect. Raises `DatabaseUnavailableError`.
        """
        access = await self._accesses.find(database, asker)
        if access is None:
            return frozenset()
        role = access.role

        async def read() -> tuple[Snapshot | None, ReadableColumns]:
            found = await self._asked(database, lambda each: self._readable_by(each, database, role))
            return snapshot, found

        _, columns = await self._readable.get((database, role, id(snapshot)), read)
        return columns

    async def _readable_by(self, connection: Connection, database: Database, role: str) -> ReadableColumns:
        """The columns; a role that no grant bounds is warned of once."""
        if (database.name, role) not in self._warned:
            why = await unbound(connection, role)
            if why is not None:
                self._warned.add((database.name, role))
                log.warning("asker without bounds", database=database.name, role=role, why=why)
        return await readable_columns(connection, role, self._settings.trusted_owners)

    async def row_secured(self, database: Database) -> frozenset[TableKey]:
        """The tables with row-level security, at most `privileges_ttl` seconds old; raises as `readable`."""
        return await self._secured.get(database, lambda: self._asked(database, row_secured_tables))

    async def rules(self, database: Database) -> Rules:
        """The guard's rules for this database, at most `privileges_ttl` seconds old; raises as `readable`."""
        rules = await self._rules.get(
            database,
            lambda: self._asked(
                database,
                lambda connection: rules_for(
                    connection, self._guard.of(database.name), self._settings.trusted_owners
                ),
            ),
        )
        if rules.dropped and rules.dropped != self._dropped.get(database):
            allowed = self._guard.of(database.name)
            wished = {*allowed.functions, *allowed.operators, *allowed.types}
            names = [f"{each.name}: {each.why}" for each in rules.dropped if each.name in wished]
            log.log(WARNING if names else DEBUG, "allowed in vain", database=database.name, names=names)
        self._dropped[database] = rules.dropped
        return rules

    async def _asked(self, database: Database, query: Callable[[Connection], Awaitable[T]]) -> T:
        """The result of `query` on a connection of the catalog's role, within `statement_timeout`."""
        deadline = Deadline(self._clock() + self._settings.statement_timeout, self._clock)
        async with self._of_catalog(database, deadline) as connection:
            return await query(connection)

    @asynccontextmanager
    async def _of_catalog(self, database: Database, deadline: Deadline) -> AsyncIterator[Connection]:
        with translated(database, deadline):
            async with (
                asyncio.timeout(deadline.remaining()),
                self._connections.of_catalog(database, deadline) as connection,
            ):
                yield connection

    async def _still_running(self, database: Database, statements: Collection[Statement]) -> frozenset[int]:
        """The process ids of those that still run; each is terminated, since its code may catch a cancellation."""
        deadline = Deadline(self._clock() + self._settings.connect_timeout, self._clock)
        pids = [statement.pid for statement in statements]
        roles = [statement.access.role for statement in statements]
        async with self._of_catalog(database, deadline) as connection:
            running = frozenset(row[0] for row in await connection.fetch(_RUNNING, pids, roles))
        for statement in statements:
            if statement.pid in running:
                await self._end(statement, deadline)
        return running

    async def _end(self, statement: Statement, deadline: Deadline) -> None:
        """Ends the server process of an asker as the asker, who may end their own."""
        access, pid = statement.access, statement.pid
        try:
            async with (
                asyncio.timeout(deadline.remaining()),
                self._connections.of_asker(access.through, deadline) as connection,
            ):
                await connection.execute(f"SELECT pg_catalog.pg_terminate_backend({pid})")
        except (NLError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            log.warning("statement not ended", database=access.database.name, pid=pid, error=for_log(error))

    # -- statements as the asker

    async def explain(
        self, database: Database, asker: Asker, sql: str, deadline: Deadline, *, chosen: bool = False
    ) -> float:
        """Plans `sql` as the asker, which checks names, types and privileges without running it.

        Raises `StatementError` (PostgreSQL refused), `UnsafeSQLError` (the guard refused, or code of somebody
        who is not trusted would run), `NotPermittedError` (the asker has no login there), `CancelledError` (out of
        time) or `DatabaseUnavailableError`; of what the asker has `chosen` also as `run`.
        """
        async with self._open(database, asker, sql, deadline, chosen=chosen) as opened:
            try:
                text = await opened.connection.fetchval(_EXPLAIN + opened.statement.text)
            except asyncpg.PostgresError as error:
                if error.position:
                    place = int(error.position) - len(_EXPLAIN)
                    error.position = str(opened.statement.original(place))
                raise
        cost: float = json.loads(text)[0]["Plan"]["Total Cost"]
        return cost

    async def plan(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> tuple[str, ...]:
        """The lines of EXPLAIN in text format, as the asker, who chose it; raises as `run` of what is chosen."""
        async with self._open(database, asker, sql, deadline, chosen=True) as opened:
            lines = await opened.connection.fetch("EXPLAIN " + opened.statement.text)
        return tuple(str(row[0]) for row in lines)

    async def run(
        self,
        database: Database,
        asker: Asker,
        sql: str,
        row_cap: int,
        deadline: Deadline,
        *,
        chosen: bool = False,
    ) -> Result:
        """Runs `sql` as the asker: at most `row_cap` rows, in the statement's order; raises as `explain`.

        Of what the asker has `chosen` also `QuotaError`: too many earlier ones still run. Types are those that every
        PostgreSQL has; others (enum, composite, extension) are text.
        """
        caps = self._settings.caps_of(database.name, asker.user)
        async with self._open(database, asker, sql, deadline, chosen=chosen) as opened:
            columns = await self._types.columns(opened.connection, opened.statement)
            return await rows(opened.connection, opened.statement, columns, min(row_cap, caps.rows), caps)

    async def in_place(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> str | None:
        """What to send in the place of `sql`, to run in the asker's session outside of our frame.

        None where that is another database, or where the statement may mean something else there. Raises as `plan`.
        """
        analysis, rules = await self._checked(database, sql)
        access = await self._accesses.lent(database, asker)
        if access is None:
            return None
        async with self._transaction(access, deadline, chosen=True) as connection:
            await self._frame.open(connection, deadline, version=rules.version, lent=True)
            return await self._frame.placed(connection, analysis, access, rules)

    async def _checked(self, database: Database, sql: str) -> tuple[Analysis, Rules]:
        """The statement behind the first wall; raises `UnsafeSQLError`."""
        rules = await self.rules(database)
        analysis = await asyncio.to_thread(_guarded, sql, rules)
        await self._masking.check(database, analysis, rules)
        return analysis, rules

    async def session_timeout(self, asker: Asker) -> float | None:
        """Seconds of the session's `statement_timeout`; None where it has none, or cannot be lent."""
        return await self._accesses.timeout(asker)

    async def is_own(self, database: Database, asker: Asker) -> bool:
        """Whether `database` is the one that the asker's session is connected to, by its identity and not its name.

        Raises `DatabaseUnavailableError` where the session's server does not answer.
        """
        return await self._accesses.lent(database, asker) is not None

    @asynccontextmanager
    async def _open(
        self, database: Database, asker: Asker, sql: str, deadline: Deadline, *, chosen: bool = False
    ) -> AsyncIterator[_Open]:
        analysis, rules = await self._checked(database, sql)
        access = await self._accesses.get(database, asker)
        async with self._transaction(access, deadline, chosen=chosen) as connection:
            await self._frame.open(connection, deadline, version=rules.version, lent=access.lent)
            yield _Open(connection, await self._frame.printed(connection, analysis, access, rules))

    @asynccontextmanager
    async def _transaction(
        self, access: Access, deadline: Deadline, *, chosen: bool
    ) -> AsyncIterator[MeteredConnection]:
        """A connection as the asker; its transaction is rolled back after the block, or abandoned at the deadline."""
        answer_bytes = self._settings.caps_of(access.database.name, access.asker).answer_bytes
        with translated(access.database, deadline):
            async with (
                self._overdue.turn(access, deadline, chosen=chosen),
                self._connections.of_asker(access.through, deadline) as connection,
            ):
                connection.meter.allow(2 * answer_bytes + _OVERHEAD)
                try:
                    async with self._left_in_time(access, connection, deadline, chosen=chosen):
                        yield connection
                except (asyncpg.InterfaceError, asyncpg.PostgresConnectionError, OSError) as error:
                    if connection.meter.exceeded:
                        raise _too_large(answer_bytes) from error
                    raise
                finally:
                    if not (access.lent or connection.is_closed()):
                        await _rolled_back(connection)

    @asynccontextmanager
    async def _left_in_time(
        self, access: Access, connection: MeteredConnection, deadline: Deadline, *, chosen: bool
    ) -> AsyncIterator[None]:
        """Closes the connection at `deadline`, without waiting for the server; counts a statement that still runs."""
        pid = connection.get_server_pid()
        try:
            async with asyncio.timeout(deadline.remaining()):
                yield
        except asyncpg.QueryCanceledError:
            self._overdue.ran_out(access.asker, chosen=chosen)
            raise
        except (TimeoutError, asyncio.CancelledError) as error:
            connection.terminate()
            if isinstance(error, TimeoutError):
                self._overdue.ran_out(access.asker, chosen=chosen)
            if not access.lent:
                self._overdue.add(Statement(access, pid, chosen))
            raise


async def _rolled_back(connection: MeteredConnection) -> None:
    """Ends the transaction; a server that does not answer at once is left."""
    try:
        await asyncio.wait_for(connection.execute("ROLLBACK"), _FAREWELL)
    except (TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        connection.terminate()


def _too_large(size: int) -> StatementError:
    return StatementError(
        "54000",
        "the server's answer is too large",
        f"More than {size} bytes came, although values and rows were cut.",
        "Ask for less; the operator may raise answer_bytes in [[upstream.caps]].",
        None,
    )


def _guarded(sql: str, rules: Rules) -> Analysis:
    verdict = check(sql, rules)
    if isinstance(verdict, Refused):
        raise UnsafeSQLError(
            "the statement is refused",
            detail=f"{verdict.detail[0].upper()}{verdict.detail[1:]}.",
            hint=verdict.hint or "Only one query that reads, with built-in functions, can run here.",
        )
    return verdict.analysis
