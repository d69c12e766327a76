"""Fits how likely candidates are right (`engine.dialogue.certainty`), on training databases.

    python -m training.certainty LISTS --record [--ambiguous FILE]           make lists, with the embedded model
    python -m training.certainty LISTS [--out engine/dialogue/certainty.json]    fit on them

A list is one question's features and the scorer's verdicts. There are questions of four kinds: as they are; made
ambiguous (`training.ambiguous`), of which one reading, drawn by a hash, is the right one; over a schema from which a
column that the right statement reads was taken; and asked of another database. Nothing answers the last two. All are of
training databases that the schema linker was not trained on. Figures are by cross-validation over databases.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from benchmarks.quality.ablations.drawing import TRAIN, in_turns
from benchmarks.quality.ablations.replay import Completions, Replay, file_for
from benchmarks.quality.candidates.command import ROOT
from benchmarks.quality.candidates.gateway import TIMEOUT
from benchmarks.quality.candidates.journal import Answer, Cost, Proposal, locked
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
from benchmarks.quality.candidates.tasks import READER, Place, Task
from benchmarks.quality.roc import auc
from benchmarks.wire.machine import cpu_seconds
from engine import pipeline
from engine.core.deadline import Deadline
from engine.core.state import State
from engine.dialogue.certainty import (
    Weights,
    candidate_features,
    chances_of,
    set_features,
    turning_chance,
    turning_features,
)
from engine.dialogue.policy import Action, Worth, decide
from engine.dialogue.types import Chances, Parting
from engine.settings import DialogueSettings, Limits
from engine.stages.clarify import proposed, with_chances
from engine.types import Asker, AskRequest
from pgparley.config import cache_dir, load
from schema_catalog.types import ColumnKey
from training.linker_split import Part, part_of

FOLDS = 5
PENALTY = 0.1
"""Of the squared weights, the constant's apart; chosen by the folds among 1, 0.3, 0.1 and 0.03."""

STEPS = 200
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


def main() -> int:
    """Records or fits; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lists", type=Path)
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--work", type=Path, default=cache_dir() / "bench-ablations")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--ambiguous", type=Path, help="what training.ambiguous made")
    parser.add_argument("--n", type=int, default=70, help="questions as they are")
    parser.add_argument(
        "--unanswerable", type=int, default=40, help="questions over a schema that lacks a column"
    )
    parser.add_argument("--elsewhere", type=int, default=20, help="questions asked of another database")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.record:
        with locked(given.work):
            asyncio.run(_record(given))
        return 0
    lists = [msgspec.json.decode(line, type=QuestionList) for line in given.lists.read_bytes().splitlines()]
    text = json.dumps(report(lists), indent=2) + "\n"
    sys.stdout.write(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    return 0


# -- fitting


def report(lists: Sequence[QuestionList]) -> dict[str, object]:
    """The weights of all lists, and the figures by cross-validation over databases."""
    fitted = fit(lists)
    held = held_out(lists)
    truth = np.array([float(any(each.right)) for each in lists])
    first = np.array([float(each.first) for each in lists])
    likely = np.array([each.chances.some for each in held])
    leading = np.array([each.chances.first for each in held])
    asked = [place for place, each in enumerate(lists) if each.options]
    turned = np.array([float(_turned(lists[place], held[place].chances)) for place in asked])
    figures = {
        "lists": float(len(lists)),
        "some_auc": auc(likely, truth),
        "some_brier": float(np.mean((likely - truth) ** 2)),
        "first_auc": auc(leading, first),
        "first_brier": float(np.mean((leading - first) ** 2)),
        "first_brier_of_the_mean": float(first.mean() * (1 - first.mean())),
        "turns_auc": auc(np.array([held[place].turns for place in asked]), turned),
    }
    figures |= policy_figures(lists, held)
    return {
        **{name: _rounded(value) for name, value in asdict(fitted).items()},
        "figures": {name: round(value, 4) for name, value in figures.items()},
    }


def policy_figures(
    lists: Sequence[QuestionList], held: Sequence[Judged], costs: DialogueSettings | None = None
) -> dict[str, float]:
    """What the policy does with each kind of question, by chances that the question's database gave nothing to.

    Shares: asked back; asked although the first was right; not answered; right at once, and after at most one answer.
    """
    costs = costs or DialogueSettings()
    found: dict[str, float] = {}
    for kind in Kind:
        outcomes = [
            _outcome(each, judged, costs)
            for each, judged in zip(lists, held, strict=True)
            if each.kind is kind
        ]
        for name in ("asked", "needless", "abstained", "first", "answered"):
            if outcomes:
                found[f"{kind}_{name}"] = float(np.mean([outcome[name] for outcome in outcomes]))
    return found


def _outcome(each: QuestionList, judged: Judged, costs: DialogueSettings) -> dict[str, bool]:
    worth = Worth(judged.turns, each.misread) if each.options else None
    action = decide(judged.chances, worth, costs).action
    asked = action is Action.ASK
    after = each.answered(judged.chances.statements) if asked else each.first and action is Action.SHOW
    return {
        "asked": asked,
        "needless": asked and each.first,
        "abstained": action is Action.ABSTAIN,
        "first": each.first,
        "answered": after,
    }


def _turned(each: QuestionList, chances: Chances) -> bool:
    return not each.first and each.answered(chances.statements)


@dataclass(frozen=True, slots=True)
class Judged:
    """What weights say of a list: of its candidates, and of its question back."""

    chances: Chances
    turns: float


def held_out(lists: Sequence[QuestionList]) -> list[Judged]:
    """What is said of each list by weights that its database gave nothing to."""
    found: dict[str, Judged] = {}
    for fold in range(FOLDS):
        fitted = fit([each for each in lists if fold_of(each.database) != fold])
        found |= {each.id: _judged_by(fitted, each) for each in lists if fold_of(each.database) == fold}
    return [found[each.id] for each in lists]


def fit(lists: Sequence[QuestionList]) -> Weights:
    """The weights of `lists`; those of questions back by chances that each list's database gave nothing to."""
    known: list[tuple[QuestionList, Chances]] = []
    for fold in range(FOLDS):
        rest = [each for each in lists if fold_of(each.database) != fold]
        others = Weights(fit_some(rest), fit_which(rest), {})
        asked = [each for each in lists if fold_of(each.database) == fold and each.options]
        known += [(each, chances_of(each.some, each.which, others)) for each in asked]
    features = [dict(turning_features(chances, each.parting)) for each, chances in known]
    turned = [_turned(each, chances) for each, chances in known]
    return Weights(fit_some(lists), fit_which(lists), _logistic(features, turned))


def _judged_by(fitted: Weights, each: QuestionList) -> Judged:
    chances = chances_of(each.some, each.which, fitted)
    return Judged(chances, turning_chance(chances, each.parting, fitted) if each.options else 0.0)


def fold_of(database: str) -> int:
    """Of a database, by a hash of its name."""
    return int(hashlib.sha256(database.encode()).hexdigest(), 16) % FOLDS


def fit_some(lists: Sequence[QuestionList]) -> dict[str, float]:
    """The weights of a logistic regression: that one of the candidates is right, where there are any."""
    found = [each for each in lists if each.which]
    return _logistic([each.some for each in found], [any(each.right) for each in found])


def _logistic(features: Sequence[dict[str, float]], true: Sequence[bool]) -> dict[str, float]:
    names = _names(features)
    rows, truth = _matrix(features, names), np.array(true, dtype=float)

    def slope(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        likely = 1 / (1 + np.exp(-(rows @ weights)))
        return rows.T @ (truth - likely), (rows.T * (likely * (1 - likely))) @ rows

    return dict(zip(names, _newton(slope, names), strict=True))


def fit_which(lists: Sequence[QuestionList]) -> dict[str, float]:
    """The weights of the choice among the candidates, where one is right and another is not."""
    known = [each for each in lists if any(each.right) and not all(each.right)]
    names = _names(features for each in known for features in each.which)
    tables = [_matrix(each.which, names) for each in known]

    def slope(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first, second = np.zeros(len(names)), np.zeros((len(names), len(names)))
        for rows, each in zip(tables, known, strict=True):
            right = np.array(each.right, dtype=float)
            likely = _softmax(rows @ weights)
            wanted = likely * right / (likely @ right)
            centred = rows - likely @ rows
            first += wanted @ centred
            second += (centred.T * likely) @ centred
        return first, second

    return dict(zip(names, _newton(slope, names), strict=True))


def _newton(
    slope: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]],
    names: Sequence[str],
) -> NDArray[np.float64]:
    pull = np.diag([0.0 if name == "constant" else PENALTY for name in names]) + 1e-6 * np.eye(len(names))
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        first, second = slope(weights)
        weights += 0.5 * np.linalg.solve(second + pull, first - pull @ weights)
    return weights


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in weights.items()}


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.exp(logits - logits.max())
    found: NDArray[np.float64] = shares / shares.sum()
    return found


def _names(features: Iterable[dict[str, float]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in features for name in each))


def _matrix(features: Sequence[dict[str, float]], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[each.get(name, 0.0) for name in names] for each in features])


# -- recording


async def _record(given: argparse.Namespace) -> None:
    known = set()
    if given.lists.exists():
        known = {
            msgspec.json.decode(line, type=QuestionList).id for line in given.lists.read_bytes().splitlines()
        }
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
    started = time.monotonic()
    name = database if kind is Kind.ELSEWHERE else one.question.database
    ask = AskRequest(Asker(READER, ""), one.question.text, k=WIDTH, db=name)
    state = State(ask, WIDTH, max(Limits().calls, WIDTH), Deadline(started + TIMEOUT), started)
    done = await pipeline.run(state, replace(task.tools, model=replay), pipeline.CANDIDATE_STAGES)
    if not done.candidates:
        return QuestionList(f"{kind}:{one.question.id}", kind, home, (), {"constant": 1.0}, ())
    listed = QuestionList(
        f"{kind}:{one.question.id}",
        kind,
        home,
        tuple(each.sql for each in done.candidates),
        dict(set_features(done)),
        tuple(dict(each) for each in candidate_features(done)),
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


if __name__ == "__main__":
    sys.exit(main())
