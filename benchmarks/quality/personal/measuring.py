"""A simulated user's two meetings with an ambiguity, asked and judged.

Owns what is asked of the engine, with what was learned and without, and how the user teaches it. Where a run ends, it
goes on: what was answered is in a journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.quality.candidates.gateway import Gateway, gateways
from benchmarks.quality.candidates.journal import Answer, Cost, Journal, identity
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.questions import Asked, QuestionSet
from benchmarks.quality.candidates.site import Site
from benchmarks.quality.candidates.tasks import READER, Task
from benchmarks.quality.personal.pairs import Meetings, pairs
from engine.api.question_store import Stored
from engine.core.tools import NoMemory
from engine.errors import ModelUnavailableError, NLError
from engine.learning.feedback import Learner
from engine.learning.store import LearningStore
from engine.settings import LearningSettings
from engine.types import AnswerRow, Asker, AskReply, AskRequest, RowKind
from schema_catalog.migrate import migrate
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogStore, DuplicateNameError

STORE = "personal"
"""The database of what is learned: apart from the candidates benchmark's, whose engine must know nothing."""

FIRST, WITH, WITHOUT = "first", "with", "without"


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, on what, and where the results go. `n`: pairs a set."""

    bench: Path
    work: Path
    sets: tuple[QuestionSet, ...]
    n: int
    seed: int
    half: int | None
    k: int
    plan: bool
    score: bool
    json: Path | None
    into: Path | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pair whose second question was answered both ways. `shown`: the user found a right row at the first meeting."""

    set_name: str
    name: str
    shown: bool
    first_right: bool
    with_first: bool
    with_set: bool
    without_first: bool
    without_set: bool


class Measuring:
    """One set: its pairs, what was answered, and what that is worth."""

    def __init__(self, of: QuestionSet, options: Options, place: Site) -> None:
        self._of = of
        self._options = options
        self._site = place
        self._system: Gateway = gateways(place.plain, options.k)[0]
        self._pairs = pairs(options.bench, of, options.n, options.seed, options.half)
        own = (Path(__file__), *(Path(__file__).parents[1] / "candidates").glob("*.py"))
        name = identity(
            f"personal {self._system.settings} seed={options.seed}", (*self._system.sources, *own)
        )
        self._journal = Journal(options.work / "answers" / "personal" / f"{of.name}-{name}.jsonl")
        self._scorer = Scorer(options.bench, place.dsn, options.work / "scoring-personal")

    @property
    def left(self) -> int:
        """How many answers are still to be given."""
        return sum(
            _id(each, which) not in self._journal.answers
            for each in self._pairs
            for which in (FIRST, WITH, WITHOUT)
        )

    async def measure(self, commit: str, told: Any) -> None:
        """Has every pair answered that is not yet."""
        async with _store(self._site) as pool:
            for number, each in enumerate(self._pairs, 1):
                if any(_id(each, which) not in self._journal.answers for which in (FIRST, WITH, WITHOUT)):
                    await self._meet(each, pool, commit)
                    told(f"{self._of.name}: pair {number} of {len(self._pairs)}, {each.name}")

    async def _meet(self, each: Meetings, pool: Pool, commit: str) -> None:
        task = await self._site.task(each.first)
        assert task.place is not None  # noqa: S101 - AmbiQT's questions bring their database
        database = task.place.database
        with contextlib.suppress(DuplicateNameError):
            await CatalogStore(pool).add(database)
        # A pair that was cut off begins anew: nobody has taught anything.
        await pool.execute("DELETE FROM pgparley.learned_example WHERE database = $1", database.name)
        learning = LearningSettings()
        memory = LearningStore(pool, learning)
        tools = replace(task.tools, memory=memory, learning=learning)
        first = await self._answered(_id(each, FIRST), replace(task, tools=tools), commit)
        await self._teach(each, first, Learner(tools, memory), database.name)
        question = replace(each.second.question, database=database.name)
        for which, remembered in ((WITH, tools), (WITHOUT, replace(tools, memory=NoMemory()))):
            again = Task(question, task.place, remembered)
            await self._answered(_id(each, which), again, commit)

    async def _answered(self, name: str, task: Task, commit: str) -> Answer:
        if name in self._journal.answers:
            return self._journal.answers[name]
        await self._system.prepare(task)
        self._site.meter.take(0.0)
        began = time.perf_counter()
        try:
            proposals, error = await self._system.answer(task), None
        except ModelUnavailableError:
            raise
        except NLError as problem:
            proposals, error = (), f"{problem.sqlstate} {problem.message}"
        cost: Cost = self._site.meter.take(time.perf_counter() - began)
        answer = Answer(name, proposals, cost, error, crashed=False, commit=commit)
        self._journal.add(answer)
        return answer

    async def _teach(self, each: Meetings, first: Answer, learner: Learner, database: str) -> None:
        """What the user does with the first answer, through the engine's own learner."""
        (right,) = await asyncio.to_thread(self._right, [(each.first, first)])
        stored = _stored(each.first, first, database)
        chosen = _chosen(right, each.reading)
        if chosen is None:
            await learner.corrected(stored, database, each.gold, stored.request.asker)
        else:
            await learner.chose(stored, stored.reply.rows[chosen], stored.request.asker)

    def _right(self, answers: Sequence[tuple[Asked, Answer]]) -> list[tuple[tuple[bool, bool], ...]]:
        """For every candidate whether it is right under reading 1 and 2. All are of the first question's database."""
        made = [
            replace(
                answer,
                id=asked.question.id,
                proposals=tuple(replace(one, database=None) for one in answer.proposals),
            )
            for asked, answer in answers
        ]
        verdict = self._scorer.judge(self._of, made)
        return [verdict.right[asked.question.id] for asked, _ in answers]

    def outcomes(self) -> list[Outcome]:
        """Of the pairs that were answered whole."""
        known = self._journal.answers
        done = [
            each for each in self._pairs if all(_id(each, which) in known for which in (FIRST, WITH, WITHOUT))
        ]
        if not done:
            return []
        judged = {
            which: self._right(
                [(each.first if which == FIRST else each.second, known[_id(each, which)]) for each in done]
            )
            for which in (FIRST, WITH, WITHOUT)
        }
        return [
            Outcome(
                self._of.name,
                each.name,
                _chosen(judged[FIRST][place], each.reading) is not None,
                _first(judged[FIRST][place], each.reading),
                _first(judged[WITH][place], each.reading),
                _chosen(judged[WITH][place], each.reading) is not None,
                _first(judged[WITHOUT][place], each.reading),
                _chosen(judged[WITHOUT][place], each.reading) is not None,
            )
            for place, each in enumerate(done)
        ]


def _id(each: Meetings, which: str) -> str:
    return f"{each.name}:{which}"


def _chosen(right: Sequence[tuple[bool, bool]], reading: int) -> int | None:
    """The first row that is right, None where none is."""
    return next((place for place, each in enumerate(right) if each[reading]), None)


def _first(right: Sequence[tuple[bool, bool]], reading: int) -> bool:
    return bool(right) and right[0][reading]


def _stored(asked: Asked, answer: Answer, database: str) -> Stored:
    """The answer as the engine keeps it for its asker."""
    rows = tuple(
        AnswerRow(number, RowKind.CANDIDATE, database, each.confidence, each.sql, "", None, answer.id)
        for number, each in enumerate(answer.proposals, 1)
    )
    return Stored(AskRequest(Asker(READER, ""), asked.question.text), AskReply(answer.id, rows))


@asynccontextmanager
async def _store(place: Site) -> AsyncIterator[Pool]:
    """The store of what is learned."""
    connection = await asyncpg.connect(place.dsn)
    try:
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", STORE):
            await connection.execute(f"CREATE DATABASE {STORE}")
    finally:
        await connection.close()
    async with asyncpg.create_pool(place.cluster.dsn(STORE), min_size=1, max_size=2) as pool:
        async with pool.acquire() as one:
            await migrate(one)
        yield pool
