"""Runs statements on the registered databases as the asking user: read-only, timed, capped.

Owns the second wall (PostgreSQL's own privileges, under the user's role) and the one translation of the
driver's exceptions. The first wall is `engine.guard`, asked here again so that no path around it exists. Does
not choose what runs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.resources import files

import asyncpg

from engine.errors import CancelledError, DatabaseUnavailableError, NLError, NotPermittedError, UnsafeSQLError
from engine.foreign_code import ForeignCode
from engine.guard import Analysis, Refused, allowed, check
from engine.settings import UpstreamSettings
from engine.state import Deadline, Plan, Result, StatementError, TableKey
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Connection, Pool
from schema_catalog.privileges import readable_columns, row_secured_tables
from schema_catalog.types import Database, ReadableColumns

_RESULT_TYPES = files("engine").joinpath("sql/result_types.sql")

_UNAVAILABLE = ("08", "57P", "53300")
"""SQLSTATEs (or their beginnings) that mean the server, not the statement: docs appendix A."""

_SESSION = {
    # The guard's parser reads backslashes so; a server that read them otherwise would see another statement.
    "standard_conforming_strings": "on",
    "row_security": "on",
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}
"""What a statement's meaning and the text of its values depend on, apart from the server's time zone."""

_EXPLAIN = "EXPLAIN (FORMAT JSON) "

_TIMER_SLACK = 0.05
"""Seconds by which a timer may fire before its deadline; what times out earlier is a connection attempt."""


class Databases:
    """The registered databases; implements `engine.state.Upstream`. Holds connection pools until `aclose`."""

    def __init__(self, settings: UpstreamSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._opening = asyncio.Lock()
        self._pools: dict[str, Pool] = {}
        self._readable: dict[tuple[Database, str], tuple[float, ReadableColumns]] = {}
        self._secured: dict[Database, tuple[float, frozenset[TableKey]]] = {}
        self._foreign_code = ForeignCode(settings.trusted_owners)
        self._result_types = _RESULT_TYPES.read_text("utf-8")

    async def readable(self, database: Database, role: str) -> ReadableColumns:
        """The columns that `role` may SELECT, at most `privileges_ttl` seconds old.

        Empty where the role does not exist or may not connect. Raises `DatabaseUnavailableError`.
        """
        now = self._clock()
        found = self._readable.get((database, role))
        if found is not None and found[0] > now:
            return found[1]
        deadline = Deadline(now + self._settings.statement_timeout, self._clock)
        with _translated(database, deadline):
            async with self._connection(database, deadline) as connection:
                columns = await asyncio.wait_for(readable_columns(connection, role), deadline.remaining())
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
        with _translated(database, deadline):
            async with self._connection(database, deadline) as connection:
                tables = await asyncio.wait_for(row_secured_tables(connection), deadline.remaining())
        self._secured[database] = (now + self._settings.privileges_ttl, tables)
        return tables

    async def explain(self, database: Database, role: str, sql: str, deadline: Deadline) -> Plan:
        """Plans `sql` as `role`, which checks names, types and privileges without running it.

        Raises `StatementError` (PostgreSQL refused), `UnsafeSQLError` (the guard refused),
        `NotPermittedError` (the role cannot be taken), `CancelledError` (out of time) or
        `DatabaseUnavailableError`.
        """
        analysis = _guarded(sql)
        try:
            async with self._as_user(database, role, analysis, deadline) as connection:
                text = await connection.fetchval(_EXPLAIN + analysis.body)
        except StatementError as error:
            place = None if error.position is None else error.position - len(_EXPLAIN)
            raise StatementError(error.sqlstate, error.message, error.detail, error.hint, place) from error
        plan = json.loads(text)[0]["Plan"]
        return Plan(cost=plan["Total Cost"], rows=plan["Plan Rows"])

    async def plan(self, database: Database, role: str, sql: str, deadline: Deadline) -> tuple[str, ...]:
        """The lines of EXPLAIN in text format, as `role`; raises as `explain`."""
        analysis = _guarded(sql)
        async with self._as_user(database, role, analysis, deadline) as connection:
            rows = await connection.fetch("EXPLAIN " + analysis.body)
        return tuple(str(row[0]) for row in rows)

    async def run(self, database: Database, role: str, sql: str, row_cap: int, deadline: Deadline) -> Result:
        """Runs `sql` as `role`: at most `row_cap` rows, in the statement's order; raises as `explain`.

        Types are those that every PostgreSQL has; others (enum, composite, extension) are text.
        """
        analysis = _guarded(sql)
        async with self._as_user(database, role, analysis, deadline) as connection:
            attributes = (await connection.prepare(analysis.body)).get_attributes()
            oids = [attribute.type.oid for attribute in attributes]
            types = await connection.fetchval(self._result_types, oids, sorted(allowed.TYPES))
            rows = await connection.fetch(_as_text(analysis.body, len(attributes), row_cap + 1))
        return Result(
            columns=tuple((attribute.name, name) for attribute, name in zip(attributes, types, strict=True)),
            rows=tuple(tuple(row) for row in rows[:row_cap]),
            truncated=len(rows) > row_cap,
        )

    async def aclose(self) -> None:
        """Closes every connection, those in use as well."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.terminate()

    @asynccontextmanager
    async def _as_user(
        self, database: Database, role: str, analysis: Analysis, deadline: Deadline
    ) -> AsyncIterator[Connection]:
        """A connection in a transaction that can only read, under `role`; always rolled back."""
        with _translated(database, deadline):
            async with (
                asyncio.timeout(deadline.remaining()),
                self._connection(database, deadline) as connection,
            ):
                try:
                    await self._begin(connection, database, role, deadline)
                    await self._foreign_code.refuse(connection, analysis)
                    yield connection
                finally:
                    if not connection.is_closed():
                        await connection.execute("ROLLBACK")

    async def _begin(self, connection: Connection, database: Database, role: str, deadline: Deadline) -> None:
        """Opens the transaction. What the login role's own settings say about these does not count."""
        seconds = min(self._settings.statement_timeout, deadline.remaining())
        milliseconds = max(1, int(seconds * 1000))
        # pg_catalog is searched first where it is not named (docs 5.10.5), so that built-ins win ties.
        path = [schema for schema in database.search_path if schema != "pg_catalog"]
        settings = {
            "statement_timeout": str(milliseconds),
            "lock_timeout": str(int(self._settings.lock_timeout * 1000)),
            "idle_in_transaction_session_timeout": str(milliseconds + 10_000),
            "search_path": ", ".join(map(quote_ident, path)) or "''",
            **_SESSION,
        }
        local = "".join(f"SET LOCAL {name} = {value}; " for name, value in settings.items())
        await connection.execute(f"BEGIN READ ONLY; {local}")
        if role == "none":
            # SET ROLE none means the login role itself; a role of that name cannot exist.
            raise NotPermittedError('role "none" does not exist')
        try:
            await connection.execute('SET LOCAL ROLE "' + role.replace('"', '""') + '"')
        except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidParameterValueError) as error:
            raise NotPermittedError(
                f'statements cannot run as role "{role}" in {database.name}',
                detail=f"The server says: {error.message}.",
                hint=f"Ask the DBA to GRANT {quote_ident(role)} TO the role that the catalog connects with.",
            ) from error

    @asynccontextmanager
    async def _connection(self, database: Database, deadline: Deadline) -> AsyncIterator[Connection]:
        async with self._opening:
            pool = self._pools.get(database.dsn)
            if pool is None:
                pool = asyncpg.create_pool(
                    database.dsn,
                    min_size=0,
                    max_size=self._settings.pool_size,
                    # No plan or type outlives the role that asked for it.
                    statement_cache_size=0,
                    timeout=self._settings.connect_timeout,
                    server_settings={"application_name": "pgparley"},
                )
                await pool
                self._pools[database.dsn] = pool
        async with pool.acquire(timeout=deadline.remaining()) as connection:
            yield connection


def _guarded(sql: str) -> Analysis:
    verdict = check(sql)
    if isinstance(verdict, Refused):
        raise UnsafeSQLError(
            "the statement is refused",
            detail=f"{verdict.detail[0].upper()}{verdict.detail[1:]}.",
            hint="Only one query that reads, with built-in functions, can run here.",
        )
    return verdict.analysis


def _as_text(body: str, columns: int, limit: int) -> str:
    """A statement with the rows of `body`, every value as its type's output function writes it.

    `format` uses those functions where a cast to text does not (inet, boolean); `num_nonnulls` tells NULL
    from a row of NULLs. `body` passed the guard, so that it cannot reach past its parentheses.
    """
    names = [f"c{number}" for number in range(columns)]
    values = ", ".join(
        f"CASE pg_catalog.num_nonnulls({name}) WHEN 1 THEN pg_catalog.format('%s', {name}) END"
        for name in names
    )
    alias = f"({', '.join(names)})" if names else ""
    return f"SELECT {values} FROM (\n{body}\n) AS t {alias} LIMIT {limit}"  # noqa: S608 - see above


@contextmanager
def _translated(database: Database, deadline: Deadline) -> Iterator[None]:
    """The driver's exceptions as ours: the one home of that mapping."""
    try:
        yield
    except NLError:
        raise
    except asyncpg.QueryCanceledError as error:
        raise CancelledError(
            error.message or "canceled", hint="Ask for less, or raise nl.timeout."
        ) from error
    except asyncpg.PostgresError as error:
        if (error.sqlstate or "").startswith(_UNAVAILABLE) or error.severity_en == "FATAL":
            raise _unavailable(database, error) from error
        raise StatementError(
            error.sqlstate or "XX000",
            error.message or str(error),
            error.detail,
            error.hint,
            int(error.position) if error.position else None,
        ) from error
    except TimeoutError as error:
        if deadline.at - deadline.clock() > _TIMER_SLACK:
            raise _unavailable(database, error) from error
        raise CancelledError(
            "the question ran out of time", hint="Ask for less, or raise nl.timeout."
        ) from error
    except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        # The last is what the driver says where the server's farewell came between two of its operations.
        raise _unavailable(database, error) from error


def _unavailable(database: Database, error: Exception) -> DatabaseUnavailableError:
    return DatabaseUnavailableError(f"database {database.name} does not answer", detail=str(error) or None)
