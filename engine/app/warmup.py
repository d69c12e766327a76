"""Warm-up: loads the models, the index, values, and the prompts' prefixes ahead of the first question."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Sequence

import structlog

from engine.link.element_text import linked
from engine.llm.prompts import prompt
from engine.question.language import foreign_language
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.errors import ModelAwayError, NLError, for_log
from engine.values.ports import LanguageModel, Prompt
from engine.values.settings import Strategy
from engine.values.tools import Tools
from engine.write.schema_text import schema_text
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Column, Database, Snapshot, Table, TableKind

RETRY_SECONDS, RETRY_GROWTH, RETRY_AT_MOST = 0.5, 1.2, 15.0
"""Between two requests to a language model that is still loading: how long at first, by how much more, and at most."""

PROMPT_TIMEOUT = 120.0

LOOK_SECONDS = 2.0
"""Between two looks whether there are new schemas."""

ONE_COLUMN = Snapshot("", (), (Table("", "ready", TableKind.TABLE, (Column("ready", "text"),)),))
"""A schema to ask the linker about, so that it loads: for one without tables it does not."""

log = structlog.stdlib.get_logger("engine")


async def warm_up(tools: Tools, databases: int, ready: asyncio.Event) -> None:
    """Sets `ready` when the models, the index, and values and schemas of the first `databases` are loaded.

    Questions are answered meanwhile; a failure is logged.
    """
    began = time.monotonic()
    await asyncio.to_thread(tools.encoder.encode, ["ready"])
    await asyncio.to_thread(tools.ranker.rank, Question("ready"), (Candidate("", "SELECT 1"),))
    await asyncio.to_thread(tools.linker.link, Question("ready"), ONE_COLUMN)
    await asyncio.to_thread(foreign_language, "prêt")
    await _until_answering(tools.model)
    try:
        entries = await tools.catalog.entries()
        snapshots = [snapshot for _, snapshot in entries]
        await asyncio.to_thread(tools.router.prepare, snapshots)
        await prepared(tools, entries[:databases])
        for snapshot in snapshots[:databases]:
            await _read_schema(tools.model, snapshot)
        if tools.strategy is Strategy.SEARCH:
            await _read(tools.model, Prompt(prompt("follow_up_system"), ""))
    except (NLError, StoreUnavailableError) as problem:
        log.warning("warm-up incomplete", problem=for_log(problem))
    # Modules and models stay: later collections would visit them, and hold all up for a fifth of a second, as this one
    # does.
    gc.collect()
    gc.freeze()
    ready.set()
    log.info("warm", seconds=round(time.monotonic() - began, 1))


class NewSchemas:
    """What a schema takes of the first question about it, made before: names encoded, values indexed.

    Of the schemas that come, or change, while the engine runs; those of its start are `warm_up`'s.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._known: tuple[Snapshot, ...] | None = None

    async def step(self) -> None:
        """Looks once; raises what the catalog, the encoder and the store of values do."""
        entries = await self._tools.catalog.entries()
        # Kept, so that their ids keep their meaning.
        before, self._known = self._known, tuple(snapshot for _, snapshot in entries)
        if before is None:
            return
        known = set(map(id, before))
        new = [entry for entry in entries if id(entry[1]) not in known]
        if new:
            await prepared(self._tools, new)
            log.info("new schemas are warm", databases=[database.name for database, _ in new])


async def prepared(tools: Tools, entries: Sequence[tuple[Database, Snapshot]]) -> None:
    """Encodes the names of some databases' schemas, and indexes their values. Raises as `NewSchemas.step`."""
    await asyncio.to_thread(tools.router.prepare, [snapshot for _, snapshot in entries])
    await tools.values.prepare([database for database, _ in entries])
    for _, snapshot in entries:
        await asyncio.to_thread(linked, ("ready",), snapshot, tools.encoder)


async def _until_answering(model: LanguageModel) -> None:
    """Until what the model can do is known; less and less often where it is asked in vain: services count requests."""
    pause = RETRY_SECONDS
    while True:
        try:
            asked = Prompt("Say yes.", "Say yes.")
            await model.read(asked, deadline=Deadline(time.monotonic() + PROMPT_TIMEOUT))
        except NLError as problem:
            if not isinstance(problem, ModelAwayError):
                log.warning("model not ready", problem=for_log(problem), hint=problem.hint)
            await asyncio.sleep(pause)
            pause = min(pause * RETRY_GROWTH, RETRY_AT_MOST)
        else:
            return


async def _read_schema(model: LanguageModel, snapshot: Snapshot) -> None:
    """Puts the prompt's prefix, up to the question, into the model's prefix cache."""
    text, _ = schema_text(snapshot, ())
    user = prompt("generate_user", schema=text, values="", question="")
    await _read(model, Prompt(prompt("generate_system"), user))


async def _read(model: LanguageModel, asked: Prompt) -> None:
    await model.read(asked, deadline=Deadline(time.monotonic() + PROMPT_TIMEOUT))
