"""The driver's types, and the search path of the catalog's connections.

asyncpg's classes are generic for type checkers alone, hence two definitions of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
else:
    Connection = asyncpg.Connection | PoolConnectionProxy
    Pool = asyncpg.Pool

CATALOG_PATH = "pg_catalog, pg_temp"
"""The search path of the catalog's own connections: nobody but PostgreSQL defines what their queries call."""
