"""Learns from feedback on an answer: a choice, a correction (which counts twice), a rejection.

Nothing is learned of elements that the asker may not read. Every method of `Learner` but `settled` and `aclose` raises
`StoreUnavailableError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from engine.learn.adapter_training import adapt
from engine.learn.preferences import bare_entities, votes
from engine.learn.store import LearningStore, NewExample
from engine.question.question import Question
from engine.statement.resolution import resolve
from engine.values.dialogue import Stored
from engine.values.elements import elements_read
from engine.values.errors import NLError, for_log
from engine.values.learned import ExampleKind, Vote
from engine.values.messages import AnswerRow, Asker
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Snapshot

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
                NewExample(
                    ask.asker.owner, row.database, stored.question.text, row.sql, ExampleKind.REJECTED, qid
                )
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
        # What the catalog says is no statement over data: it would be an answer of yesterday.
        if snapshot is None or not (await asyncio.to_thread(resolve, sql, snapshot)).tables:
            return
        others = [
            row.sql
            for row in stored.reply.rows
            if row.sql is not None and row.database == database and row.sql != sql
        ]
        shown = await asyncio.to_thread(self._votes, stored.question, sql, others, snapshot, kind)
        taught = NewExample(
            ask.asker.owner, database, stored.question.text, sql, kind, stored.reply.qid, shown
        )
        await self._store.keep([taught])
        await self._train_when_due(ask.asker.owner)

    async def _readable(self, name: str, asker: Asker) -> Snapshot | None:
        for database, snapshot in await self._tools.catalog.entries():
            if database.name == name:
                try:
                    readable = await self._tools.upstream.readable(database, asker)
                except NLError as problem:
                    log.warning("nothing learned", database=name, problem=for_log(problem))
                    return None
                return snapshot.restricted_to(readable)
        return None

    def _votes(
        self, question: Question, sql: str, others: Sequence[str], snapshot: Snapshot, kind: ExampleKind
    ) -> tuple[Vote, ...]:
        chosen = resolve(sql, snapshot)
        rejected = [found for other in others if not (found := resolve(other, snapshot)).problems]
        if chosen.problems or not rejected:
            return ()
        linked = bare_entities(question.entities, snapshot, self._tools.encoder)
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
            log.warning("adapter not trained", scope=scope, problem=for_log(problem))
