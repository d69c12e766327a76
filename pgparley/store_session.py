"""Runs a command's work on the store, migrated or as it is; owns the messages of expected failures."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from pgparley.terminal import fail
from schema_catalog.dsn import DSNError, as_uri, redacted
from schema_catalog.migrate import MigrationError, migrate
from schema_catalog.pg import Pool, store_pool
from schema_catalog.refresh import ConnectSettings, UnreachableError
from schema_catalog.store import CatalogError, UnknownLoginError, UnknownNameError

T = TypeVar("T")

SETTINGS = ConnectSettings()


def run_on_store(dsn: str, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Runs `work` on the migrated store; every expected failure ends the command with a message."""

    async def migrated(pool: Pool) -> T:
        async with pool.acquire() as connection:
            await migrate(connection)
        return await work(pool)

    return run_on_store_as_it_is(dsn, migrated)


def run_on_store_as_it_is(dsn: str, work: Callable[[Pool], Awaitable[T]]) -> T:
    """The same without migrating it first."""

    async def session() -> T:
        who = getpass.getuser()
        async with store_pool(as_uri(dsn), 1, timeout=SETTINGS.connect_timeout, cached=0, person=who) as pool:
            return await work(pool)

    try:
        return asyncio.run(session())
    except UnknownNameError as error:
        fail(f"{error}. Run `pgparley catalog list` to see the names.")
    except UnknownLoginError as error:
        fail(f"{error}. Run `pgparley catalog list` to see who has.")
    except DSNError as error:
        fail(f"store: {error}.")
    except (CatalogError, UnreachableError, MigrationError) as error:
        fail(f"{error}.")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        fail(
            f"the store does not answer: {error or type(error).__name__}. "
            f"Check that {redacted(as_uri(dsn))} is right and its server runs."
        )
