"""A DBA's review of what was learned: list, approve, revoke, forget, withdraw.

Every method raises asyncpg's errors; those that take numbers raise `CatalogError` where there is no such example or
adapter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schema_catalog.pg import Pool
from schema_catalog.store import CatalogError

_LISTED = """
    SELECT e.id, e.asker, e.database, e.kind, e.question, e.sql, e.learned_at::text, e.approved_at::text, e.approved_by,
           (SELECT count(*) FROM pgparley.learned_vote v WHERE v.example = e.id)::int AS votes
    FROM pgparley.learned_example e
"""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An example as a DBA sees it. `votes`: how many it made. Times as PostgreSQL writes them."""

    id: int
    asker: str
    database: str
    kind: str
    question: str
    sql: str
    learned_at: str
    approved_at: str | None
    approved_by: str | None
    votes: int


@dataclass(frozen=True, slots=True)
class ReviewedVote:
    """A vote of one example."""

    phrase: str
    preferred: str
    rejected: str
    weight: float


@dataclass(frozen=True, slots=True)
class ReviewedAdapter:
    """A training. `scope`: a role, or nothing for everybody; `before`, `after`: held-out votes that are right."""

    version: int
    scope: str
    votes: int
    before: float
    after: float
    verdict: str
    trained_at: str
    used: bool


class Review:
    """Over the store's pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def examples(
        self, database: str | None, user: str | None, limit: int, *, pending: bool
    ) -> tuple[Reviewed, ...]:
        """The newest examples, newest first. `pending`: only those that could be approved and are not."""
        rows = await self._pool.fetch(
            f"{_LISTED} WHERE ($1::text IS NULL OR e.database = $1) AND ($2::text IS NULL OR e.asker = $2)"
            " AND (NOT $3 OR e.approved_at IS NULL AND e.kind <> 'rejected')"
            " ORDER BY e.learned_at DESC, e.id DESC LIMIT $4",
            database,
            user,
            pending,
            limit,
        )
        return tuple(Reviewed(**row) for row in rows)

    async def example(self, number: int) -> tuple[Reviewed, tuple[ReviewedVote, ...]]:
        """One example with its votes."""
        row = await self._pool.fetchrow(f"{_LISTED} WHERE e.id = $1", number)
        if row is None:
            raise _unknown([number])
        votes = await self._pool.fetch(
            "SELECT phrase, array_to_string(preferred, '.') AS preferred, array_to_string(rejected, '.') AS rejected,"
            " weight FROM pgparley.learned_vote WHERE example = $1 ORDER BY phrase, preferred, rejected",
            number,
        )
        return Reviewed(**row), tuple(ReviewedVote(**vote) for vote in votes)

    async def approve(self, numbers: Sequence[int], by: str) -> None:
        """Lets examples count for everybody who can read what they name. All or none."""
        await self._all(
            "UPDATE pgparley.learned_example SET approved_at = coalesce(approved_at, now()),"
            " approved_by = coalesce(approved_by, $2) WHERE id = ANY ($1::bigint[]) AND kind <> 'rejected'"
            " RETURNING id",
            numbers,
            by,
        )

    async def revoke(self, numbers: Sequence[int]) -> None:
        """Lets examples count for their asker alone again."""
        await self._all(
            "UPDATE pgparley.learned_example SET approved_at = NULL, approved_by = NULL"
            " WHERE id = ANY ($1::bigint[]) RETURNING id",
            numbers,
        )

    async def forget(self, numbers: Sequence[int]) -> None:
        """Deletes examples, with every adapter that they may have trained."""
        await self._all(
            "DELETE FROM pgparley.learned_example WHERE id = ANY ($1::bigint[]) RETURNING id", numbers
        )

    async def forget_user(self, user: str) -> int:
        """Deletes all of a user's; how many there were."""
        rows = await self._pool.fetch(
            "DELETE FROM pgparley.learned_example WHERE asker = $1 RETURNING id", user
        )
        return len(rows)

    async def adapters(self) -> tuple[ReviewedAdapter, ...]:
        """Every training, newest first."""
        rows = await self._pool.fetch(
            "SELECT version, scope, votes, before, after,"
            " CASE WHEN withdrawn THEN 'withdrawn' ELSE verdict END AS verdict, trained_at::text,"
            " version IS NOT DISTINCT FROM max(version) FILTER (WHERE weights IS NOT NULL AND NOT withdrawn)"
            " OVER (PARTITION BY scope) AS used FROM pgparley.learned_adapter ORDER BY version DESC"
        )
        return tuple(ReviewedAdapter(**row) for row in rows)

    async def withdraw(self, version: int) -> None:
        """Takes an adapter out of use; the one before it of the same scope is used again."""
        done = await self._pool.execute(
            "UPDATE pgparley.learned_adapter SET withdrawn = true WHERE version = $1", version
        )
        if done == "UPDATE 0":
            raise CatalogError(f"there is no adapter {version}")

    async def _all(self, statement: str, numbers: Sequence[int], *more: str) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            done = {row["id"] for row in await connection.fetch(statement, list(numbers), *more)}
            if missing := [number for number in numbers if number not in done]:
                raise _unknown(missing)


def _unknown(numbers: Sequence[int]) -> CatalogError:
    named = ", ".join(map(str, numbers))
    return CatalogError(f"there is no example {named} for which that can be done; nothing was changed")
