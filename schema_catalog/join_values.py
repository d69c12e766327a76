"""Whether the values of a database bear out the joins that names imply: inclusion in a column that is unique.

Owns the queries, and how much they may read and take. Only counts leave the server. What the connection's role may not
read, a view, a foreign table or a table under row security, and what takes too long, is left to the names.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import asyncpg

from schema_catalog.implied_references import undeclared
from schema_catalog.join_names import SURE, ImpliedJoin, candidates
from schema_catalog.naming import dotted, quote_ident
from schema_catalog.pg import Connection
from schema_catalog.types import ColumnKey, Snapshot, TableKey, TableKind

ROWS, VALUES = 50_000, 2_000
"""Rows of a column that are looked at, and distinct values of them, at most."""

SECONDS, A_QUERY = 20.0, 2.0
"""Seconds that all queries, and each, may take."""

_FRACTION = 0.8
"""Share of the values that occur on the other side, at least, where the names are sure: some may have been deleted."""

_READ = frozenset((TableKind.TABLE, TableKind.PARTITIONED, TableKind.MATERIALIZED_VIEW))
"""What is read: behind others may be code, or another server."""


@dataclass(frozen=True, slots=True)
class ProposedJoin:
    """A join that nobody declared: `column` refers to `referred`, and why that seems so, in words."""

    column: ColumnKey
    referred: ColumnKey
    evidence: str


async def proposed_joins(
    connection: Connection, snapshot: Snapshot, seconds: float = SECONDS
) -> tuple[ProposedJoin, ...]:
    """For each column without a foreign key the join that names imply and values bear out, where there is one."""
    reader = _Reader(connection, snapshot, time.monotonic() + seconds)
    free = undeclared(snapshot)
    # Seconds for a hundred thousand columns.
    implied = await asyncio.to_thread(candidates, snapshot)
    wanted = (each for each in implied if free(each.column, each.referred))
    found: dict[tuple[ColumnKey, ColumnKey], ProposedJoin] = {}
    for column, of_column in groupby(wanted, key=lambda each: each.column):
        for _, alike in groupby(of_column, key=lambda each: each.strength):
            borne_out = [
                ProposedJoin(column, each.referred, evidence)
                for each in alike
                if (evidence := await reader.evidence(each))
            ]
            # Of two that refer to each other the first counts.
            if len(borne_out) == 1 and (borne_out[0].referred, column) not in found:
                found[column, borne_out[0].referred] = borne_out[0]
            if borne_out:
                break
    return tuple(found.values())


class _Reader:
    """`until`: by `time.monotonic`; what is asked for later is not read."""

    def __init__(self, connection: Connection, snapshot: Snapshot, until: float) -> None:
        self._connection = connection
        self._readable = {table.key for table in snapshot.tables if table.kind in _READ}
        self._until = until
        self._unique: dict[ColumnKey, bool | None] = {}

    async def evidence(self, join: ImpliedJoin) -> str | None:
        """Why `join` is likely; None where it is not."""
        name, other = dotted(join.column[2:]), dotted(join.referred[1:])
        unique = await self._is_unique(join.referred)
        values, found, rows = (0, 0, 0) if unique is None else await self._counts(join) or (0, 0, 0)
        if not values:
            why = f"{name} is named after {other}; its values were not compared"
            return why if join.strength >= SURE else None
        least = _FRACTION if join.strength >= SURE else 1.0
        if not unique or found < least * values:
            return None
        looked_at = " looked at" if values == VALUES or rows == ROWS else ""
        return f"{name}: {found:,} of {values:,} values{looked_at} occur in {other}, which is unique"

    async def _counts(self, join: ImpliedJoin) -> asyncpg.Record | None:
        """How many values the column has, how many of them occur in the other one, and in how many rows they stand."""
        column, key = quote_ident(join.column[2]), quote_ident(join.referred[2])
        return await self._row(
            (join.column[:2], join.referred[:2]),
            f"WITH r AS MATERIALIZED (SELECT {column} AS v FROM {dotted(join.column[:2])}"  # noqa: S608 - quoted names
            f" WHERE {column} IS NOT NULL LIMIT {ROWS}),"
            f" s AS MATERIALIZED (SELECT DISTINCT v FROM r LIMIT {VALUES})"
            f" SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT FROM {dotted(join.referred[:2])} AS o"
            f" WHERE o.{key} = s.v)), (SELECT count(*) FROM r) FROM s",
        )

    async def _is_unique(self, key: ColumnKey) -> bool | None:
        """None: there are no rows, or they cannot be read."""
        if key not in self._unique:
            column = quote_ident(key[2])
            row = await self._row(
                (key[:2],),
                "SELECT CASE WHEN count(*) > 0 THEN count(*) = count(DISTINCT v) END"  # noqa: S608 - quoted names
                f" FROM (SELECT {column} AS v FROM {dotted(key[:2])} WHERE {column} IS NOT NULL LIMIT {ROWS}) AS s",
            )
            self._unique[key] = None if row is None else row[0]
        return self._unique[key]

    async def _row(self, tables: Iterable[TableKey], query: str) -> asyncpg.Record | None:
        """None where `tables` may not be read, or time is up."""
        left = min(A_QUERY, self._until - time.monotonic())
        if left <= 0 or not self._readable.issuperset(tables):
            return None
        try:
            async with self._connection.transaction(readonly=True):
                # A policy's functions would run with the rights of this connection: such a table is not read.
                await self._connection.execute("SET LOCAL row_security = off")
                return await self._connection.fetchrow(query, timeout=left)
        except (asyncpg.PostgresError, TimeoutError):
            return None
