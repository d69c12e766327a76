"""Measures and chooses the router on Spider's training databases, each held out of what is trained for its fold.

    python -m training.routing_folds --bench FOLDER --wordnet FOLDER --work FOLDER [--fold K ...] STEP ...

Steps: `untrained` measures the retrieval leg; `learned` trains the learned leg once a fold, on the
questions about the other folds' databases, and measures it on the fold's; `report` prints what was measured, and what
other weights would give. Every step goes on where it was stopped: outcomes are kept a fold, training a checkpoint. The
questions are put three ways (`training.paraphrases`), among Spider's 166 databases and among 243 with the pool's.

No question of a development set is read. Weights, temperatures and thresholds are chosen here; the development sets
are looked at by `make bench-routing` alone, which writes down that it did.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.harness.command import told_command
from benchmarks.harness.drawing import FOLDS, Item, in_turns, read_items
from benchmarks.harness.machine import ROOT
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_lines, write_result
from benchmarks.harness.schemas import POOL, SPIDER, View, snapshots, wholly_readable
from benchmarks.quality.routing import folds
from benchmarks.quality.routing.folds import Cell, Figures, Leg, Variant, fold_of
from engine.models import network
from engine.models.encoder import MiniLMEncoder
from engine.models.fitting import NetworkTrainer
from engine.models.pointer import PointerModel
from engine.models.sentences import Encoded
from engine.routing import scoring
from engine.routing.artifact import Artifact, Manifest, write
from engine.routing.index import Index
from engine.routing.schema_index_entry import build
from engine.routing.training import States, Terrain
from engine.routing.vectors import VectorCache
from engine.settings import EncoderSettings
from training import fold_legs
from training.command import parser
from training.fold_legs import Question
from training.fold_weights import fitted
from training.paraphrases import Paraphraser, reserved
from training.router import QUESTIONS, Course, Material, entries, learned, worded
from training.wordnet import WordNet, writable

DRAW_SEED = 0
"""Of the questions that are measured, whatever `--seed` a training has."""

SHAPING = ("engine/routing", "engine/models", "engine/text", "training")
"""Folders of the code that outcomes depend on."""

CHECKPOINT = 20
"""Steps between two checkpoints."""

STEPS = ("untrained", "learned", "report")
WORLDS = (166, 243)
PARTS = {Leg.LEARNED: network.PARTS, Leg.RETRIEVAL: scoring.PARTS}
"""The addends of a leg's logits."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says. `n`: questions of each variant; `every`: of the training material, one in so many."""

    bench: Path
    wordnet: Path
    work: Path
    folds: tuple[int, ...]
    n: int
    steps: int
    seed: int
    threads: int
    every: int
    pool: bool


class Folds:
    """The data of one run, each part made when it is first needed."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.encoder = MiniLMEncoder(EncoderSettings(threads=choices.threads))
        self.cache = VectorCache(self.encoder, model="folds", path=choices.work / "vectors.sqlite")
        self._worlds: dict[bool, tuple[list[View], Terrain]] = {}

    @property
    def worlds(self) -> tuple[bool, ...]:
        """Whether the pool's databases are candidates, for each catalog that is measured."""
        return (False, True) if self.choices.pool else (False,)

    def world(self, pool: bool) -> tuple[list[View], Terrain]:  # noqa: FBT001  the key of a table
        """A catalog."""
        if pool not in self._worlds:
            files = (SPIDER, POOL) if pool else (SPIDER,)
            found = snapshots(self.choices.bench, *files, schema="public")
            views = [wholly_readable(each) for each in found.values()]
            index = Index([build(snapshot, self.cache.encode) for snapshot, _ in views])
            self._worlds[pool] = (views, Terrain.of(index))
        return self._worlds[pool]

    def read(self, texts: Sequence[str]) -> list[Encoded]:
        """Questions by the untuned encoder."""
        found = self.encoder.encode_tokens_many(texts)
        return [Encoded(sentence, tokens) for sentence, tokens in found]

    @cached_property
    def wordnet(self) -> WordNet:
        """WordNet."""
        return WordNet.load(self.choices.wordnet)

    @cached_property
    def paraphraser(self) -> Paraphraser:
        """What puts the questions otherwise."""
        return Paraphraser(self.wordnet, self.encoder, writable())

    @cached_property
    def questions(self) -> dict[Variant, list[Question]]:
        """The questions of each variant, drawn evenly over the databases."""
        items = [dict(item) for item in in_turns(read_items(self.choices.bench / QUESTIONS[0]), DRAW_SEED)]
        return {variant: self._drawn(items, self.paraphraser, variant) for variant in Variant}

    def _drawn(self, items: Sequence[Item], paraphraser: Paraphraser, variant: Variant) -> list[Question]:
        found: list[Question] = []
        for item in items:
            text = paraphraser.question(item, variant)
            if text is not None and len(found) < self.choices.n:
                found.append(Question(item["id"], variant, text, item["db"]))
        return found

    @cached_property
    def material(self) -> Material:
        """What every fold's training draws from, each leaving out its own; the frozen layers' states are kept."""
        items = [item for name in QUESTIONS for item in read_items(self.choices.bench / name)]
        found, plain = worded(items[:: self.choices.every], self.wordnet, self.choices.seed, spared=reserved)
        return Material(found, self._states([item["question"] for item in found]), plain)

    def _states(self, texts: Sequence[str]) -> list[States]:
        file = self.choices.work / f"states-seed{self.choices.seed}-{self.choices.every}.npz"
        if file.is_file():
            with np.load(file) as held:
                if held["texts"].tolist() == list(texts):
                    return np.split(held["states"], np.cumsum(held["lengths"])[:-1])
        states = NetworkTrainer(None, EncoderSettings(threads=self.choices.threads)).states(texts)
        lengths = [len(each) for each in states]
        np.savez(file, texts=np.array(texts), states=np.concatenate(states), lengths=np.array(lengths))
        return states


def main() -> int:
    """Runs the steps; returns the exit status (2: the data is not there)."""
    choices, steps, out = _choices()
    if not (choices.bench / QUESTIONS[0]).is_file() or not (choices.wordnet / "data.noun").is_file():
        print("no benchmark data or no WordNet there", file=sys.stderr)
        return 2
    choices.work.mkdir(parents=True, exist_ok=True)
    run = Folds(choices)
    if "untrained" in steps:
        _compare_code(choices.work / "untrained")
        _untrained(run)
    if "learned" in steps:
        _compare_code(choices.work / run_name(choices))
        for fold in choices.folds:
            _learned(run, fold)
    if "report" in steps:
        _report(choices, out)
    return 0


@dataclass(frozen=True, slots=True)
class Line:
    """A leg's figures on one variant among so many databases."""

    leg: Leg
    variant: Variant
    among: int
    folds: tuple[int, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class Multiplier:
    """A factor of a part's weight, of greatest likelihood over all folds and variants."""

    leg: Leg
    among: int
    part: str
    factor: float


def _report(choices: Choices, out: Path | None) -> None:
    """Prints what was measured and writes it: the figures, and what other weights of a leg's addends would be."""
    lines: list[Line] = []
    weights: list[Multiplier] = []
    for leg, among in product(Leg, WORLDS):
        folder = choices.work / (run_name(choices) if leg is Leg.LEARNED else "untrained")
        held = {variant: folds.measured(folder, leg, variant, among) for variant in Variant}
        known = [one for some in held.values() for cell in some.values() for one in cell]
        if leg in PARTS and known:
            factors = fitted(known, positive=True).tolist()
            weights += [Multiplier(leg, among, *pair) for pair in zip(PARTS[leg], factors, strict=True)]
        for variant, some in held.items():
            if outcomes := [one for cell in some.values() for one in cell]:
                lines.append(Line(leg, variant, among, tuple(some), folds.figures(outcomes)))
    columns = ("leg", "questions", "among", "folds", "n", "databases", "R@1", "R@5")
    rows = [
        (
            *(each.leg, each.variant, str(each.among), "".join(map(str, each.folds)), str(each.figures.n)),
            *(str(each.figures.databases), shown(each.figures.r1), shown(each.figures.r5)),
        )
        for each in lines
    ]
    told = [(each.leg, str(each.among), each.part, f"{each.factor:.2f}") for each in weights]
    grids = [Grid("held out of their fold", columns, rows)]
    printed(Console(width=150), [*grids, Grid("weights", ("leg", "among", "part", "times"), told)])
    if out is not None:
        names = dict(zip(Variant, ("plain", "syn", "realistic"), strict=True))
        summary: dict[str, float | None] = {
            f"folds_{names[each.variant]}_db_r1": each.figures.r1.value
            for each in lines
            if (each.leg, each.among) == (Leg.LEARNED, WORLDS[0])
        }
        made = Run("routing", told_command("training.routing_folds", sys.argv[1:]), choices.seed, {})
        n = {each.variant: each.figures.n for each in lines}
        write_result(out, made, {"folds": Part(n, {"figures": lines, "weights": weights}, summary)})


def run_name(choices: Choices) -> str:
    """The folder of a training's outcomes: trainings that differ have their own."""
    sample = f"-{choices.every}" if choices.every > 1 else ""
    return f"seed{choices.seed}-steps{choices.steps}{sample}"


def _compare_code(folder: Path) -> None:
    """Warns where what `folder` keeps was made by other code, since no outcome is made anew for that."""
    digest = hashlib.sha256()
    for package in SHAPING:
        for file in sorted((ROOT / package).rglob("*.py")):
            digest.update(file.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / "code.sha256"
    if not mark.is_file():
        mark.write_text(digest.hexdigest(), encoding="utf-8")
    elif mark.read_text(encoding="utf-8") != digest.hexdigest():
        _say(f"{folder} was made by other code than this: another --work measures anew")


def _untrained(run: Folds) -> None:
    read = fold_legs.remembering(run.read)
    for pool in run.worlds:
        views, terrain = run.world(pool)
        for fold in run.choices.folds:
            _measure(run, Leg.RETRIEVAL, fold_legs.retrieval(terrain, read), fold, len(views))


def _measure(run: Folds, leg: Leg, ask: fold_legs.Leg, fold: int, databases: int) -> None:
    """Writes the outcomes of each variant, but those that are there for the very same questions."""
    for variant, questions in run.questions.items():
        asked = [one for one in questions if fold_of(one.database) == fold]
        name = run_name(run.choices) if leg is Leg.LEARNED else "untrained"
        file = Cell(leg, variant, databases, fold).file(run.choices.work / name)
        if [(one.id, one.question) for one in folds.read(file)] == [(one.id, one.text) for one in asked]:
            continue
        started = time.monotonic()
        found = [one for some in _batches(asked) for one in ask(some)]
        write_lines(file, found)
        right = np.mean([one.rank == 1 for one in found])
        _say(
            f"{leg} {variant} among {databases}, fold {fold}: R@1 {100 * right:.1f} of {len(found)}, "
            f"{time.monotonic() - started:.0f} s"
        )


def _batches(questions: Sequence[Question]) -> Iterator[Sequence[Question]]:
    for start in range(0, len(questions), fold_legs.BATCH):
        yield questions[start : start + fold_legs.BATCH]


def _learned(run: Folds, fold: int) -> None:
    pointer = PointerModel(_trained(run, fold), EncoderSettings(threads=run.choices.threads))
    read = fold_legs.remembering(pointer.read)
    for pool in run.worlds:
        views, terrain = run.world(pool)
        ask = fold_legs.learned(terrain, pointer, read)
        _measure(run, Leg.LEARNED, ask, fold, len(views))


def _trained(run: Folds, fold: int) -> Artifact:
    """The network that has seen no question about a database of the fold."""
    choices = run.choices
    folder = choices.work / run_name(choices) / f"fold{fold}"
    folder.mkdir(parents=True, exist_ok=True)
    material = run.material
    parts = entries(choices.bench, {item["db"] for item in material.items}, run.cache)
    apart = frozenset(name for name in parts if fold_of(name) == fold)
    trainer = NetworkTrainer(None, EncoderSettings(threads=choices.threads), seed=choices.seed)
    checkpoint = folder / "checkpoint.pt"
    course = Course(choices.steps, choices.seed, apart, trainer.resume(checkpoint))
    started = time.monotonic()
    for step, root, tables in learned(trainer, material, parts, course):
        if (step + 1) % CHECKPOINT == 0 or step + 1 == choices.steps:
            trainer.save(checkpoint, step + 1)
            _say(
                f"fold {fold}: step {step + 1} of {choices.steps}, losses {root:.3f} {tables:.3f}, "
                f"{time.monotonic() - started:.0f} s"
            )
    manifest = Manifest(
        version=f"fold{fold}",
        encoder="all-MiniLM-L6-v2",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=told_command("training.routing_folds", sys.argv[1:]),
        questions=sum(item["db"] not in apart for item in material.items[: material.plain]),
    )
    arrays = trainer.arrays(1.0)
    return Artifact(write(folder, manifest, arrays), arrays)


def _say(text: str) -> None:
    print(datetime.now(UTC).strftime("%H:%M:%S"), text, flush=True)


def _choices() -> tuple[Choices, tuple[str, ...], Path | None]:
    made = parser(__doc__, seed=0)
    made.add_argument("do", nargs="*", metavar="STEP", help=", ".join(STEPS) + " (default: all)")
    made.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    made.add_argument("--work", type=Path, required=True, help="where outcomes and checkpoints are kept")
    made.add_argument("--fold", type=int, action="append", choices=range(FOLDS), help="only this one")
    made.add_argument("--n", type=int, default=3000, help="questions of each variant")
    made.add_argument("--steps", type=int, default=1000, help="of a training")
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--every", type=int, default=1, help="train on one question in so many (a trial run)")
    made.add_argument("--no-pool", dest="pool", action="store_false", help="measure among 166 alone")
    args = made.parse_args()
    if unknown := set(args.do) - set(STEPS):
        made.error(f"no such step: {', '.join(sorted(unknown))}")
    chosen = Choices(
        *(args.bench, args.wordnet, args.work, tuple(args.fold or range(FOLDS)), args.n),
        *(args.steps, args.seed, args.threads, args.every, args.pool),
    )
    return chosen, tuple(args.do) or STEPS, args.out


if __name__ == "__main__":
    sys.exit(main())
