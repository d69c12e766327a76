"""How an asker's statements reach a registered database, and under which role.

Owns that decision: the asker's own session where it is connected to that very database, else a login that a DBA
named for them. Does not run statements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import asyncpg

from engine.upstream.connections import Connections
from engine.upstream.errors import translated
from engine.values import wording
from engine.values.deadline import Deadline
from engine.values.errors import NotPermittedError, UnsupportedError
from engine.values.messages import Asker
from engine.values.recent import Recent
from engine.values.session_loan import SessionLoan
from engine.values.settings import UpstreamSettings
from schema_catalog.dsn import user_of
from schema_catalog.identity import IDENTITY_QUERY
from schema_catalog.logins import login_for
from schema_catalog.naming import quote_ident
from schema_catalog.types import Database, Login

_REMEMBERED = 1000
"""Sessions that are known."""

# pg_settings has it in milliseconds, whatever its unit was when it was set.
_TIMEOUT_QUERY = """
    SELECT s.setting::pg_catalog.float8 OPERATOR(pg_catalog./) 1000::pg_catalog.float8
    FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'statement_timeout'
"""


@dataclass(frozen=True, slots=True)
class Access:
    """The connection for statements of `asker` on `database`, under `role`: the lent session or a login."""

    database: Database
    asker: str
    role: str
    through: SessionLoan | Login

    @property
    def lent(self) -> bool:
        """Whether it is the asker's session."""
        return isinstance(self.through, SessionLoan)


@dataclass(frozen=True, slots=True)
class _Session:
    """A lent session: its database's identity, and its `statement_timeout` in seconds, None without one."""

    identity: str
    timeout: float | None


class Accesses:
    """Resolves how askers reach databases. A session is asked once for what it is, by its token."""

    def __init__(
        self, connections: Connections, settings: UpstreamSettings, clock: Callable[[], float]
    ) -> None:
        self._connections = connections
        self._settings = settings
        self._clock = clock
        self._sessions = Recent[str, _Session | UnsupportedError](_REMEMBERED)

    async def lent(self, database: Database, asker: Asker) -> Access | None:
        """Through the asker's session where it is connected to `database`, by identity and not by name; else None.

        Raises `DatabaseUnavailableError` where the session's server does not answer.
        """
        loan = asker.session
        if loan is None or database.identity is None or database.dbname != asker.dbname:
            return None
        with translated(database, self._soon()):
            session = await self._session(loan)
        if isinstance(session, UnsupportedError) or session.identity != database.identity:
            return None
        return Access(database, asker.user, asker.user, loan)

    async def find(self, database: Database, asker: Asker) -> Access | None:
        """None where the asker has neither a session nor a login there.

        Raises `UnsupportedError` where the database may be the session's and the session cannot be lent now; and as
        `lent`.
        """
        lent = await self.lent(database, asker)
        if lent is not None:
            return lent
        dsn = login_for(database, asker.user)
        if dsn is not None:
            return Access(database, asker.user, user_of(dsn) or asker.user, Login(asker.user, dsn))
        session = None if asker.session is None else self._sessions.get(asker.session.token)
        if isinstance(session, UnsupportedError) and database.dbname == asker.dbname:
            raise session
        return None

    async def timeout(self, asker: Asker) -> float | None:
        """Seconds of the session's `statement_timeout`; None where it has none, or the session cannot be lent."""
        if asker.session is None:
            return None
        try:
            session = await self._session(asker.session)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
            return None
        return None if isinstance(session, UnsupportedError) else session.timeout

    async def get(self, database: Database, asker: Asker) -> Access:
        """As `find`; raises `NotPermittedError` where that gives None."""
        access = await self.find(database, asker)
        if access is None:
            quoted, user = quote_ident(database.name), quote_ident(asker.user)
            raise NotPermittedError.told(wording.NO_LOGIN, name=database.name, quoted=quoted, user=user)
        return access

    def _soon(self) -> Deadline:
        return Deadline(self._clock() + self._settings.connect_timeout, self._clock)

    async def _session(self, loan: SessionLoan) -> _Session | UnsupportedError:
        """What is known of the session, or the reason why it cannot be lent now; raises the driver's exceptions."""
        known = self._sessions.get(loan.token)
        if known is None:
            deadline = self._soon()
            known = await asyncio.wait_for(self._look(loan, deadline), deadline.remaining())
            self._sessions.keep(loan.token, known)
        return known

    async def _look(self, loan: SessionLoan, deadline: Deadline) -> _Session | UnsupportedError:
        try:
            async with self._connections.of_asker(loan, deadline) as connection:
                seconds: float = await connection.fetchval(_TIMEOUT_QUERY)
                return _Session(await connection.fetchval(IDENTITY_QUERY), seconds or None)
        except (asyncpg.FeatureNotSupportedError, asyncpg.InsufficientPrivilegeError) as error:
            return UnsupportedError(error.message or str(error), detail=error.detail, hint=error.hint)
