"""What an engine does unasked: it warms up, and deletes what is over.

Warm-up: loads the models, the index, values, and the prompts' prefixes ahead of the first question.

Deletes questions whose time is over, also where nobody asks any more.

Owns the schedule. What goes with a question is `engine.api.question_store`'s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from engine.api.question_store import Questions
from engine.app.networks import ONE_COLUMN
from engine.core.background import Background
from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.ports import LanguageModel, Prompt
from engine.core.tools import Tools
from engine.errors import ModelAwayError, ModelUnavailableError, NLError, for_log
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from engine.understanding.language import foreign_language
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Snapshot

RETRY_SECONDS = 0.5
"""Between two requests to a model that is still loading."""

RETRY_GROWTH, RETRY_AT_MOST = 1.2, 15.0
"""By how much the pause grows for a language model, and to how many seconds."""

PROMPT_TIMEOUT = 120.0

log = structlog.stdlib.get_logger("engine")


async def warm_up(tools: Tools, databases: int, ready: asyncio.Event) -> None:
    """Sets `ready` when the models, the index, and values and schemas of the first `databases` are loaded.

    Questions are answered meanwhile; a failure is logged.
    """
    began = time.monotonic()
    await _until_there(lambda: tools.encoder.encode(["ready"]))
    await _until_there(lambda: tools.ranker.rank("ready", (Candidate("", "SELECT 1"),)))
    await _until_there(lambda: tools.linker.link("ready", ONE_COLUMN))
    await asyncio.to_thread(foreign_language, "prêt")
    await _until_answering(tools.model)
    try:
        entries = await tools.catalog.entries()
        snapshots = [snapshot for _, snapshot in entries]
        await asyncio.to_thread(tools.router.prepare, snapshots)
        await tools.values.prepare([database for database, _ in entries[:databases]])
        for snapshot in snapshots[:databases]:
            await _read_schema(tools.model, snapshot)
    except (NLError, StoreUnavailableError) as problem:
        log.warning("warm-up incomplete", problem=for_log(problem))
    ready.set()
    log.info("warm", seconds=round(time.monotonic() - began, 1))


async def _until_there(asked: Callable[[], object]) -> None:
    """Until a network answers: one that runs elsewhere may still be starting."""
    while True:
        try:
            await asyncio.to_thread(asked)
        except ModelUnavailableError as problem:
            log.warning("not ready", problem=for_log(problem), hint=problem.hint)
            await asyncio.sleep(RETRY_SECONDS)
        else:
            return


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
    asked = Prompt(prompt("generate_system"), prompt("generate_user", schema=text, values="", question=""))
    await model.read(asked, deadline=Deadline(time.monotonic() + PROMPT_TIMEOUT))


SECONDS = 60.0
"""Between two looks: so much longer than `[limits] ttl` a question stays at most."""


async def keep_no_longer(questions: Questions, background: Background, seconds: float = SECONDS) -> None:
    """Deletes what has expired, until cancelled; a store that does not answer costs one round."""
    while True:
        try:
            await questions.delete_expired()
            background.worked("retention")
        except Exception as problem:  # noqa: BLE001 - costs one round, never the engine
            background.failed("retention", problem)
        await asyncio.sleep(seconds)
