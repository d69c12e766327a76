"""The driver's types, the search path of the catalog's connections, and those to the store.

asyncpg's classes are generic for type checkers alone, hence two definitions of each.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from schema_catalog.dsn import DSNError, only_named

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
else:
    Connection = asyncpg.Connection | PoolConnectionProxy
    Pool = asyncpg.Pool

CATALOG_PATH = "pg_catalog, pg_temp"
"""The search path of the catalog's own connections: nobody but PostgreSQL defines what their queries call."""


def store_pool(
    dsn: str,
    most: int,
    *,
    timeout: float,
    command_timeout: float | None = None,
    cached: int = 100,
    person: str = "",
) -> Pool:
    """Up to `most` connections to the store, of `cached` statements each; awaiting it raises asyncpg's errors.

    `person`: for whom the store's owner speaks, in the history of what was said.
    """
    speaks = {"nl_catalog.person": person} if person else {}
    return asyncpg.create_pool(
        dsn,
        min_size=1,
        max_size=most,
        timeout=timeout,
        command_timeout=command_timeout,
        statement_cache_size=cached,
        server_settings={"application_name": "pgparley", "search_path": CATALOG_PATH, **speaks},
    )


def own_password(dsn: str) -> str | None:
    """The driver's `password` for a DSN that is not the store's: nothing of this service's environment is lent to it.

    Raises asyncpg's errors where that cannot be had.
    """
    try:
        home: Path | None = Path.home()
    except RuntimeError:  # an account without a folder has no file in it
        home = None
    try:
        return only_named(dsn, os.environ, home)
    except DSNError as error:
        raise asyncpg.InterfaceError(str(error)) from error
