"""What changed in schemas, at rest in the store, and which engine looks for that.

Owns the SQL of tables `drift`, `element_number` and `schema_watch`. Renames are decided on by functions of the schema
`nl_catalog` (`sql/0006_drift.sql`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from schema_catalog.drift import Change, Difference, Rename
from schema_catalog.identity import Element, Number, Numbers
from schema_catalog.pg import Connection, Pool

_NOTE = "SELECT pgparley.note_drift($1, $2, $3, $4::text[], $5::text[], $6)"

_FINDING = """
    SELECT id, what, kind, old, new, detail, state,
           ARRAY(SELECT b ->> 'shown' FROM jsonb_array_elements(breaks) AS b) AS breaks
    FROM pgparley.drift WHERE database = $1
"""

_LOCKS = "pgparley.schema_watch"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that changed. `breaks`: what of the catalog it makes useless; `detail`: what of it; both in words."""

    id: int
    what: str
    kind: str
    old: Element
    new: Element
    detail: str
    state: str
    breaks: tuple[str, ...]


class DriftStore:
    """Over one store. Raises asyncpg's errors or `OSError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def numbers(self, database: str) -> Numbers:
        """The numbers of the newest snapshot's elements; none where they were never kept."""
        rows = await self._pool.fetch(
            "SELECT element, relation, attnum FROM pgparley.element_number WHERE database = $1", database
        )
        return {tuple(element): Number(relation, attnum) for element, relation, attnum in rows}

    async def keep_numbers(self, database: str, numbers: Numbers) -> None:
        """Replaces them; a name that is gone is passed over."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute("DELETE FROM pgparley.element_number WHERE database = $1", database)
            await connection.copy_records_to_table(
                "element_number",
                schema_name="pgparley",
                records=[
                    (database, list(element), number.relation, number.attnum)
                    for element, number in numbers.items()
                ],
            )

    async def note(self, database: str, changes: Iterable[Change], renamed: Iterable[Rename]) -> None:
        """Keeps what changed, all or nothing. A rename that is proposed already is not proposed twice."""
        renamed = tuple(renamed)
        either = {each.old for each in renamed} | {each.new for each in renamed}
        async with self._pool.acquire() as connection, connection.transaction():
            for each in renamed:
                kind = "column" if len(each.old) > len(("schema", "table")) else "table"
                await connection.execute(_NOTE, database, "renamed", kind, each.old, each.new, each.evidence)
            for change in changes:
                if change.element not in either or change.difference is Difference.CHANGED:
                    await self._note(connection, database, change)

    async def _note(self, connection: Connection, database: str, change: Change) -> None:
        old = None if change.difference is Difference.ADDED else change.element
        new = None if change.difference is Difference.REMOVED else change.element
        what = change.difference.value
        await connection.execute(_NOTE, database, what, change.what, old, new, change.detail)

    async def found_since(self, database: str, last: int) -> tuple[Finding, ...]:
        """What was noted of a database after the finding `last`, in order."""
        rows = await self._pool.fetch(f"{_FINDING} AND id > $2 ORDER BY id", database, last)
        return tuple(map(_finding, rows))

    async def waiting(self, database: str) -> tuple[Finding, ...]:
        """The renames in a database that nobody has decided on, in order."""
        rows = await self._pool.fetch(f"{_FINDING} AND state = 'proposed' ORDER BY id", database)
        return tuple(map(_finding, rows))

    async def last(self, database: str) -> int:
        """The number of the newest finding of a database, 0 where there is none."""
        last: int = await self._pool.fetchval(
            "SELECT coalesce(max(id), 0) FROM pgparley.drift WHERE database = $1", database
        )
        return last

    async def proposed(self) -> int:
        """How many renames wait for a decision."""
        waiting: int = await self._pool.fetchval(
            "SELECT count(*) FROM pgparley.drift WHERE state = 'proposed'"
        )
        return waiting

    @asynccontextmanager
    async def turn(self, database: str, interval: float) -> AsyncIterator[bool]:
        """Whether it is this engine's turn to look at a database; while the block runs, it is no other's.

        It is nobody's until `interval` seconds after the last look, unless somebody asked for one.
        """
        async with self._pool.acquire() as connection:
            locked = await connection.fetchval(
                "SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtext($1), pg_catalog.hashtext($2))",
                _LOCKS,
                database,
            )
            if not locked:
                yield False
                return
            try:
                yield await connection.fetchval(
                    "SELECT NOT EXISTS (SELECT FROM pgparley.schema_watch"
                    " WHERE database = $1 AND NOT asked"
                    " AND looked_at > clock_timestamp() - $2::interval)",
                    database,
                    timedelta(seconds=interval),
                )
            finally:
                await connection.execute(
                    "SELECT pg_catalog.pg_advisory_unlock(pg_catalog.hashtext($1), pg_catalog.hashtext($2))",
                    _LOCKS,
                    database,
                )

    async def asked(self) -> frozenset[str]:
        """The databases that somebody wants to have read again now."""
        rows = await self._pool.fetch("SELECT database FROM pgparley.schema_watch WHERE asked")
        return frozenset(row["database"] for row in rows)

    async def looking(self, database: str) -> None:
        """Notes that a look begins: what is asked for from now on is asked for anew."""
        await self._pool.execute(
            "UPDATE pgparley.schema_watch SET asked = false WHERE database = $1 AND asked", database
        )

    async def digest(self, database: str) -> str | None:
        """Of the schema at the last look; None where nobody has looked."""
        digest: str | None = await self._pool.fetchval(
            "SELECT digest FROM pgparley.schema_watch WHERE database = $1", database
        )
        return digest

    async def looked(self, database: str, digest: str | None, problem: str | None = None) -> None:
        """Notes a look that found `digest`, or why it failed; a name that is gone is passed over."""
        try:
            await self._pool.execute(
                "INSERT INTO pgparley.schema_watch AS w (database, digest, problem) VALUES ($1, $2, $3)"
                " ON CONFLICT (database) DO UPDATE SET looked_at = clock_timestamp(),"
                " digest = coalesce(excluded.digest, w.digest), problem = excluded.problem",
                database,
                digest,
                problem,
            )
        except asyncpg.ForeignKeyViolationError:
            return


def _finding(row: asyncpg.Record) -> Finding:
    old, new = tuple(row["old"] or ()), tuple(row["new"] or ())
    return Finding(
        row["id"], row["what"], row["kind"], old, new, row["detail"], row["state"], tuple(row["breaks"])
    )
