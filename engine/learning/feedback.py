"""Learns from feedback, and lets a DBA review what was learned.

A DBA's review of what was learned: list, approve, revoke, forget, withdraw.

Every method raises asyncpg's errors; those that take numbers raise `CatalogError` where there is no such example or
adapter.

Learns from feedback on an answer: a choice, a correction, a rejection.

A choice and a correction make a verified example and votes against the other rows of the same database; a correction
counts twice. A rejection is stored for this very question. Nothing is learned of elements that the asker may not read.
Every method of `Learner` but `settled` and `aclose` raises `StoreUnavailableError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from engine.api.question_store import Stored
from engine.core.elements import elements_read
from engine.core.tools import Tools
from engine.errors import NLError
from engine.learning.adapter_training import adapt
from engine.learning.preferences import bare_entities, votes
from engine.learning.store import LearningStore, NewExample
from engine.learning.types import ExampleKind, Vote
from engine.linking.spans import entities
from engine.sql.resolution import resolve
from engine.types import AnswerRow, Asker
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogError
from schema_catalog.types import Snapshot

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


WEIGHTS = {ExampleKind.CHOSEN: 1.0, ExampleKind.CORRECTED: 2.0}
"""Weight of a vote: a written statement is surer than a chosen one."""

log = structlog.stdlib.get_logger("engine")


class Learner:
    """Behind the engine's verbs. `aclose` before the store is closed."""

    def __init__(self, tools: Tools, store: LearningStore) -> None:
        self._tools = tools
        self._store = store
        self._training: dict[str, asyncio.Task[None]] = {}

    async def chose(self, stored: Stored, row: AnswerRow, asker: Asker) -> None:
        """A row was chosen among those of an answer."""
        if row.database is not None and row.sql is not None:
            await self._learn(stored, row.database, row.sql, ExampleKind.CHOSEN, asker)

    async def corrected(self, stored: Stored, database: str, sql: str, asker: Asker) -> None:
        """The right statement was given; `stored`: the answer as it was shown."""
        await self._learn(stored, database, sql, ExampleKind.CORRECTED, asker)

    async def rejected(self, stored: Stored) -> None:
        """Nothing of an answer was right."""
        if not self._tools.learning.enabled:
            return
        ask, qid = stored.request, stored.reply.qid
        await self._store.keep(
            [
                NewExample(ask.asker.user, row.database, ask.question, row.sql, ExampleKind.REJECTED, qid)
                for row in stored.reply.rows
                if row.database is not None and row.sql is not None
            ]
        )

    async def settled(self) -> None:
        """Waits for the trainings that run."""
        await asyncio.gather(*self._training.values())

    async def aclose(self) -> None:
        """Ends trainings that still run."""
        for task in self._training.values():
            task.cancel()
        await asyncio.gather(*self._training.values(), return_exceptions=True)

    async def _learn(self, stored: Stored, database: str, sql: str, kind: ExampleKind, asker: Asker) -> None:
        if not self._tools.learning.enabled:
            return
        ask = stored.request
        snapshot = await self._readable(database, asker)
        if snapshot is None:
            return
        others = [
            row.sql
            for row in stored.reply.rows
            if row.sql is not None and row.database == database and row.sql != sql
        ]
        shown = await asyncio.to_thread(self._votes, ask.question, sql, others, snapshot, kind)
        taught = NewExample(ask.asker.user, database, ask.question, sql, kind, stored.reply.qid, shown)
        await self._store.keep([taught])
        await self._train_when_due(ask.asker.user)

    async def _readable(self, name: str, asker: Asker) -> Snapshot | None:
        for database, snapshot in await self._tools.catalog.entries():
            if database.name == name:
                try:
                    readable = await self._tools.upstream.readable(database, asker)
                except NLError as problem:
                    log.warning("nothing learned", database=name, problem=problem.message)
                    return None
                return snapshot.restricted_to(readable)
        return None

    def _votes(
        self, question: str, sql: str, others: Sequence[str], snapshot: Snapshot, kind: ExampleKind
    ) -> tuple[Vote, ...]:
        chosen = resolve(sql, snapshot)
        rejected = [found for other in others if not (found := resolve(other, snapshot)).problems]
        if chosen.problems or not rejected:
            return ()
        linked = bare_entities(entities(question), snapshot, self._tools.encoder)
        chosen_elements, *others_elements = (
            elements_read(each.columns, each.tables) for each in (chosen, *rejected)
        )
        return votes(linked, chosen_elements, others_elements, WEIGHTS[kind])

    async def _train_when_due(self, user: str) -> None:
        """Trains in the background once there are enough new votes: the asker's adapter and everybody's."""
        every = self._tools.learning.adapter_votes
        for scope in (user, "") if every else ():
            running = self._training.get(scope)
            if running is not None and not running.done():
                continue
            if len(await self._store.evidence(scope)) - await self._store.trained_on(scope) >= every:
                name = f"adapter of {scope or 'everybody'}"
                self._training[scope] = asyncio.create_task(self._train(scope), name=name)

    async def _train(self, scope: str) -> None:
        try:
            await adapt(scope, self._store, self._tools.catalog, self._tools.encoder)
        except StoreUnavailableError as problem:
            log.warning("adapter not trained", scope=scope, problem=str(problem))
