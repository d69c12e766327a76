"""Makes training data of ranking and selection: what the whole pipeline has to rank for Spider's training questions.

    python -m training.ranker_lists --out FILE [--k K] [--n N] [--bench FOLDER] [--work FOLDER]

A line of the file is a question, by its id, with each statement and whether the benchmark's scorer finds it right. The
questions are drawn in turns from all databases, by a seed; or they are ambiguous ones (`training.ambiguous`), each of
which means one of its readings, drawn by a hash. A run that is stopped goes on from there, and what the model has said
is kept.

Owns the drawing, the asking and the file.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from rich.console import Console

from benchmarks.quality.ablations.drawing import TRAIN, in_turns, left_out, may_be_fitted
from benchmarks.quality.ablations.replay import Completions, Replay, file_for
from benchmarks.quality.candidates.command import ROOT, check_bench, finished
from benchmarks.quality.candidates.coverage import meant
from benchmarks.quality.candidates.gateway import asked_now
from benchmarks.quality.candidates.journal import Answer, Cost, Proposal
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import (
    Asked,
    Item,
    Judge,
    Question,
    QuestionSet,
    Selection,
    asked,
    read_items,
)
from benchmarks.quality.candidates.site import Site, site
from engine import pipeline
from engine.calibration.records import Score, written_scores
from engine.core.candidate import Candidate
from engine.core.state import State
from engine.core.tools import Tools
from engine.errors import NLError
from engine.ranking.evidence import Evidence, evidence
from engine.ranking.ranker import known_features
from engine.settings import Limits, SelectionSettings
from engine.stages.rank import rank, retell
from engine.stages.select import select
from pgparley.config import cache_dir, load

TOGETHER, CALLS = 3, 8
"""Questions that are asked at once, and calls of the model: they are written in one batch."""

ROUND = 4
"""Questions of a database that are asked in one piece."""

TURN = 24
"""Questions that are judged together: the scorer is a process of its own."""

UNRANKED = pipeline.CANDIDATE_STAGES[: pipeline.CANDIDATE_STAGES.index(rank)]


@dataclass(frozen=True, slots=True)
class Written:
    """A statement that was to be ranked, and whether it is right.

    `known`: `engine.ranking.ranker.known_features` of it. `evidence`: `engine.ranking.evidence.Evidence.features`,
    those that are not 0, with what may become one: `merged` (others gave its rows), `unmeasured` (it has no likelihood
    of its own), `rows` (of its preview). `rules`: those that changed it. `scores`: nonconformity by function, of those
    that are shown; None where the model gave no verdict. `source`: how what it was made of was written.
    """

    sql: str
    known: tuple[float, float, float]
    right: bool = False
    evidence: dict[str, float] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    scores: dict[str, float | None] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, slots=True)
class QuestionList:
    """What there was to rank for a question, and `k` to be shown.

    `attempts`: what the model was asked for, refused or not, in order.
    """

    id: str
    k: int
    candidates: tuple[Written, ...]
    attempts: tuple[str, ...] = ()


def read(file: Path) -> list[QuestionList]:
    """The lists of a file; none where there is no file."""
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [msgspec.json.decode(line, type=QuestionList) for line in lines]


def drawn(items: Sequence[Item], seed: int) -> list[Item]:
    """The questions in the order in which they are asked, some of a database together: its schema is read once then.

    First come those on which the head is fitted: one of each statement on the databases that the network never saw,
    then the others on these; then those of all other databases.
    """
    kept = frozenset(left_out(items))
    fitted = in_turns(may_be_fitted(items), seed)
    statements: dict[tuple[str, str], Item] = {}
    for item in fitted:
        if item["db"] in kept:
            statements.setdefault((item["db"], item["gold"]), item)
    first = {item["id"] for item in statements.values()}
    again = [item for item in fitted if item["db"] in kept and item["id"] not in first]
    others = [item for item in fitted if item["db"] not in kept]
    return [item for each in (statements.values(), again, others) for item in _rounds(each)]


def _rounds(items: Iterable[Item]) -> list[Item]:
    """`ROUND` questions of each database, in one piece each, then as many again."""
    turns: Counter[str] = Counter()
    placed = []
    for item in items:
        placed.append((turns[item["db"]] // ROUND, str(item["db"]), item))
        turns[item["db"]] += 1
    return [item for *_, item in sorted(placed, key=lambda each: each[:2])]


async def _record(given: argparse.Namespace, console: Console) -> None:
    known = {each.id for each in read(given.out)}
    of, wanted = _wanted(given)
    left = [each for each in wanted if each.question.id not in known]
    async with site(given.work, given.bench) as place:
        kept = Completions(file_for(given.work, load(None).embedded_model.path))
        replay = Replay(place.tools.model, kept, at_once=CALLS)
        scorer = Scorer(given.bench, place.dsn, given.work / "scoring")
        with model_server(place.meter, given.work / "model.log"):
            judging: asyncio.Task[None] | None = None
            asking = _Asking(place, replay, given.k, SelectionSettings())
            for at in range(0, len(left), TURN):
                console.print(f"{len(left) - at} of {len(wanted)} left", highlight=False)
                lists = await asyncio.gather(*(asking.ask(each) for each in left[at : at + TURN]))
                if judging is not None:
                    await judging
                judging = asyncio.create_task(asyncio.to_thread(_keep, lists, of, scorer, given.out))
            if judging is not None:
                await judging
        kept.close()


def _wanted(given: argparse.Namespace) -> tuple[QuestionSet, Sequence[Asked]]:
    if given.ambiguous is not None:
        of = QuestionSet("ambiguous", str(given.ambiguous), Judge.AMBIQT)
        return of, asked(given.bench, of, Selection(given.n, given.seed))
    items = drawn(read_items(given.bench / TRAIN.file), given.seed)[: given.n]
    return TRAIN, [Asked(Question(item["id"], item["question"], item["db"])) for item in items]


def _keep(lists: Sequence[QuestionList], of: QuestionSet, scorer: Scorer, out: Path) -> None:
    """Writes the lists with their verdicts."""
    lines = [msgspec.json.encode(each) + b"\n" for each in judged(lists, of, scorer)]
    with out.open("ab") as file:
        file.writelines(lines)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks questions of `place` for `k` statements, a few at once, and has them scored."""

    place: Site
    model: Replay
    k: int
    selection: SelectionSettings
    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TOGETHER))

    async def ask(self, asked: Asked) -> QuestionList:
        """The list of a question."""
        async with self.turn:
            task = await self.place.task(asked)
            tools = replace(task.tools, model=self.model, selection=self.selection)
            state = asked_now(task.question, self.k, max(Limits().calls, self.k))
            return await _listed(state, tools, task.question.id)


async def _listed(state: State, tools: Tools, name: str) -> QuestionList:
    try:
        done = await pipeline.run(state, tools, UNRANKED)
        shown = await pipeline.run(done, tools, (rank, retell, select))
    except NLError:
        # What a user would be told instead is nothing to rank.
        return QuestionList(name, state.k, ())
    lines = [line for line in done.trace if line.stage == "generate"]
    sources = {line.detail: line.event for line in reversed(lines)}
    # Without calibration points selection leaves nothing out.
    scores = {each.sql: each.scores for each in shown.candidates}
    together = zip(done.candidates, known_features(done.candidates), evidence(done), strict=True)
    return QuestionList(
        name,
        state.k,
        tuple(_written(*each, scores.get(each[0].sql, ()), sources) for each in together),
        tuple(line.event for line in lines if line.event.startswith(("written", "refused"))),
    )


def _written(
    candidate: Candidate,
    known: tuple[float, float, float],
    found: Evidence,
    scores: Sequence[Score],
    sources: Mapping[str, str],
) -> Written:
    told = found.features | {
        "unmeasured": float(candidate.logprob is None),
        "rows": float(len(candidate.preview.rows) if candidate.preview else 0),
    }
    rules = dict.fromkeys(change.rule for change in candidate.changes)
    origin = candidate.changes[0].before if candidate.changes else candidate.sql
    return Written(
        candidate.sql,
        known,
        evidence={name: round(value, 4) for name, value in told.items() if value},
        rules=tuple(rules),
        scores={
            name: None if value is None else round(value, 4) for name, value in written_scores(scores).items()
        },
        source=sources.get(candidate.sql) or sources.get(origin, ""),
    )


def judged(lists: Sequence[QuestionList], of: QuestionSet, scorer: Scorer) -> list[QuestionList]:
    """The lists with the scorer's verdicts."""
    answers = [
        Answer(each.id, tuple(Proposal(one.sql) for one in each.candidates), Cost(0.0)) for each in lists
    ]
    verdicts = scorer.judge(of, answers).right
    return [
        replace(
            each,
            candidates=tuple(
                replace(one, right=verdict[meant(each.id) if of.judge is Judge.AMBIQT else 0])
                for one, verdict in zip(each.candidates, verdicts[each.id], strict=True)
            ),
        )
        for each in lists
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="the data's folder"
    )
    parser.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-ablations", help="for what the model said"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write or to go on with")
    parser.add_argument("--ambiguous", type=Path, help="ask what training.ambiguous made")
    parser.add_argument("--n", type=int, default=2_000, help="questions")
    parser.add_argument("--k", type=int, default=6, help="statements of a question that are shown")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    check_bench(given.bench)
    return given


def main() -> int:
    """Asks until all is asked; returns the exit status (2: no data, another run; 130: stopped)."""
    return finished(_options, _record, Console(width=100))


if __name__ == "__main__":
    sys.exit(main())
