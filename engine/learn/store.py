"""The stored feedback: the SQL of its tables. Every method raises `StoreUnavailableError`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from engine.question.tokens import normal_form
from engine.values.learned import AskerFeedback, Cast, Element, ExampleKind, Lesson, Vote
from engine.values.recent import Recent
from engine.values.settings import LearningSettings
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.pg import Connection, Pool

REMEMBERED = 256
"""(asker, database) pairs whose examples are cached."""

DAY = 86_400.0

AGING = 3_600.0
"""Seconds after which feedback that is kept is read again: it has aged."""

_LESSONS = """
    SELECT e.question, e.normal_form, e.sql, e.kind, e.asker = $2 AS own FROM pgparley.learned_example e
    WHERE e.database = $1 AND (e.asker = $2 OR e.approved_at IS NOT NULL)
      AND e.learned_at > now() - $3 * interval '1 day'
    ORDER BY e.learned_at DESC, e.id DESC LIMIT 1000
"""

_VERIFIED = """
    SELECT d.body ->> 'question', d.body ->> 'sql' FROM pgparley.definition d
    WHERE d.database = $1 AND d.kind = 'query' AND d.state = 'checked' ORDER BY d.element LIMIT 1000
"""

_CASTS = """
    SELECT v.phrase, v.preferred, v.rejected, v.weight, e.asker = $2 AS own,
           extract(epoch FROM e.learned_at)::float8 AS at
    FROM pgparley.learned_vote v JOIN pgparley.learned_example e ON e.id = v.example
    WHERE e.database = $1 AND (e.asker = $2 OR e.approved_at IS NOT NULL)
      AND e.learned_at > now() - $3 * interval '1 day'
    ORDER BY e.learned_at DESC, e.id DESC, v.phrase LIMIT 10000
"""

_ADAPTER = """
    SELECT version, scope, weights FROM (
        SELECT DISTINCT ON (scope) version, scope, weights FROM pgparley.learned_adapter
        WHERE scope IN ($1, '') AND weights IS NOT NULL AND NOT withdrawn ORDER BY scope, version DESC) newest
    ORDER BY scope = '' LIMIT 1
"""

_EVIDENCE = """
    SELECT e.database, v.phrase, v.preferred, v.rejected FROM pgparley.learned_vote v
    JOIN pgparley.learned_example e ON e.id = v.example
    WHERE (e.asker = $1 OR e.approved_at IS NOT NULL) AND e.learned_at > now() - $2 * interval '1 day'
    ORDER BY e.learned_at DESC, e.id DESC LIMIT 5000
"""

_PAIRS = """
    SELECT e.database, e.question, e.sql FROM pgparley.learned_example e
    WHERE (e.asker = $1 OR e.approved_at IS NOT NULL) AND e.kind <> 'rejected'
      AND e.learned_at > now() - $2 * interval '1 day'
    ORDER BY e.learned_at DESC, e.id DESC LIMIT 500
"""


@dataclass(frozen=True, slots=True)
class NewExample:
    """A statement of an answer that a person judged, with the votes that follow."""

    asker: str
    database: str
    question: str
    sql: str
    kind: ExampleKind
    qid: str
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A vote that may train an adapter."""

    database: str
    phrase: str
    preferred: Element
    rejected: Element


@dataclass(frozen=True, slots=True)
class Verified:
    """A question with the statement that answers it."""

    database: str
    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class AdapterTraining:
    """An adapter's training. `weights` None: it was dropped, and `verdict` says why."""

    scope: str
    votes: int
    weights: bytes | None
    before: float
    after: float
    verdict: str


class LearningStore:
    """`engine.values.ports.Memory` over a store."""

    def __init__(self, pool: Pool, settings: LearningSettings) -> None:
        self._pool = pool
        self._settings = settings
        self._version: int | None = None
        self._known = Recent[tuple[str, str, int], AskerFeedback](REMEMBERED)

    async def known(self, user: str, database: str) -> AskerFeedback:
        """All that may count for `user` on `database`."""
        async with answering():
            version = await self._pool.fetchval("SELECT version FROM pgparley.learning_version")
            if version != self._version:
                self._known = Recent(REMEMBERED)
                self._version = version
            key = (user, database, int(time.time() // AGING))
            return self._known.get(key) or self._known.keep(key, await self._load(user, database))

    async def _load(self, user: str, database: str) -> AskerFeedback:
        window = self._settings.window_days
        lessons = await self._pool.fetch(_LESSONS, database, user, window)
        verified = await self._pool.fetch(_VERIFIED, database)
        casts = await self._pool.fetch(_CASTS, database, user, window)
        adapter = await self._pool.fetchrow(_ADAPTER, user)
        now = time.time()
        return AskerFeedback(
            tuple(Cast(_vote(row), row["own"], _age(row["at"], now)) for row in casts),
            (
                *(
                    Lesson(question, normal_form(question), sql, ExampleKind.VERIFIED, own=False)
                    for question, sql in verified
                ),
                *(
                    Lesson(question, key, sql, ExampleKind(kind), own)
                    for question, key, sql, kind, own in lessons
                ),
            ),
            *((adapter["weights"], adapter["version"], adapter["scope"]) if adapter else ()),
        )

    async def keep(self, taught: Sequence[NewExample]) -> None:
        """Stores the feedback on one answer in place of earlier feedback; the same choice again changes nothing."""
        if not taught:
            return
        async with answering(), self._pool.acquire() as connection, connection.transaction():
            before = await connection.fetch(
                "SELECT database, sql, kind FROM pgparley.learned_example WHERE asker = $1 AND qid = $2",
                taught[0].asker,
                taught[0].qid,
            )
            known = {(row["database"], row["sql"]) for row in before if row["kind"] != ExampleKind.REJECTED}
            if any(each.kind is ExampleKind.CHOSEN and (each.database, each.sql) in known for each in taught):
                return
            await connection.execute(
                "DELETE FROM pgparley.learned_example WHERE asker = $1 AND qid = $2",
                taught[0].asker,
                taught[0].qid,
            )
            for each in taught:
                await self._insert(connection, each)

    async def _insert(self, connection: Connection, taught: NewExample) -> None:
        approved = self._settings.auto_approve and taught.kind is not ExampleKind.REJECTED
        number = await connection.fetchval(
            "INSERT INTO pgparley.learned_example"
            " (asker, database, question, normal_form, sql, kind, qid, approved_at, approved_by)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN now() END, CASE WHEN $8 THEN 'auto_approve' END)"
            " RETURNING id",
            taught.asker,
            taught.database,
            taught.question,
            normal_form(taught.question),
            taught.sql,
            taught.kind.value,
            taught.qid,
            approved,
        )
        await connection.executemany(
            "INSERT INTO pgparley.learned_vote (example, phrase, preferred, rejected, weight)"
            " VALUES ($1, $2, $3, $4, $5)",
            [
                (number, vote.phrase, list(vote.preferred), list(vote.rejected), vote.weight)
                for vote in taught.votes
            ],
        )

    async def evidence(self, scope: str) -> tuple[Evidence, ...]:
        """The votes that may train an adapter for `scope`: a role's own and the approved; for "" the approved."""
        async with answering():
            rows = await self._pool.fetch(_EVIDENCE, scope, self._settings.window_days)
        return tuple(
            Evidence(database, phrase, _element(preferred), _element(rejected))
            for database, phrase, preferred, rejected in rows
        )

    async def pairs(self, scope: str) -> tuple[Verified, ...]:
        """The verified questions by which an adapter for `scope` is checked."""
        async with answering():
            rows = await self._pool.fetch(_PAIRS, scope, self._settings.window_days)
        return tuple(Verified(*row) for row in rows)

    async def trained_on(self, scope: str) -> int:
        """Votes of the last training for `scope`."""
        async with answering():
            found = await self._pool.fetchval(
                "SELECT votes FROM pgparley.learned_adapter WHERE scope = $1 ORDER BY version DESC LIMIT 1",
                scope,
            )
        return int(found or 0)

    async def keep_adapter(self, trained: AdapterTraining) -> None:
        """Stores a training; weights, if any, are used from now on."""
        async with answering():
            await self._pool.execute(
                "INSERT INTO pgparley.learned_adapter (scope, votes, weights, before, after, verdict)"
                " VALUES ($1, $2, $3, $4, $5, $6)",
                trained.scope,
                trained.votes,
                trained.weights,
                trained.before,
                trained.after,
                trained.verdict,
            )


@asynccontextmanager
async def answering(store: str = "the store of what was learned") -> AsyncIterator[None]:
    """Raises `StoreUnavailableError` in place of the store's failures."""
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        raise StoreUnavailableError(f"{store} does not answer") from error


def _vote(row: asyncpg.Record) -> Vote:
    return Vote(row["phrase"], _element(row["preferred"]), _element(row["rejected"]), row["weight"])


def _element(names: Sequence[str]) -> Element:
    schema, table, column = names
    return (schema, table, column)


def _age(at: float, now: float) -> float:
    return max(0.0, (now - at) / DAY)
