"""Personalisation (Odin §8): is the first candidate right when a user meets an ambiguity for the second time?

    python -m benchmarks.quality.personal [--n PAIRS] [--only SETS] [--half 0|1] [--plan] [--score]

A simulated user means one reading of an ambiguous column or table. The user asks a first question and chooses the first
row that is right under that reading, or else corrects with what would have been; then asks a second question. That
is answered twice: with what was learned, and by the same engine without a memory. `personal_gain` is the ratio of the
shares of second questions whose first candidate is right. What is learned goes through the engine's own learner and
store. A run that was cut off goes on where it stopped when the same command is given again. Three answers a pair.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import asyncpg
from rich.console import Console
from rich.table import Table

from benchmarks.quality.candidates.command import ROOT, check_bench, common_parser, finished
from benchmarks.quality.candidates.figures import Figure, percentile, ratio
from benchmarks.quality.candidates.gateway import Gateway, gateways
from benchmarks.quality.candidates.journal import Answer, Cost, Journal, identity
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import SETS, Asked, QuestionSet, by_name
from benchmarks.quality.candidates.site import Site, site
from benchmarks.quality.candidates.tasks import READER, Task
from benchmarks.quality.personal_pairs import Meetings, pairs
from benchmarks.wire.machine import describe
from engine.api.question_store import Stored
from engine.core.defaults import NoMemory
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

PACE = 13.0
"""Seconds an answer, for the estimate: two processors, nothing else running."""

AMBIQT = tuple(each for each in SETS if each.name.startswith("ambiqt"))
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


def main() -> int:
    """Measures, prints the table, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return finished(_options, _run, Console(width=150))


async def _run(options: Options, console: Console) -> None:
    machine = describe(ROOT)
    async with site(options.work, options.bench) as place:
        made = [Measuring(of, options, place) for of in options.sets]
        left = sum(each.left for each in made)
        console.print(f"{left} answers to give, about {left * PACE / 60:.0f} min. Stop it when you like.")
        if options.plan:
            return
        if left and not options.score:
            with model_server(place.meter, options.work / "model.log"):
                for each in made:
                    await each.measure(machine.commit, lambda text: console.print(text, markup=False))
        outcomes = [outcome for each in made for outcome in await asyncio.to_thread(each.outcomes)]
    console.print(_table(outcomes))
    found = summary(outcomes)
    console.print(found)
    _write(options, found, outcomes, asdict(machine))


class Measuring:
    """One set: its pairs, what was answered, and what that is worth."""

    def __init__(self, of: QuestionSet, options: Options, place: Site) -> None:
        self._of = of
        self._options = options
        self._site = place
        self._system: Gateway = gateways(place.plain, options.k)[0]
        self._pairs = pairs(options.bench, of, options.n, options.seed, options.half)
        own = (Path(__file__), *(Path(__file__).parent / "candidates").glob("*.py"))
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


def summary(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """The flat numbers; a ratio and its bounds are None where nothing was right without."""
    found: dict[str, float | None] = {}
    for name, of in _groups(outcomes):
        gain = ratio([float(each.with_first) for each in of], [float(each.without_first) for each in of])
        for key, value in (
            ("gain", gain),
            ("with", _share(of, "with_first")),
            ("without", _share(of, "without_first")),
        ):
            for part in ("value", "low", "high") if value else ():
                suffix = "" if part == "value" else f"_{part}"
                number = round(getattr(value, part), 4)
                found[f"personal{name}_{key}{suffix}"] = number if math.isfinite(number) else None
            if value is None:
                found[f"personal{name}_{key}"] = None
        found[f"personal{name}_n"] = len(of)
    return found


def _groups(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    """All together, and each set by itself."""
    groups = [("", list(outcomes))] if outcomes else []
    each = (
        (f"_{of.name[-1]}", [outcome for outcome in outcomes if outcome.set_name == of.name]) for of in AMBIQT
    )
    return groups + [group for group in each if group[1]]


def _share(outcomes: Sequence[Outcome], what: str) -> Figure:
    """A share with its bootstrap interval: over the same resamples as the ratio."""
    values = [float(getattr(each, what)) for each in outcomes]
    share = ratio(values, [1.0] * len(values))
    return share or Figure(0.0, 0.0, percentile([0.0], 0.5))


def _table(outcomes: Sequence[Outcome]) -> Table:
    grid = Table(
        "set", "pairs", "shown at first", "first right: 1st meeting", "2nd, without", "2nd, with", "gain"
    )
    for name, of in _groups(outcomes):
        gain = ratio([float(each.with_first) for each in of], [float(each.without_first) for each in of])
        shares = [_share(of, what) for what in ("shown", "first_right", "without_first", "with_first")]
        grid.add_row(name.strip("_") or "all", str(len(of)), *map(_shown, shares), _shown(gain))
    return grid


def _shown(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"


def _write(
    options: Options, found: dict[str, float | None], outcomes: Sequence[Outcome], machine: dict[str, Any]
) -> None:
    if options.json is not None:
        asked = {"seed": options.seed, "n": options.n, "half": options.half, "k": options.k}
        whole = {
            "machine": machine,
            "config": asked,
            "summary": found,
            "pairs": [asdict(each) for each in outcomes],
        }
        options.json.write_text(json.dumps(whole, indent=1, default=str) + "\n", encoding="utf-8")
    if options.into is not None:
        whole = json.loads(options.into.read_text(encoding="utf-8"))
        whole["summary"] |= found
        options.into.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def _options() -> Options:
    parser = common_parser("benchmarks.quality.personal", __doc__)
    parser.add_argument("--only", help=f"sets, comma-separated, of {', '.join(each.name for each in AMBIQT)}")
    parser.add_argument("--n", type=int, default=10, help="pairs a set")
    parser.add_argument(
        "--into", type=Path, help="a result of the candidates benchmark whose summary gets the figures"
    )
    given = parser.parse_args()
    if given.n < 1:
        raise ValueError(f"--n is a number of pairs, not {given.n}")
    check_bench(given.bench)
    sets = by_name(given.only, AMBIQT, "set", lambda each: each.name)
    names = ("bench", "work", "n", "seed", "half", "k", "plan", "score", "json", "into")
    return Options(sets=sets, **{name: getattr(given, name) for name in names})


if __name__ == "__main__":
    sys.exit(main())
