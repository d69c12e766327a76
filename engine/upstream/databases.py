"""What the engine asks of the registered databases, for whom, and within which limits.

Owns the verbs and their deadlines. The first wall is `engine.guard`, asked here again so that no path around it
exists; who connects how is `connections`', what stands before a statement is planned `frame`'s. Does not choose
what runs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import asyncpg
import structlog

from engine.core.deadline import Deadline
from engine.core.ports import Plan, Result, StatementError
from engine.errors import NLError, UnsafeSQLError, UnsupportedError
from engine.guard import Analysis, Refused, Rules, check
from engine.guard.server_rules import rules_for
from engine.settings import GuardSettings, UpstreamSettings
from engine.types import Asker, SessionLoan
from engine.upstream.connections import Connections
from engine.upstream.errors import translated
from engine.upstream.frame import Frame, Place
from engine.upstream.meter import MeteredConnection
from engine.upstream.overdue import Overdue, Statement
from engine.upstream.qualify import Qualified
from engine.upstream.rows import TypeNames, rows
from schema_catalog.dsn import user_of
from schema_catalog.identity import IDENTITY_QUERY
from schema_catalog.logins import login_for
from schema_catalog.privileges import readable_columns, row_secured_tables
from schema_catalog.types import Database, ReadableColumns, TableKey

log = structlog.stdlib.get_logger("engine")

_EXPLAIN = "EXPLAIN (FORMAT JSON) "

_PATH = "SELECT pg_catalog.array_to_json(pg_catalog.current_schemas(false))::pg_catalog.text"

_FAREWELL = 1.0
"""Seconds that a server gets to end a transaction which did not run out of time."""

_OVERHEAD = 8 << 20
"""Bytes that may come with an answer: what the server says around it, and what one row may go over the cap."""

_REMEMBERED = 1000
"""Sessions of which it is remembered where they are."""

_RUNNING = """
    SELECT a.pid FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = pg_catalog.current_database() AND a.pid = ANY ($1::int[]) AND a.usename = ANY ($2::name[])
"""


@dataclass(frozen=True, slots=True)
class _Open:
    """A statement in its frame."""

    connection: MeteredConnection
    statement: Qualified


class Databases:
    """The registered databases; implements `engine.core.ports.Upstream`. Holds connections until `aclose`."""

    def __init__(
        self,
        settings: UpstreamSettings,
        guard: GuardSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`guard`: what a DBA allows beyond the built-in lists."""
        self._settings = settings
        self._guard = guard or GuardSettings()
        self._clock = clock
        self._connections = Connections(settings)
        self._frame = Frame(settings, clock)
        self._types = TypeNames()
        self._readable: dict[tuple[Database, str], tuple[float, ReadableColumns]] = {}
        self._rules: dict[Database, tuple[float, Rules]] = {}
        self._secured: dict[Database, tuple[float, frozenset[TableKey]]] = {}
        self._places: dict[str, str | UnsupportedError] = {}
        self._overdue = Overdue(self._still_running, clock, most=settings.overdue_per_asker)

    async def aclose(self) -> None:
        """Closes every connection, those in use as well."""
        await self._overdue.aclose()
        await self._connections.aclose()

    @property
    def overdue(self) -> int:
        """How many statements a server has not stopped at their deadline."""
        return self._overdue.count

    # -- what the catalog's role reads of the server's own catalogs

    async def readable(self, database: Database, asker: Asker) -> ReadableColumns:
        """The columns that `asker` may SELECT there, at most `privileges_ttl` seconds old.

        Empty where the asker has neither a session nor a login there, where that role does not exist, or may not
        connect. Raises `DatabaseUnavailableError`.
        """
        role = await self._role(database, asker)
        if role is None:
            return frozenset()
        now = self._clock()
        found = self._readable.get((database, role))
        if found is not None and found[0] > now:
            return found[1]
        deadline = Deadline(now + self._settings.statement_timeout, self._clock)
        with translated(database, deadline):
            async with self._connections.of_catalog(database, deadline) as connection:
                trusted = self._settings.trusted_owners
                columns = await asyncio.wait_for(
                    readable_columns(connection, role, trusted), deadline.remaining()
                )
        self._readable = {key: value for key, value in self._readable.items() if value[0] > now}
        self._readable[database, role] = (now + self._settings.privileges_ttl, columns)
        return columns

    async def row_secured(self, database: Database) -> frozenset[TableKey]:
        """The tables with row-level security, at most `privileges_ttl` seconds old; raises as `readable`."""
        now = self._clock()
        found = self._secured.get(database)
        if found is not None and found[0] > now:
            return found[1]
        deadline = Deadline(now + self._settings.statement_timeout, self._clock)
        with translated(database, deadline):
            async with self._connections.of_catalog(database, deadline) as connection:
                tables = await asyncio.wait_for(row_secured_tables(connection), deadline.remaining())
        self._secured[database] = (now + self._settings.privileges_ttl, tables)
        return tables

    async def rules(self, database: Database) -> Rules:
        """What the guard knows of this server, at most `privileges_ttl` seconds old; raises as `readable`."""
        now = self._clock()
        found = self._rules.get(database)
        if found is not None and found[0] > now:
            return found[1]
        deadline = Deadline(now + self._settings.statement_timeout, self._clock)
        with translated(database, deadline):
            async with self._connections.of_catalog(database, deadline) as connection:
                asked = rules_for(connection, self._guard.of(database.name), self._settings.trusted_owners)
                rules = await asyncio.wait_for(asked, deadline.remaining())
        if rules.dropped and (found is None or found[1].dropped != rules.dropped):
            names = [f"{each.name}: {each.why}" for each in rules.dropped]
            log.warning("allowed in vain", database=database.name, names=names)
        self._rules[database] = (now + self._settings.privileges_ttl, rules)
        return rules

    async def _still_running(self, database: Database, statements: Collection[Statement]) -> frozenset[int]:
        """The process ids of those that run on; each is asked to end, whatever code catches its cancelling."""
        deadline = Deadline(self._clock() + self._settings.connect_timeout, self._clock)
        pids = [statement.pid for statement in statements]
        roles = [statement.role for statement in statements]
        with translated(database, deadline):
            async with (
                asyncio.timeout(deadline.remaining()),
                self._connections.of_catalog(database, deadline) as connection,
            ):
                running = frozenset(row[0] for row in await connection.fetch(_RUNNING, pids, roles))
        for statement in statements:
            if statement.pid in running:
                await self._end(statement, deadline)
        return running

    async def _end(self, statement: Statement, deadline: Deadline) -> None:
        """Ends the server process of an asker as the asker, who may end their own."""
        try:
            async with (
                asyncio.timeout(deadline.remaining()),
                self._connections.of_login(statement.database, statement.asker, deadline) as connection,
            ):
                await connection.execute(f"SELECT pg_catalog.pg_terminate_backend({statement.pid})")
        except (NLError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            log.warning(
                "statement not ended", database=statement.database.name, pid=statement.pid, error=str(error)
            )

    # -- what runs as the asker

    async def explain(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> Plan:
        """Plans `sql` as the asker, which checks names, types and privileges without running it.

        Raises `StatementError` (PostgreSQL refused), `UnsafeSQLError` (the guard refused, or code of somebody
        who is not trusted would run), `NotPermittedError` (the asker has no login there), `QuotaError` (too many
        earlier statements still run), `CancelledError` (out of time) or `DatabaseUnavailableError`.
        """
        async with self._open(database, asker, sql, deadline) as opened:
            try:
                text = await opened.connection.fetchval(_EXPLAIN + opened.statement.text)
            except asyncpg.PostgresError as error:
                if error.position:
                    place = int(error.position) - len(_EXPLAIN)
                    error.position = str(opened.statement.original(place))
                raise
        plan = json.loads(text)[0]["Plan"]
        return Plan(cost=plan["Total Cost"], rows=plan["Plan Rows"])

    async def plan(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> tuple[str, ...]:
        """The lines of EXPLAIN in text format, as the asker; raises as `explain`."""
        async with self._open(database, asker, sql, deadline) as opened:
            lines = await opened.connection.fetch("EXPLAIN " + opened.statement.text)
        return tuple(str(row[0]) for row in lines)

    async def run(
        self, database: Database, asker: Asker, sql: str, row_cap: int, deadline: Deadline
    ) -> Result:
        """Runs `sql` as the asker: at most `row_cap` rows, in the statement's order; raises as `explain`.

        Types are those that every PostgreSQL has; others (enum, composite, extension) are text.
        """
        caps = self._settings.caps_of(database.name, asker.user)
        async with self._open(database, asker, sql, deadline) as opened:
            body, most = opened.statement.text, min(row_cap, caps.rows)
            columns = await self._types.columns(opened.connection, body)
            return await rows(opened.connection, body, columns, most, caps)

    async def in_place(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> str | None:
        """`sql` as it may run in the asker's session as that stands, outside of our frame.

        None where that is another database, where somebody who is not trusted can put functions on the session's
        search path, or where that path lacks what the statement needs. Raises as `explain`.
        """
        rules = await self.rules(database)
        analysis = _guarded(sql, rules)
        if not await self.is_own(database, asker):
            return None
        async with self._transaction(database, asker, deadline) as connection:
            path = json.loads(await connection.fetchval(_PATH))
            await self._frame.open(connection, deadline, version=rules.version, lent=True)
            unsafe = await self._frame.unsafe_schema(connection, path)
            place = Place(database, asker.user, rules)
            statement = await self._frame.fixed(connection, analysis, place)
        found = unsafe is None and set(statement.schemas) <= set(path)
        return statement.text if found else None

    @asynccontextmanager
    async def _open(
        self, database: Database, asker: Asker, sql: str, deadline: Deadline
    ) -> AsyncIterator[_Open]:
        rules = await self.rules(database)
        analysis = _guarded(sql, rules)
        lent = await self.is_own(database, asker)
        place = Place(database, await self._role(database, asker) or "", rules)
        async with self._transaction(database, asker, deadline) as connection:
            await self._frame.open(connection, deadline, version=rules.version, lent=lent)
            yield _Open(connection, await self._frame.fixed(connection, analysis, place))

    @asynccontextmanager
    async def _transaction(
        self, database: Database, asker: Asker, deadline: Deadline
    ) -> AsyncIterator[MeteredConnection]:
        """A connection as the asker until the block's end; whatever was begun is undone, or left behind in time."""
        lent = await self.is_own(database, asker)
        caps = self._settings.caps_of(database.name, asker.user)
        with translated(database, deadline):
            async with (
                self._overdue.turn(database, asker.user, deadline),
                self._connected(database, asker, deadline, lent=lent) as connection,
            ):
                connection.meter.allow(2 * caps.answer_bytes + _OVERHEAD)
                pid, left = connection.get_server_pid(), lent
                try:
                    async with asyncio.timeout(deadline.remaining()):
                        yield connection
                except (TimeoutError, asyncio.CancelledError) as error:
                    # Not waited for: what the server still does is its own matter, and counted.
                    left = True
                    connection.terminate()
                    if isinstance(error, TimeoutError):
                        self._overdue.ran_out(asker.user)
                    if not lent:
                        role = user_of(login_for(database, asker.user) or "") or ""
                        self._overdue.add(Statement(database, asker.user, role, pid))
                    raise
                except asyncpg.QueryCanceledError:
                    self._overdue.ran_out(asker.user)
                    raise
                except (asyncpg.InterfaceError, asyncpg.PostgresConnectionError, OSError) as error:
                    if connection.meter.exceeded:
                        raise _too_large(caps.answer_bytes) from error
                    raise
                finally:
                    if not (left or connection.is_closed()):
                        await _rolled_back(connection)

    def _connected(
        self, database: Database, asker: Asker, deadline: Deadline, *, lent: bool
    ) -> AbstractAsyncContextManager[MeteredConnection]:
        if lent and asker.session is not None:
            return self._connections.of_session(asker.session, deadline)
        return self._connections.of_login(database, asker.user, deadline)

    # -- whose database it is

    async def is_own(self, database: Database, asker: Asker) -> bool:
        """Whether `database` is the one that the asker's session is connected to, by its identity and not its name.

        Raises `DatabaseUnavailableError` where the session's server does not answer.
        """
        if asker.session is None or database.identity is None or database.dbname != asker.dbname:
            return False
        return await self._place(database, asker.session) == database.identity

    async def _place(self, database: Database, loan: SessionLoan) -> str | UnsupportedError:
        """Where the session is, or why it cannot be lent now."""
        if loan.token not in self._places:
            deadline = Deadline(self._clock() + self._settings.connect_timeout, self._clock)
            with translated(database, deadline):
                place = await asyncio.wait_for(self._asked_place(loan, deadline), deadline.remaining())
            while len(self._places) >= _REMEMBERED:
                del self._places[next(iter(self._places))]
            self._places[loan.token] = place
        return self._places[loan.token]

    async def _asked_place(self, loan: SessionLoan, deadline: Deadline) -> str | UnsupportedError:
        try:
            async with self._connections.of_session(loan, deadline) as connection:
                place: str = await connection.fetchval(IDENTITY_QUERY)
        except (asyncpg.FeatureNotSupportedError, asyncpg.InsufficientPrivilegeError) as error:
            return UnsupportedError(error.message or str(error), detail=error.detail, hint=error.hint)
        return place

    async def _role(self, database: Database, asker: Asker) -> str | None:
        """The role that the asker is there; None where the asker is nobody there.

        Raises `UnsupportedError` where only the session could say, and it cannot be lent now.
        """
        if await self.is_own(database, asker):
            return asker.user
        dsn = login_for(database, asker.user)
        if dsn is not None:
            return user_of(dsn)
        place = None if asker.session is None else self._places.get(asker.session.token)
        if isinstance(place, UnsupportedError) and database.dbname == asker.dbname:
            raise place
        return None


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
