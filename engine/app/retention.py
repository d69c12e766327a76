"""Deletes questions whose time is over, also where nobody asks any more.

Owns the schedule. What goes with a question is `engine.api.question_store`'s.
"""

from __future__ import annotations

import asyncio

import structlog

from engine.api.question_store import Questions
from engine.errors import for_log

SECONDS = 60.0
"""Between two looks: so much longer than `[limits] ttl` a question stays at most."""

log = structlog.stdlib.get_logger("engine")


async def keep_no_longer(questions: Questions, seconds: float = SECONDS) -> None:
    """Deletes what has expired, until cancelled; a store that does not answer costs one round."""
    while True:
        try:
            await questions.delete_expired()
        except Exception as problem:  # noqa: BLE001 - costs one round, never the engine
            log.warning("questions not deleted", problem=for_log(problem))
        await asyncio.sleep(seconds)
