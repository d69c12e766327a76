"""Columns whose values may be used, without the name of each having to be in the store's last snapshot."""

from __future__ import annotations

from collections.abc import Iterable

from schema_catalog.pg import Pool
from schema_catalog.types import ColumnKey


async def allow(pool: Pool, database: str, columns: Iterable[ColumnKey]) -> None:
    """As `nl_catalog.allow_values`; nothing is read."""
    await pool.executemany(
        'INSERT INTO pgparley.value_column (database, schema, "table", "column")'
        " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        [(database, *column) for column in columns],
    )


async def deny(pool: Pool, database: str, column: ColumnKey) -> None:
    """As `nl_catalog.deny_values`."""
    where = 'database = $1 AND schema = $2 AND "table" = $3 AND "column" = $4'
    await pool.execute(f"DELETE FROM pgparley.value_column WHERE {where}", database, *column)
