"""Connections to the registered databases: the catalog's own, an asker's session, an asker's login.

Owns the pools, the parameters of connections and their end. The choice between session and login is `access`'s. No
connection changes its role: the catalog's role runs the catalog's queries alone.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache
from typing import cast

import asyncpg

from engine.upstream.meter import MeteredConnection
from engine.values.deadline import Deadline
from engine.values.errors import DatabaseUnavailableError
from engine.values.session_loan import LOAN_PARAMETER, SessionLoan
from engine.values.settings import UpstreamSettings
from schema_catalog.pg import CATALOG_PATH, Connection, Pool, own_password
from schema_catalog.types import Database, Login

_IDLE_SECONDS = 60.0
"""After which a login's connection is closed."""


@lru_cache(maxsize=16)
def _only(certificate: str) -> ssl.SSLContext:
    """Trusts a gateway by the certificate that its loan names, whoever has signed it and whatever its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=certificate)
    return context


class Connections:
    """Holds pools until `aclose`. Every method raises asyncpg's errors, `OSError` and `DatabaseUnavailableError`."""

    def __init__(self, settings: UpstreamSettings) -> None:
        self._settings = settings
        self._opening = asyncio.Lock()
        self._pools: dict[tuple[str, ...], Pool] = {}

    async def aclose(self) -> None:
        """Closes every connection, those in use as well."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.terminate()

    @asynccontextmanager
    async def of_catalog(self, database: Database, deadline: Deadline) -> AsyncIterator[Connection]:
        """A connection of the catalog's role, for queries on the system catalogs alone."""
        async with self._pooled(database.dsn, deadline, search_path=CATALOG_PATH) as connection:
            yield connection

    def of_asker(
        self, through: SessionLoan | Login, deadline: Deadline
    ) -> AbstractAsyncContextManager[MeteredConnection]:
        """A connection as the asker: their own session, in a transaction that ends with the block, or their login."""
        if isinstance(through, SessionLoan):
            return self._lent(through, deadline)
        return self._pooled(through.dsn, deadline)

    @asynccontextmanager
    async def _lent(self, loan: SessionLoan, deadline: Deadline) -> AsyncIterator[MeteredConnection]:
        try:
            connection = await asyncpg.connect(
                host=loan.host,
                port=loan.port,
                user="engine",
                database="loan",
                ssl=_only(loan.certificate) if loan.certificate else False,
                direct_tls=bool(loan.certificate),
                timeout=min(self._settings.connect_timeout, deadline.remaining()),
                statement_cache_size=0,
                connection_class=MeteredConnection,
                server_settings={LOAN_PARAMETER: loan.token},
            )
        except ssl.SSLError as problem:
            raise DatabaseUnavailableError(
                "your session cannot be lent to the engine",
                detail=f"{loan.host}:{loan.port} has not shown the gateway's certificate: {problem.reason}.",
                hint="The operator should see that engine_tls_cert_file in [gateway] has not expired, and that nobody"
                " stands between gateway and engine.",
            ) from problem
        try:
            yield connection
        finally:
            # The gateway rolls the transaction back.
            connection.terminate()

    @asynccontextmanager
    async def _pooled(
        self, dsn: str, deadline: Deadline, **settings: str
    ) -> AsyncIterator[MeteredConnection]:
        """A connection of the pool for `dsn` and `settings` of the server."""
        key = (dsn, *settings.values())
        async with self._opening:
            pool = self._pools.get(key)
            if pool is None:
                pool = asyncpg.create_pool(
                    dsn,
                    password=own_password(dsn),
                    min_size=0,
                    max_size=self._settings.pool_size,
                    # No plan or type outlives its transaction.
                    statement_cache_size=0,
                    timeout=self._settings.connect_timeout,
                    max_inactive_connection_lifetime=_IDLE_SECONDS,
                    connection_class=MeteredConnection,
                    server_settings={"application_name": "pgparley", **settings},
                )
                await pool
                self._pools[key] = pool
        async with pool.acquire(timeout=deadline.remaining()) as connection:
            yield cast("MeteredConnection", connection).unwrapped
