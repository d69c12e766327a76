"""A simulated user's two meetings with an ambiguity, asked and judged.

Owns what is asked of the engine, with what was learned and without, and how the user teaches it. Where a run ends, it
goes on: what was answered is in a journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from benchmarks.harness.command import Options
from benchmarks.harness.journal import Answer, Journal, identity
from benchmarks.harness.machine import describe
from benchmarks.harness.questions import Asked, QuestionSet
from benchmarks.harness.running import failing
from benchmarks.harness.scorer import Right, Scorer, Verdicts
from benchmarks.harness.site import Site, prepared
from benchmarks.harness.systems import READER, WHOLE, Gateway, Task
from benchmarks.harness.without import NoMemory
from benchmarks.quality.personal.pairs import Meetings, pairs
from engine.learn.feedback import Learner
from engine.learn.store import LearningStore
from engine.values.dialogue import Stored
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, RowKind
from engine.values.settings import LearningSettings
from schema_catalog.migrate import migrate
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogStore, DuplicateNameError

STORE = "personal"
"""The database of what is learned: apart from the other benchmarks', whose engine must know nothing."""

FIRST, WITH, WITHOUT = MEETINGS = ("first", "with", "without")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pair whose second question was answered both ways. `shown`: the user found a right row at the first meeting."""

    set_name: str
    name: str
    database: str
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
        self._site = place
        self._system = Gateway(WHOLE, options.k)
        self._pairs = pairs(options.bench, of, options.n or 1, options.seed, options.half)
        sources = (*self._system.sources, Path(__file__), Path(__file__).with_name("pairs.py"))
        name = identity(f"personal {self._system.settings} seed={options.seed}", sources)
        self._journal = Journal(options.work / "answers" / f"{of.name}-{name}.jsonl", Answer)
        self._verdicts = Verdicts(Scorer(options.bench, place.dsn, options.work / "scoring"))

    @property
    def left(self) -> int:
        """How many answers are still to be given."""
        return sum(not self._known(each, which) for each in self._pairs for which in MEETINGS)

    def _known(self, each: Meetings, which: str) -> bool:
        return _id(each, which) in self._journal.answers

    async def measure(self, told: Callable[[str], None]) -> None:
        """Has every pair answered that is not yet."""
        async with _store(self._site) as pool:
            for number, each in enumerate(self._pairs, 1):
                if not all(self._known(each, which) for which in MEETINGS):
                    await self._meet(each, pool)
                    told(f"{self._of.name}: pair {number} of {len(self._pairs)}, {each.name}")

    async def _meet(self, each: Meetings, pool: Pool) -> None:
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
        first = await self._answered(_id(each, FIRST), replace(task, tools=tools))
        await self._teach(each, first, Learner(tools, memory), database.name)
        question = replace(each.second.question, database=database.name)
        for which, remembered in ((WITH, tools), (WITHOUT, replace(tools, memory=NoMemory()))):
            await self._answered(_id(each, which), Task(question, task.place, remembered))

    async def _answered(self, name: str, task: Task) -> Answer:
        if name in self._journal.answers:
            return self._journal.answers[name]
        await self._system.prepare(task)
        self._site.meter.take(0.0)
        began = time.perf_counter()
        proposals, error, crashed = await failing(self._system.answer(task))
        cost = self._site.meter.take(time.perf_counter() - began)
        answer = Answer(name, proposals, cost, error, crashed, describe().commit)
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

    def _right(self, answers: Sequence[tuple[Asked, Answer]]) -> list[list[Right]]:
        """For every candidate whether it is right under reading 1 and 2. All are of the first question's database."""
        wanted: dict[str, list[str]] = {}
        for asked, answer in answers:
            wanted.setdefault(asked.question.id, []).extend(each.sql for each in answer.proposals)
        self._verdicts.judge(self._of, wanted)
        return [
            [self._verdicts.right(self._of, asked.question.id, each.sql) for each in answer.proposals]
            for asked, answer in answers
        ]

    def outcomes(self) -> list[Outcome]:
        """Of the pairs that were answered whole."""
        done = [each for each in self._pairs if all(self._known(each, which) for which in MEETINGS)]
        judged = [
            self._right(
                [
                    (each.first if which == FIRST else each.second, self._journal.answers[_id(each, which)])
                    for each in done
                ]
            )
            for which in MEETINGS
        ]
        return [_outcome(self._of.name, each, *right) for each, *right in zip(done, *judged, strict=True)]


def _outcome(
    set_name: str, each: Meetings, first: list[Right], given: list[Right], without: list[Right]
) -> Outcome:
    chosen = [_chosen(right, each.reading) for right in (first, given, without)]
    right, found = [place == 0 for place in chosen], [place is not None for place in chosen]
    return Outcome(
        *(set_name, each.name, each.first.owner, found[0], right[0]),
        *(right[1], found[1], right[2], found[2]),
    )


def _id(each: Meetings, which: str) -> str:
    return f"{each.name}:{which}"


def _chosen(right: Sequence[Right], reading: int) -> int | None:
    """The first row that is right, None where none is."""
    return next((place for place, each in enumerate(right) if each[reading]), None)


def _stored(asked: Asked, answer: Answer, database: str) -> Stored:
    """The answer as the engine keeps it for its asker."""
    rows = tuple(
        AnswerRow(number, RowKind.CANDIDATE, database, each.confidence, "", each.sql, None, answer.id)
        for number, each in enumerate(answer.proposals, 1)
    )
    return Stored(AskRequest(Asker(READER, ""), asked.question.text), AskReply(answer.id, rows))


@asynccontextmanager
async def _store(place: Site) -> AsyncIterator[Pool]:
    """The store of what is learned."""
    await prepared(place.cluster, STORE)
    async with asyncpg.create_pool(place.cluster.dsn(STORE), min_size=1, max_size=2) as pool:
        async with pool.acquire() as one:
            await migrate(one)
        yield pool
