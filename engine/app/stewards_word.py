"""What a steward has answered since its asker sent it to them: told once, with the qid of the answer."""

from __future__ import annotations

import asyncio
import time
from textwrap import shorten

from engine.app.corrections import with_row
from engine.app.question_store import Questions
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, DatabaseUnavailableError, NLError
from engine.values.messages import Asker, CorrectRequest
from engine.values.tools import Tools

_SECONDS = 1.0
"""For looking at all of them, behind the asker's own question: the gateway waits for two."""

_TOLD = 80
"""Characters of the question, which is their own."""


async def answered_since(asker: Asker, tools: Tools, questions: Questions) -> tuple[str, ...]:
    """Notices. The statement is then the last row of the answer; one that the asker may not run is not told of."""
    told = list[str]()
    until = Deadline(time.monotonic() + _SECONDS)
    for qid, question, database, sql in await questions.verified_since(asker.owner):
        request, reply = CorrectRequest(asker, qid, sql, database), None
        try:
            async with asyncio.timeout(until.remaining()):
                reply, _ = await with_row(request, tools, questions, until)
        except (TimeoutError, CancelledError, DatabaseUnavailableError):
            # With a later question.
            continue
        except NLError:
            pass
        if await questions.told(qid, reply) and reply is not None:
            row = reply.rows[-1].n
            told.append(
                f'a steward has answered "{shorten(question, _TOLD, placeholder=" …")}":'
                f" NL SHOW {row} OF '{qid}', NL CHOOSE {row} OF '{qid}', or ask again"
            )
    return tuple(told)
