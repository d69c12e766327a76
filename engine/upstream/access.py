"""How an asker's statements reach a registered database, and under which role.

Owns that decision: the asker's own session where it is connected to that very database, else a login that a DBA
named for them. Does not run statements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import asyncpg

from engine.core.deadline import Deadline
from engine.errors import NotPermittedError, UnsupportedError
from engine.settings import UpstreamSettings
from engine.types import Asker, SessionLoan
from engine.upstream.connections import Connections
from engine.upstream.errors import translated
from schema_catalog.dsn import user_of
from schema_catalog.identity import IDENTITY_QUERY
from schema_catalog.logins import login_for
from schema_catalog.naming import quote_ident
from schema_catalog.types import Database, Login

_REMEMBERED = 1000
"""Sessions whose identity is cached."""


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


class Accesses:
    """Resolves how askers reach databases. A session's identity is asked for once, by its token."""

    def __init__(
        self, connections: Connections, settings: UpstreamSettings, clock: Callable[[], float]
    ) -> None:
        self._connections = connections
        self._settings = settings
        self._clock = clock
        self._identities: dict[str, str | UnsupportedError] = {}

    async def lent(self, database: Database, asker: Asker) -> Access | None:
        """Through the asker's session where it is connected to `database`, by identity and not by name; else None.

        Raises `DatabaseUnavailableError` where the session's server does not answer.
        """
        loan = asker.session
        if loan is None or database.identity is None or database.dbname != asker.dbname:
            return None
        if await self._identity(database, loan) != database.identity:
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
        identity = None if asker.session is None else self._identities.get(asker.session.token)
        if isinstance(identity, UnsupportedError) and database.dbname == asker.dbname:
            raise identity
        return None

    async def get(self, database: Database, asker: Asker) -> Access:
        """As `find`; raises `NotPermittedError` where that gives None."""
        access = await self.find(database, asker)
        if access is None:
            name, user = quote_ident(database.name), quote_ident(asker.user)
            raise NotPermittedError(
                f'you cannot be logged in to database "{database.name}"',
                detail=f"It is not the database of your session, and nobody said who {user} is there.",
                hint=f"Ask the DBA for: pgparley catalog login {name} {user}",
            )
        return access

    async def _identity(self, database: Database, loan: SessionLoan) -> str | UnsupportedError:
        """The identity of the session's database, or the reason why the session cannot be lent now."""
        if loan.token not in self._identities:
            deadline = Deadline(self._clock() + self._settings.connect_timeout, self._clock)
            with translated(database, deadline):
                identity = await asyncio.wait_for(self._ask_identity(loan, deadline), deadline.remaining())
            while len(self._identities) >= _REMEMBERED:
                del self._identities[next(iter(self._identities))]
            self._identities[loan.token] = identity
        return self._identities[loan.token]

    async def _ask_identity(self, loan: SessionLoan, deadline: Deadline) -> str | UnsupportedError:
        try:
            async with self._connections.of_asker(loan, deadline) as connection:
                identity: str = await connection.fetchval(IDENTITY_QUERY)
        except (asyncpg.FeatureNotSupportedError, asyncpg.InsufficientPrivilegeError) as error:
            return UnsupportedError(error.message or str(error), detail=error.detail, hint=error.hint)
        return identity
