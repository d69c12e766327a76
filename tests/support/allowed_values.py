"""Registered databases that change beside a test, and their columns whose values may be used."""

from __future__ import annotations

from collections.abc import Iterable

from schema_catalog.introspect import introspect
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogStore
from schema_catalog.types import ColumnKey, Snapshot
from schema_catalog.values import ColumnValues, ValueStore
from tests.support.statements import connected


async def changed(pool: Pool, name: str, *statements: str) -> Snapshot:
    """Runs statements on a registered database, as the catalog's role, and has its schema read again."""
    store = CatalogStore(pool)
    database = (await store.get(name)).database
    async with connected(database.dsn) as connection:
        for statement in statements:
            await connection.execute(statement)
        snapshot = await introspect(connection, database)
    await store.save_snapshot(snapshot)
    return snapshot


async def allow(pool: Pool, database: str, columns: Iterable[ColumnKey]) -> None:
    """As `nl_catalog.allow_values`, also of columns that no snapshot has; nothing is read."""
    await pool.executemany(
        'INSERT INTO pgparley.value_column (database, schema, "table", "column")'
        " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        [(database, *column) for column in columns],
    )


async def keep(pool: Pool, database: str, column: ColumnKey, *values: str) -> None:
    """Allows a column and keeps values as if they had been read."""
    await allow(pool, database, [column])
    await ValueStore(pool).keep(database, ColumnValues(column, values))


async def deny(pool: Pool, database: str, column: ColumnKey) -> None:
    """As `nl_catalog.deny_values`."""
    where = 'database = $1 AND schema = $2 AND "table" = $3 AND "column" = $4'
    await pool.execute(f"DELETE FROM pgparley.value_column WHERE {where}", database, *column)
