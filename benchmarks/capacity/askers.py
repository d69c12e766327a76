"""Askers: sessions that ask for numbers of their own, and know what is right.

Owns what became of each question: answered, refused with an SQLSTATE, lost, or given another's answer.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import asyncpg

from benchmarks.capacity.stack import SINGERS, Stack
from benchmarks.harness.processes import HOST

PATIENCE = 300.0
"""Seconds after which a question that has neither an answer nor an error is lost."""


@dataclass(slots=True)
class Outcomes:
    """Of many questions. `seconds`: of those answered. `errors`: how many, by SQLSTATE or the error's name.

    `words`: the first error's of each.
    """

    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)
    lost: int = 0
    anothers: int = 0

    @property
    def asked(self) -> int:
        """All of them."""
        return len(self.seconds) + self.errors.total() + self.lost + self.anothers

    def fail(self, kind: str, words: str) -> None:
        """Notes an error."""
        self.errors[kind] += 1
        self.words.setdefault(kind, words)


class Asker:
    """One session, and a new one where it was cut off. `numbers`: that no other asker has.

    `outcomes`: where the questions that begin now are noted.
    """

    def __init__(self, stack: Stack, numbers: Iterator[int], outcomes: Outcomes) -> None:
        self._stack = stack
        self._numbers = numbers
        self.outcomes = outcomes
        self._session: asyncpg.Connection | None = None

    async def ask(self) -> None:
        """Asks one question and runs what it gives; notes what became of it."""
        number, outcomes = next(self._numbers), self.outcomes
        age = SINGERS - number
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                rows = await self._rows(f"NL RUN $$How many singers are older than {age}$$")
        except TimeoutError:
            outcomes.lost += 1
            await self.close()
        except asyncpg.PostgresError as error:
            outcomes.fail(
                error.sqlstate or "", "; ".join(filter(None, (error.message, error.detail, error.hint)))
            )
        except (OSError, asyncpg.InterfaceError) as error:
            outcomes.fail(type(error).__name__, str(error))
            await self.close()
        else:
            if [tuple(row.values()) for row in rows] == [(number,)]:
                outcomes.seconds.append(time.perf_counter() - began)
            else:
                outcomes.anothers += 1

    async def _rows(self, statement: str) -> list[asyncpg.Record]:
        if self._session is None or self._session.is_closed():
            self._session = await connected(self._stack)
        rows: list[asyncpg.Record] = await self._session.fetch(statement)
        return rows

    async def close(self) -> None:
        """Ends the session."""
        if self._session is not None:
            self._session.terminate()
            self._session = None


def askers(stack: Stack, count: int, outcomes: Outcomes) -> list[Asker]:
    """So many, each with numbers of its own."""
    return [Asker(stack, itertools.count(1000 + place, count), outcomes) for place in range(count)]


async def connected(stack: Stack) -> asyncpg.Connection:
    """A session of an analyst through the gateway."""
    return await asyncpg.connect(host=HOST, port=stack.port, user="analyst", database="music", timeout=60)
