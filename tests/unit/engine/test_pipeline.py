"""The pipeline tells what blocks of the question's deadline."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from engine import pipeline
from engine.core import deadline
from engine.core.deadline import Deadline
from engine.core.state import State
from engine.core.tools import Tools
from engine.types import Asker, AskRequest


async def test_a_port_that_blocks_knows_the_deadline_of_its_question() -> None:
    seen: list[Deadline | None] = []

    async def stage(state: State, _tools: Tools) -> State:
        seen.append(await asyncio.to_thread(deadline.current))
        return state

    own = Deadline(1e12)
    state = State(AskRequest(Asker("ana", "music"), "how many?"), 3, 3, own, 0.0)
    await pipeline.run(state, cast("Any", None), (stage,))
    assert seen == [own]
    assert deadline.current() is None
