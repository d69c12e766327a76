"""Has the language model asked about schemas before anybody asks, and keeps what it says: by command, and by itself.

By itself while nobody asks, within a budget of a day, one prompt a round: what ends in between is gone on with. Asked
anew is only about tables whose schema has changed. What is asked is `engine.write.schema_questions`'s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import asyncpg
import structlog

from engine.app.prompt_preview import CHARACTERS
from engine.app.suggesting import showable_values
from engine.values.deadline import Deadline
from engine.values.errors import (
    BusyError,
    InvalidSettingError,
    ModelAwayError,
    ModelUnavailableError,
    NLError,
    for_log,
)
from engine.values.model_settings import ModelSettings
from engine.values.ports import Catalog, LanguageModel, Upstream
from engine.values.settings import Ahead, CatalogSettings
from engine.values.suggestions import AskAheadRequest, AskedAhead
from engine.write.schema_questions import Topic, asking, made, topics
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.made_store import MadeStore
from schema_catalog.naming import dotted
from schema_catalog.pg import Pool
from schema_catalog.types import ColumnKey, Database, Snapshot

SECONDS = 120.0
"""For one call."""

LEASE = 2 * SECONDS
"""For which no other engine asks about a database, where this one does not say that it is done."""

ROUND = 5.0
"""Seconds between two looks whether something is to be asked."""

LOOK = 0.1
"""Seconds between two looks whether a question has come, to which the model is then left."""

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class AskingAhead:
    """`pool`: of the store. `idle`: whether nobody's question is being answered, or waits."""

    catalog: Catalog
    model: LanguageModel
    pool: Pool
    upstream: Upstream
    services: ModelSettings
    settings: CatalogSettings
    idle: Callable[[], bool]
    _done: dict[str, Snapshot] = field(default_factory=dict)
    _failed: set[tuple[str, str]] = field(default_factory=set)

    async def ask(self, request: AskAheadRequest) -> AskedAhead:
        """Asks about the next tables of a database; for an estimate about none.

        Raises `InvalidSettingError` where the database is not there, `BusyError` where another engine asks about it,
        and the model's and the store's errors.
        """
        try:
            entries = {entry[0].name: entry for entry in await self.catalog.entries()}
            if request.database not in entries:
                raise InvalidSettingError(
                    f'database "{request.database}" is not registered, or all of it is hidden',
                    hint="pgparley catalog list shows the names.",
                )
            database, snapshot = entries[request.database]
            async with self._store.alone(database.name, LEASE) as mine:
                if not mine:
                    raise BusyError("an engine asks about this database already", hint="Try again later.")
                every, waiting = await self._topics(snapshot)
                told = self._estimate(database, waiting)
                reached = {key for topic in every for key in topic.keys}
                told = replace(told, unreached=len(snapshot.tables) - len(reached))
                if request.estimate or not waiting:
                    return told
                # One that the model refused waits behind the others.
                topic = self._next(database, waiting) or waiting[0]
                asked = await self._ask(database, topic, local=database.local)
                return replace(asked, left=len(waiting) - 1, unreached=told.unreached)
        except (StoreUnavailableError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as problem:
            raise ModelUnavailableError(
                "the engine's store does not answer", detail=str(problem), hint="Check [engine] store."
            ) from problem

    async def step(self) -> None:
        """Asks about the next tables of one database, where that is wanted and there is time; raises as `ask`."""
        if self.settings.ask_ahead is Ahead.OFF or not self.idle():
            return
        away = dict[bool, ModelAwayError]()
        for database, snapshot in await self.catalog.entries():
            local = database.local or self.settings.ask_ahead is Ahead.OWN
            if self._done.get(database.name) is snapshot or self._service(local=local) is None:
                continue
            # Where the services are away that this one may be sent to, others may be sent elsewhere.
            if local in away:
                continue
            if not await self._has_room():
                return
            async with self._store.alone(database.name, LEASE) as mine:
                try:
                    if mine and await self._stepped(database, snapshot, local=local):
                        return
                except ModelAwayError as problem:
                    away[local] = problem
        if away:
            raise next(iter(away.values()))

    async def _stepped(self, database: Database, snapshot: Snapshot, *, local: bool) -> bool:
        """Whether there was something to ask about this database."""
        _, waiting = await self._topics(snapshot)
        topic = self._next(database, waiting)
        if topic is None:
            self._done[database.name] = snapshot
            return False
        # Also what is cancelled, or comes to nothing, is paid for.
        began, tokens = time.monotonic(), sum(_tokens(topic))
        try:
            told = await self._while_idle(self._ask(database, topic, local=local))
            tokens = tokens if told is None else told.tokens
        except ModelAwayError:
            tokens = 0
            raise
        except NLError as problem:
            log.warning("schema not asked", database=database.name, problem=for_log(problem))
        finally:
            await self._store.spend(tokens, time.monotonic() - began)
        return True

    def _next(self, database: Database, waiting: Sequence[Topic]) -> Topic | None:
        """The first that the model has not refused since the engine was started: it costs each time."""
        return next((each for each in waiting if (database.name, each.fingerprint) not in self._failed), None)

    async def _while_idle(self, asking: Coroutine[Any, Any, AskedAhead]) -> AskedAhead | None:
        """Waits for it, and cancels it when a question comes; raises what it raises."""
        task = asyncio.create_task(asking, name="asking-ahead")
        try:
            while not task.done() and self.idle():
                await asyncio.wait({task}, timeout=LOOK)
            return await task if task.done() else None
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def _has_room(self) -> bool:
        """Whether anything is left of the day's budget, of all engines together."""
        tokens, seconds = await self._store.spent()
        return tokens < self.settings.ask_ahead_tokens and seconds < self.settings.ask_ahead_seconds

    @property
    def _store(self) -> MadeStore:
        return MadeStore(self.pool)

    def _service(self, *, local: bool) -> ModelSettings | None:
        """The service that is asked first."""
        return next((each for each in self.services.services if each.own or not local), None)

    async def _topics(self, snapshot: Snapshot) -> tuple[Sequence[Topic], Sequence[Topic]]:
        """All of a database, and those to ask about; what was made of others is dropped."""
        every = await asyncio.to_thread(topics, snapshot)
        asked = await self._store.asked(snapshot.database)
        waiting = [topic for topic in every if asked.get(topic.keys) != topic.fingerprint]
        if not waiting:
            await self._store.prune(snapshot.database, [topic.keys for topic in every])
        return every, waiting

    def _estimate(self, database: Database, waiting: Sequence[Topic]) -> AskedAhead:
        service = self._service(local=database.local) or self.services
        read, written = (sum(each) for each in zip((0, 0), *map(_tokens, waiting), strict=True))
        return AskedAhead(
            left=len(waiting),
            tokens=read + written,
            money=service.price.of(read, 0, written),
            model=service.called,
            own=service.own,
        )

    async def _ask(self, database: Database, topic: Topic, *, local: bool) -> AskedAhead:
        service = self._service(local=local) or self.services
        began = time.monotonic()
        prompt = replace(asking(topic, await self._values(database, topic)), local=local)
        try:
            completion = await self.model.complete(
                prompt,
                deadline=Deadline(began + SECONDS),
                max_tokens=topic.tokens,
                grammar=topic.grammar() if self.model.profile.grammars else None,
            )
        except ModelAwayError:
            raise
        except NLError:
            self._failed.add((database.name, topic.fingerprint))
            raise
        found = made(completion.text, topic, (mark for mark, _ in completion.marks))
        await self._store.keep(database.name, found, topic.fingerprint, service.called)
        usage = completion.usage
        told = AskedAhead(
            tables=found.tables,
            questions=found.questions,
            words=sum(map(len, found.words.values())),
            tokens=usage.prefilled + usage.cached + usage.generated,
            money=usage.money,
            model=service.called,
            own=service.own,
        )
        log.info(
            "schema asked",
            database=database.name,
            tables=[dotted(key) for key in told.tables],
            questions=len(told.questions),
            words=told.words,
            tokens=told.tokens,
            money=round(told.money, 6),
            seconds=round(time.monotonic() - began, 1),
        )
        return told

    async def _values(self, database: Database, topic: Topic) -> Mapping[ColumnKey, Sequence[str]]:
        """Those that may be shown of tables that are the same to everybody: others read the questions, too."""
        try:
            secured = await self.upstream.row_secured(database)
        except NLError:
            return {}
        values = await showable_values(self.pool, database.name, topic.tables)
        return {key: held for key, held in values.items() if key[:2] not in secured}


def _tokens(topic: Topic) -> tuple[int, int]:
    """About how many a model reads for a topic, and how many it writes at most."""
    prompt = asking(topic, {})
    return int((len(prompt.system) + len(prompt.user)) / CHARACTERS), topic.tokens
