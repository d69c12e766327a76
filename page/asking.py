"""Questions asked from the page: over the gateway's ordinary wire, as the person who is signed in, with their password.

Owns the connection to the gateway and what is sent over it: settings, SET ROLE, `nl.ask`, NL WHY, `nl.run`. The page
has no rights of its own here: gateway and server say who may ask, take a role, read a row. Transactions are read-only,
rows are counted and cut by the server. No password is kept.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import asyncpg
import msgspec

from page.sign_in import CONNECT_SECONDS, Credentials, SignInError, WrongLoginError
from schema_catalog.dsn import with_dbname, without_login
from schema_catalog.naming import dotted, quote_ident
from schema_catalog.pg import Connection, own_password

SECONDS = 120
"""Of a question at most; a little later its connection is dropped."""

LOOK_SECONDS = 20
"""Of reading a column's values at most."""

ROWS = 50
"""Rows that are shown at most."""

CELL = 300
"""Characters of a value that are shown at most."""

ROLES = 100
"""Roles that are offered at most."""

_QID = re.compile(r"[A-Za-z0-9_-]{1,64}")

_ASK = "SELECT n, kind, database, confidence, explanation, sql, qid FROM nl.ask($1) AS t"

# One statement, and of a type that the driver knows, so that it is chosen once. The server writes values as text, and
# cuts them.
_RUN = f"""
    SELECT coalesce((SELECT pg_catalog.json_agg(pg_catalog.json_build_array(v.name, pg_catalog.left(v.value, {CELL}))
                                                ORDER BY v.place)
                     FROM pg_catalog.json_each_text(pg_catalog.row_to_json(pgparley_row))
                          WITH ORDINALITY AS v (name, value, place))::pg_catalog.text, '[]')
    FROM nl.run('{{qid}}', {{n}}) AS pgparley_row LIMIT {ROWS + 1}
"""  # noqa: S608 - constants, a name that is checked and a number

_ROLES = f"""
    SELECT rolname::text FROM pg_catalog.pg_roles
    WHERE rolname <> session_user AND rolname !~ '^(pg|nl)_' AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
    ORDER BY 1 LIMIT {ROLES}
"""  # noqa: S608 - a constant


class AskError(Exception):
    """There is no answer. `detail`, `hint`: as gateway and server give them."""

    def __init__(self, message: str, detail: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.detail = detail
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows of candidate `n` as text, None for NULL. `more`: there are others."""

    n: int
    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer's rows, as `nl.ask` gives them, and its trace. `role`: that was taken; empty: none."""

    question: str
    role: str
    rows: tuple[asyncpg.Record, ...]
    why: tuple[asyncpg.Record, ...]

    @property
    def qid(self) -> str:
        """Its name; raises `AskError` where it has none."""
        qid = str(self.rows[0]["qid"] or "") if self.rows else ""
        if not _QID.fullmatch(qid):
            raise AskError("The answer has no name", hint="Ask again.")
        return qid


@dataclass(frozen=True, slots=True)
class Values:
    """What a column has, the commonest first, with how often. `column`: schema, table, column."""

    column: tuple[str, str, str]
    counts: tuple[tuple[str | None, int], ...]
    more: bool


@dataclass(slots=True)
class Asking:
    """One person's connection through the gateway to `database`, and the last answer there."""

    connection: Connection
    database: str
    roles: tuple[str, ...]
    answer: Answer | None = None
    shown: Shown | None = None
    values: Values | None = None
    _busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, question: str, role: str) -> None:
        """Asks as oneself, or as a role that the server lets one take."""
        async with self._turn():
            self.answer = self.shown = None
            await self._be(role)
            rows = await self.connection.fetch(_ASK, question)
            await self._keep(question, role, rows)

    async def reply(self, n: int) -> None:
        """Takes option `n` of a question back."""
        async with self._turn():
            if (last := self.answer) is None:
                raise AskError("Nothing was asked", hint="Ask first.")
            self.shown = None
            await self._be(last.role)
            rows = await self.connection.fetch(f"NL ANSWER {n} OF '{last.qid}'")
            await self._keep(last.question, last.role, rows)

    async def run(self, n: int) -> None:
        """Chooses candidate `n`, and keeps its first rows."""
        async with self._turn():
            if (last := self.answer) is None:
                raise AskError("Nothing was asked", hint="Ask first.")
            await self._be(last.role)
            # Of one without a name the driver sends the text twice.
            query, name = _RUN.format(qid=last.qid, n=n), f"run_{secrets.token_hex(8)}"
            statement = await self.connection.prepare(query, name=name)
            fetched = await statement.fetch()
            found = [msgspec.json.decode(row[0], type=list[tuple[str, str | None]]) for row in fetched]
            names = tuple(name for name, _ in found[0]) if found else ()
            rows = tuple(tuple(value for _, value in row) for row in found[:ROWS])
            self.shown = Shown(n, names, rows, len(found) > ROWS)

    async def look(self, schema: str, table: str, column: str) -> None:
        """Reads a column's values, as oneself: plain SQL, which the server allows or not."""
        async with self._turn():
            self.values = None
            await self._be("")
            value = f"pg_catalog.left({quote_ident(column)}::pg_catalog.text, {CELL})"
            query = (
                f"SELECT {value} AS v, pg_catalog.count(*) AS n FROM {dotted((schema, table))}"  # noqa: S608 - quoted
                f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {ROWS + 1}"
            )
            found = await self.connection.fetch(query, timeout=LOOK_SECONDS)
            counts = tuple((row["v"], row["n"]) for row in found)
            self.values = Values((schema, table, column), counts[:ROWS], len(counts) > ROWS)

    async def close(self) -> None:
        """Ends the connection."""
        try:
            await self.connection.close(timeout=CONNECT_SECONDS)
        except (TimeoutError, OSError, asyncpg.InterfaceError):
            self.connection.terminate()

    async def _be(self, role: str) -> None:
        """Takes the role for what follows, or, without one, is oneself."""
        await self.connection.execute(f"SET ROLE {quote_ident(role)}" if role else "RESET ROLE")

    async def _keep(self, question: str, role: str, rows: list[asyncpg.Record]) -> None:
        answer = Answer(question, role, tuple(rows), ())
        why = f"NL WHY OF '{answer.qid}'"
        self.answer = answer
        self.answer = replace(answer, why=tuple(await self.connection.fetch(why)))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One thing at a time, of bounded length; raises `AskError`."""
        if self._busy.locked():
            raise AskError("Your last question is still being answered", hint="Wait for it.")
        async with self._busy:
            try:
                async with asyncio.timeout(SECONDS + CONNECT_SECONDS):
                    yield
            except asyncpg.PostgresError as problem:
                words = str(problem).splitlines() or [type(problem).__name__]
                raise AskError(words[0], problem.detail or "", problem.hint or "") from None
            except (asyncpg.InterfaceError, OSError, TimeoutError) as problem:
                self.connection.terminate()
                hint = "Ask again, with your password: the connection was closed."
                raise AskError(f"The gateway does not answer: {type(problem).__name__}", hint=hint) from None


async def connect(gateway: str, database: str, given: Credentials) -> Asking:
    """A connection to `database` through the gateway at the URI `gateway`; raises `SignInError`.

    A gateway that lets in whoever names a role, as with `trust`, proves nobody: a wrong password has to be refused.
    """
    try:
        uri = with_dbname(without_login(gateway), database)
        # Raises where the page's own certificate would be shown.
        own_password(uri)
        if await _let_in(uri, Credentials(given.role, secrets.token_urlsafe())):
            raise SignInError(
                "The gateway does not ask for your password.",
                "Have it ask for one (scram-sha-256) for roles that use the page.",
            )
        connection = await _connect(uri, given)
        try:
            await connection.execute(f"SET nl.timeout = '{SECONDS}s'")
            roles = await connection.fetch(_ROLES)
        except BaseException:
            connection.terminate()
            raise
    except asyncpg.InvalidAuthorizationSpecificationError:
        hint = "It takes those of psql through the gateway."
        raise WrongLoginError("The gateway does not take this role and password.", hint) from None
    except asyncpg.InvalidCatalogNameError:
        hint = "Databases of other servers are asked from psql: NL (db …): …"
        raise SignInError(f"The gateway's server has no database {database}.", hint) from None
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError, TimeoutError) as problem:
        words = str(problem).splitlines() or [type(problem).__name__]
        hint = "Whoever runs pgparley: gateway in [page], and pgparley check."
        raise SignInError(f"The gateway cannot be used: {words[0]}.", hint) from problem
    return Asking(connection, database, tuple(row[0] for row in roles))


async def _let_in(uri: str, given: Credentials) -> bool:
    try:
        connection = await _connect(uri, given)
    except asyncpg.InvalidAuthorizationSpecificationError:
        return False
    await connection.close(timeout=CONNECT_SECONDS)
    return True


async def _connect(uri: str, given: Credentials) -> Connection:
    return await asyncpg.connect(
        uri,
        user=given.role,
        password=given.password,
        timeout=CONNECT_SECONDS,
        statement_cache_size=0,
        server_settings={"application_name": "pgparley page", "default_transaction_read_only": "on"},
    )
