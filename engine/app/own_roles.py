"""Logs what pgparley's own logins may do beyond what they need."""

from __future__ import annotations

from contextlib import suppress

import asyncpg
import structlog

from schema_catalog.login_rights import LoginRights, catalog_rights, store_rights
from schema_catalog.pg import Pool
from schema_catalog.refresh import ConnectSettings, UnreachableError, connected
from schema_catalog.store import CatalogStore

log = structlog.stdlib.get_logger("engine")


async def warn_of_own_roles(pool: Pool, settings: ConnectSettings) -> None:
    """Looks once at the store's role and at the catalog's in each database; what does not answer is passed over."""
    with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
        async with pool.acquire() as connection:
            _warn("store", await store_rights(connection))
        for entry in await CatalogStore(pool).list():
            with suppress(UnreachableError):
                async with connected(entry.database.dsn, settings) as connection:
                    _warn(entry.database.name, await catalog_rights(connection, entry.database, pool))


def _warn(of: str, rights: LoginRights) -> None:
    if rights.beyond:
        log.warning("role may too much", of=of, role=rights.role, beyond=rights.beyond, instead=rights.sql)
