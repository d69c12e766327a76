"""A question whose time is over leaves the store, with what was said about its answer, though nobody asks any more."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.app.question_store import Questions
from engine.app.service import Service
from engine.values.background import Background
from engine.values.messages import Asker, AskRequest, ChooseRequest

ANA = Asker("ana", "music")
KEPT = "SELECT (SELECT count(*) FROM pgparley.question), (SELECT count(*) FROM pgparley.choice)"


async def test_what_has_expired_goes_and_the_rest_stays(service: Service, pool: Any) -> None:
    for _ in range(2):
        reply = await service.ask(AskRequest(ANA, "names of all singers"))
        await service.choose(ChooseRequest(ANA, reply.qid, 1))
    await pool.execute(
        "UPDATE pgparley.question SET expires_at = now() - interval '1 second' WHERE qid = $1", reply.qid
    )
    questions = Questions(pool)
    sweeping = asyncio.create_task(Background().repeat("retention", 0.01, questions.delete_expired))
    async with asyncio.timeout(30):
        while tuple(await pool.fetchrow(KEPT)) != (1, 1):
            pass
    sweeping.cancel()


class Failing(Questions):
    """Fails once; `again`: set when it is asked once more."""

    def __init__(self) -> None:
        """Needs no store."""
        self.rounds = 0
        self.again = asyncio.Event()

    async def delete_expired(self) -> None:
        self.rounds += 1
        if self.rounds == 1:
            raise OSError("the store is away")
        self.again.set()


async def test_a_store_that_does_not_answer_costs_one_round() -> None:
    questions = Failing()
    sweeping = asyncio.create_task(Background().repeat("retention", 0.0, questions.delete_expired))
    async with asyncio.timeout(30):
        await questions.again.wait()
    sweeping.cancel()
