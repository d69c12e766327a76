"""Makes what ranking, certainty and selection are fitted on: what the engine has to order for training questions.

    python -m training.lists --out FILE [--kinds plain,ambiguous,missing,elsewhere] [--ambiguous FILE] [--k K] [--n N]

A line of the file is a question, by its id, with each statement and whether the benchmark's scorer finds it right.
Plain questions are drawn in turns from all databases; ambiguous ones (`training.ambiguous`) mean one of their readings,
drawn by a hash; others are asked over a schema from which a column that the right statement reads was taken, or of
another database: nothing answers them, and only databases that the schema linker was not trained on are asked about.
A run that is stopped goes on from there, and what the model has said is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import msgspec
from rich.console import Console

from benchmarks.harness.command import check_bench, finished
from benchmarks.harness.drawing import Item, digest, in_turns, left_out, may_be_fitted, read_items
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import TRAIN, Asked, Judge, Question, QuestionSet, Selection, asked
from benchmarks.harness.running import replaying
from benchmarks.harness.scorer import Scorer, meant
from benchmarks.harness.site import OneDatabase, Site, site
from benchmarks.harness.systems import Place, Task, asked_now
from engine import pipeline
from engine.calibration.records import written_scores
from engine.core.candidate import Candidate
from engine.core.state import State
from engine.core.tools import Tools
from engine.dialogue.certainty import candidate_features, set_features
from engine.dialogue.types import Parting
from engine.errors import NLError
from engine.ranking.evidence import evidence
from engine.ranking.ranker import known_features
from engine.stages.clarify import proposed, with_chances
from engine.stages.rank import rank
from pgparley.config import cache_dir
from training.command import parser
from training.linker_split import Part, part_of

TOGETHER, CALLS = 3, 8
"""Questions that are asked at once, and calls of the model: they are written in one batch."""

ROUND, TURN = 4, 24
"""Questions of a database that are asked in one piece, and those that are judged together."""

_PLACE = pipeline.CANDIDATE_STAGES.index(rank)
UNRANKED, THEN = pipeline.CANDIDATE_STAGES[:_PLACE], pipeline.CANDIDATE_STAGES[_PLACE:]


class Kind(StrEnum):
    """Of a question."""

    PLAIN = "plain"
    AMBIGUOUS = "ambiguous"
    MISSING = "missing"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Written:
    """A statement that was to be ranked, and whether it is right.

    `known`: `engine.ranking.ranker.known_features` of it. `evidence`: `engine.ranking.evidence.Evidence.features`,
    those that are not 0. `scores`: nonconformity by function, of those that are shown.
    """

    sql: str
    known: tuple[float, float, float]
    right: bool = False
    evidence: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shown:
    """A statement as it is shown: its place among those to be ranked, and its features for certainty."""

    place: int
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class QuestionList:
    """What there was to rank for a question, and what of it is shown, `k` at most, best first. `some`: features of all.

    `options`: the positions of those shown that agree with each option of the question back, none where there is none;
    `twins`: whether they stand for what the schema holds twice; `misread`: how probably the answer is wrong. By the
    weights that came with the program when the list was made.
    """

    id: str
    k: int
    candidates: tuple[Written, ...]
    kind: Kind = Kind.PLAIN
    database: str = ""
    shown: tuple[Shown, ...] = ()
    some: dict[str, float] = field(default_factory=lambda: {"constant": 1.0})
    options: tuple[tuple[int, ...], ...] = ()
    twins: bool = False
    misread: float = 0.0

    @property
    def which(self) -> list[dict[str, float]]:
        """The features of those shown."""
        return [each.features for each in self.shown]

    @property
    def right(self) -> list[bool]:
        """Which of those shown are right."""
        return [self.candidates[each.place].right for each in self.shown]

    @property
    def first(self) -> bool:
        """Whether the first that is shown is right."""
        return self.right[:1] == [True]

    @property
    def parting(self) -> Parting:
        """How the question back parts those shown."""
        return Parting(self.options, self.twins)

    def answered(self, chances: Sequence[float]) -> bool:
        """Whether the likeliest that agrees with what a truthful asker answers is right."""
        right = self.right
        chosen = next((option for option in self.options if any(right[place] for place in option)), ())
        return any(right[place] for place in sorted(chosen, key=lambda place: -chances[place])[:1])


def read(file: Path) -> list[QuestionList]:
    """The lists of a file; none where there is no file."""
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [msgspec.json.decode(line, type=QuestionList) for line in lines]


def drawn(items: Sequence[Item], seed: int) -> list[Item]:
    """The questions in the order in which they are asked, some of a database together: its schema is read once then.

    First come those on which the ranker's head is fitted: one of each statement on the databases that its network never
    saw, then the others on these; then those of all other databases.
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
    known = {(each.kind, each.id) for each in read(given.out)}
    async with site(given.work, given.bench) as place:
        scorer = Scorer(given.bench, place.dsn, given.work / "scoring")
        with (
            replaying(place, given.work, at_once=CALLS) as replay,
            model_server(place.meter, given.work / "model.log"),
        ):
            for kind in map(Kind, given.kinds.split(",")):
                of, wanted, items = _wanted(given, kind)
                asking = _Asking(place, replace(place.tools, model=replay), given.k, kind, items)
                left = [each for each in wanted if (kind, each.question.id) not in known]
                for at in range(0, len(left), TURN):
                    console.print(f"{kind}: {len(left) - at} of {len(wanted)} left", highlight=False)
                    lists = await asyncio.gather(*(asking.ask(each) for each in left[at : at + TURN]))
                    found = await asyncio.to_thread(judged, lists, of, scorer)
                    with given.out.open("ab") as file:
                        file.writelines(msgspec.json.encode(each) + b"\n" for each in found)


def _wanted(given: argparse.Namespace, kind: Kind) -> tuple[QuestionSet, Sequence[Asked], Mapping[str, Item]]:
    """The set, its questions of that kind, and all of the data's objects by id."""
    if kind is Kind.AMBIGUOUS:
        if given.ambiguous is None:
            raise ValueError("--ambiguous says where training.ambiguous wrote its questions")
        of = QuestionSet(kind, str(given.ambiguous.resolve()), Judge.AMBIQT)
        return of, asked(given.bench, of, Selection(given.n, given.seed)), {}
    items = read_items(given.bench / TRAIN.file)
    chosen = drawn(items, given.seed)
    if kind is not Kind.PLAIN:
        chosen = [item for item in chosen if part_of(item["db"]) is not Part.LINKER][
            kind is Kind.MISSING :: 2
        ]
    questions = [Asked(Question(e["id"], e["question"], e["db"]), owner=e["db"]) for e in chosen[: given.n]]
    return TRAIN, questions, {item["id"]: item for item in items}


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks questions of `place` for `k` statements, a few at once. `items`: the data's objects by id."""

    place: Site
    tools: Tools
    k: int
    kind: Kind
    items: Mapping[str, Item]
    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TOGETHER))

    async def ask(self, one: Asked) -> QuestionList:
        """The list of a question."""
        async with self.turn:
            task = self._changed(await self.place.task(one))
            tools = replace(task.tools, model=self.tools.model)
            made = QuestionList(one.question.id, self.k, (), self.kind, one.owner)
            try:
                return await _listed(asked_now(task.question, self.k), tools, made)
            except NLError:
                # What a user would be told instead is nothing to rank.
                return made

    def _changed(self, task: Task) -> Task:
        """The task with what makes its question unanswerable."""
        if task.place is None or self.kind in {Kind.PLAIN, Kind.AMBIGUOUS}:
            return task
        name, item = task.place.database.name, self.items[task.question.id]
        if self.kind is Kind.ELSEWHERE:
            names = sorted({str(each["db"]) for each in self.items.values()} - {name})
            other = names[digest(task.question.id) % len(names)]
            return replace(
                task, question=replace(task.question, database=other), place=self.place.places[other]
            )
        snapshot = task.place.snapshot
        kept = {(*table.key, column.name) for table, column in snapshot.columns()}
        if columns := sorted(str(each) for each in item["columns"] or ()):
            # With it go those of its name in other tables.
            gone = columns[digest(task.question.id) % len(columns)].split(".", 1)[1]
            kept = {each for each in kept if each[2] != gone}
        left = Place(task.place.database, snapshot.restricted_to(frozenset(kept)))
        return replace(task, place=left, tools=replace(task.tools, catalog=OneDatabase(left)))


async def _listed(state: State, tools: Tools, made: QuestionList) -> QuestionList:
    done = await pipeline.run(state, tools, UNRANKED)
    ranked = await pipeline.run(done, tools, THEN)
    told = {each.sql: each for each in ranked.candidates}
    together = zip(done.candidates, known_features(done.candidates), evidence(done), strict=True)
    candidates = tuple(
        _written(each, known, found.features, told.get(each.sql)) for each, known, found in together
    )
    if not ranked.candidates:
        return replace(made, candidates=candidates)
    # Without calibration points selection leaves nothing out.
    features = candidate_features(ranked)
    places = {each.sql: number for number, each in enumerate(candidates)}
    shown = tuple(
        Shown(places[each.sql], dict(one)) for each, one in zip(ranked.candidates, features, strict=True)
    )
    listed = replace(made, candidates=candidates, shown=shown, some=dict(set_features(ranked, features)))
    proposal = proposed(with_chances(ranked, tools.certainty))
    if proposal is None:
        return listed
    parting = proposal.parting
    return replace(listed, options=parting.groups, twins=parting.twins, misread=proposal.misread)


def _written(
    each: Candidate, known: tuple[float, float, float], found: Mapping[str, float], told: Candidate | None
) -> Written:
    scores = {} if told is None else written_scores(told.scores)
    return Written(
        each.sql,
        known,
        evidence={name: round(value, 4) for name, value in found.items() if value},
        scores={name: None if value is None else round(value, 4) for name, value in scores.items()},
    )


def judged(lists: Sequence[QuestionList], of: QuestionSet, scorer: Scorer) -> list[QuestionList]:
    """The lists with the scorer's verdicts; nothing is right where nothing answers."""
    answerable = [each for each in lists if each.kind in {Kind.PLAIN, Kind.AMBIGUOUS} and each.candidates]
    wanted = {each.id: [one.sql for one in each.candidates] for each in answerable}
    right = scorer.judge(of, wanted) if wanted else {}
    reading = meant if of.judge is Judge.AMBIQT else (lambda _: 0)
    return [
        replace(
            each,
            candidates=tuple(
                replace(one, right=verdict[reading(each.id)])
                for one, verdict in zip(each.candidates, right[each.id], strict=True)
            ),
        )
        if each.id in right
        else each
        for each in lists
    ]


def _options() -> argparse.Namespace:
    made = parser(__doc__)
    work = cache_dir() / "bench-ablations"
    made.add_argument("--work", type=Path, default=work, help="for what the model said")
    made.add_argument("--kinds", default=Kind.PLAIN.value, help=f"comma-separated, of {', '.join(Kind)}")
    made.add_argument("--ambiguous", type=Path, help="what training.ambiguous made")
    made.add_argument("--n", type=int, default=2_000, help="questions of each kind")
    made.add_argument("--k", type=int, default=6, help="statements of a question that are shown")
    given = made.parse_args()
    check_bench(given.bench)
    if given.out is None:
        raise ValueError("--out says which file to write or to go on with")
    return given


def main() -> int:
    """Asks until all is asked; returns the exit status (2: no data, another run; 130: stopped)."""
    return finished(_options, _record, Console(width=100))


if __name__ == "__main__":
    sys.exit(main())
