"""The lists that certainty is fitted on: a question's features and the scorer's verdicts, recorded with the model.

There are questions of four kinds: as they are; made ambiguous (`training.ambiguous`), of which one reading, drawn by a
hash, is the right one; over a schema from which a column that the right statement reads was taken; and asked of another
database. Nothing answers the last two. All are of training databases that the schema linker was not trained on.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path

import msgspec
from rich.progress import track

from benchmarks.quality.ablations.drawing import TRAIN, in_turns
from benchmarks.quality.ablations.replay import Completions, Replay, file_for
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
from benchmarks.quality.candidates.site import OneDatabase, Site, site
from benchmarks.quality.candidates.tasks import Place, Task
from benchmarks.wire.machine import cpu_seconds
from engine import pipeline
from engine.dialogue.certainty import (
    candidate_features,
    set_features,
)
from engine.dialogue.types import Parting
from engine.settings import Limits
from engine.stages.clarify import proposed, with_chances
from pgparley.config import load
from schema_catalog.types import ColumnKey
from training.linker_split import Part, part_of

WIDTH = 5


class Kind(StrEnum):
    """Of a question."""

    PLAIN = "plain"
    AMBIGUOUS = "ambiguous"
    MISSING = "missing"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class QuestionList:
    """One question's candidates: the features of all together and of each, and which are right.

    `options`: the positions of those that agree with each option of the question back, none where there is none;
    `twins`: whether they stand for what the schema holds twice; `misread`: how probably the answer is wrong. By the
    weights that came with the program when the list was made.
    """

    id: str
    kind: Kind
    database: str
    statements: tuple[str, ...]
    some: dict[str, float]
    which: tuple[dict[str, float], ...]
    right: tuple[bool, ...] = ()
    options: tuple[tuple[int, ...], ...] = ()
    twins: bool = False
    misread: float = 0.0

    @property
    def parting(self) -> Parting:
        """How the question back parts the candidates."""
        return Parting(self.options, self.twins)

    @property
    def first(self) -> bool:
        """Whether the first is right."""
        return bool(self.right) and self.right[0]

    def answered(self, chances: Sequence[float]) -> bool:
        """Whether the likeliest that agrees with what a truthful asker answers is right."""
        meant = next((option for option in self.options if any(self.right[place] for place in option)), ())
        return any(self.right[place] for place in sorted(meant, key=lambda place: -chances[place])[:1])


def original(identity: str) -> str:
    """The id of the training question that one was made ambiguous of (`training.ambiguous`)."""
    return f"spider-train-{identity.rsplit('-', 1)[1]}"


def read(file: Path) -> list[QuestionList]:
    """The lists of a file."""
    return [msgspec.json.decode(line, type=QuestionList) for line in file.read_bytes().splitlines()]


async def record(given: argparse.Namespace) -> None:
    """Adds the lists that `given.lists` lacks: `given` is the command line of `training.certainty`."""
    known = {each.id for each in read(given.lists)} if given.lists.exists() else set()
    async with site(given.work, given.bench) as place:
        kept = Completions(await asyncio.to_thread(file_for, given.work, load(None).embedded_model.path))
        replay = Replay(place.tools.model, kept)
        scorer = Scorer(given.bench, place.dsn, given.work / "scoring")
        with model_server(place.meter, given.work / "model.log") as server:
            replay.clock = partial(cpu_seconds, (server,))
            for kind, of, every in _wanted(given):
                left = [each for each in every if f"{kind}:{each.question.id}" not in known]
                found = [
                    await _listed(one, kind, place, replay, given) for one in track(left, f"Asking {kind}")
                ]
                judged = await asyncio.to_thread(_judged, found, of, scorer)
                with given.lists.open("ab") as file:
                    file.writelines(msgspec.json.encode(each) + b"\n" for each in judged)
        kept.close()


def _wanted(given: argparse.Namespace) -> list[tuple[Kind, QuestionSet, tuple[Asked, ...]]]:
    items = [item for item in _items(given.bench).values() if item["gold_rows"] and _is_unseen(item["db"])]
    turns = in_turns(list({(item["db"], item["gold"]): item for item in items}.values()), given.seed)
    counts = {
        Kind.PLAIN: given.n,
        Kind.MISSING: given.unanswerable,
        Kind.ELSEWHERE: given.elsewhere,
    }
    wanted = [
        (kind, TRAIN, tuple(map(_asked, turns[place :: len(counts)][:count])))
        for place, (kind, count) in enumerate(counts.items())
    ]
    if given.ambiguous is not None:
        of = QuestionSet(Kind.AMBIGUOUS, str(given.ambiguous), Judge.AMBIQT)
        unseen = {item["id"] for item in read_items(given.ambiguous) if _is_unseen(item["db"])}
        every = asked(given.bench, of, Selection(None, given.seed))
        wanted.insert(1, (Kind.AMBIGUOUS, of, tuple(each for each in every if each.question.id in unseen)))
    return wanted


def _is_unseen(database: str) -> bool:
    return part_of(database) is not Part.LINKER


def _asked(item: Item) -> Asked:
    return Asked(Question(str(item["id"]), str(item["question"]), str(item["db"])))


async def _listed(
    one: Asked, kind: Kind, place: Site, replay: Replay, given: argparse.Namespace
) -> QuestionList:
    task = _changed(await place.task(one), kind, place, given)
    database = str(task.place.database.name) if task.place else ""
    home = database if kind is Kind.AMBIGUOUS else str(_items(given.bench)[one.question.id]["db"])
    name = database if kind is Kind.ELSEWHERE else one.question.database
    state = asked_now(replace(one.question, database=name), WIDTH, max(Limits().calls, WIDTH))
    done = await pipeline.run(state, replace(task.tools, model=replay), pipeline.CANDIDATE_STAGES)
    if not done.candidates:
        return QuestionList(f"{kind}:{one.question.id}", kind, home, (), {"constant": 1.0}, ())
    each = candidate_features(done)
    listed = QuestionList(
        f"{kind}:{one.question.id}",
        kind,
        home,
        tuple(each.sql for each in done.candidates),
        dict(set_features(done, each)),
        tuple(map(dict, each)),
    )
    proposal = proposed(with_chances(done, task.tools.certainty))
    if proposal is None:
        return listed
    parting = proposal.parting
    return replace(listed, options=parting.groups, twins=parting.twins, misread=proposal.misread)


def _changed(task: Task, kind: Kind, place: Site, given: argparse.Namespace) -> Task:
    """The task with what makes its question unanswerable."""
    if kind is Kind.MISSING and task.place is not None:
        snapshot = task.place.snapshot
        item = _items(given.bench)[task.question.id]
        taken = _taken(item, [table.key for table in snapshot.tables])
        kept = frozenset((*table.key, column.name) for table, column in snapshot.columns())
        left = Place(task.place.database, snapshot.restricted_to(kept - taken))
        return replace(task, place=left, tools=replace(task.tools, catalog=OneDatabase(left)))
    if kind is Kind.ELSEWHERE and task.place is not None:
        names = sorted(
            {str(item["db"]) for item in _items(given.bench).values()} - {task.place.database.name}
        )
        name = names[_hashed(task.question.id) % len(names)]
        return replace(task, place=place.places[name])
    return task


def _taken(item: Item, tables: Sequence[tuple[str, str]]) -> frozenset[ColumnKey]:
    """A column that the right statement reads, and those of its name in other tables."""
    columns = sorted(str(name) for name in item["columns"] or ())
    if not columns:
        return frozenset()
    name = columns[_hashed(str(item["id"])) % len(columns)].split(".", 1)[1]
    return frozenset((*key, name) for key in tables)


@cache
def _items(bench: Path) -> Mapping[str, Item]:
    return {str(item["id"]): item for item in read_items(bench / TRAIN.file)}


def _judged(lists: Sequence[QuestionList], of: QuestionSet, scorer: Scorer) -> list[QuestionList]:
    answerable = [each for each in lists if each.kind not in {Kind.MISSING, Kind.ELSEWHERE}]
    answers = [Answer(_id(each), tuple(map(Proposal, each.statements)), Cost(0.0)) for each in answerable]
    right = scorer.judge(of, answers).right if answers else {}
    nothing: tuple[tuple[bool, bool], ...] = ()
    return [
        replace(
            each,
            right=tuple(verdict[_hashed(_id(each)) % 2] for verdict in right.get(_id(each), nothing))
            or (False,) * len(each.statements),
        )
        for each in lists
    ]


def _id(each: QuestionList) -> str:
    return each.id.split(":", 1)[1]


def _hashed(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)
