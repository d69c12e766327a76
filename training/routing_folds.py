"""Measures the router on Spider's training databases, each held out of what is trained for its fold.

    python -m training.routing_folds --bench FOLDER --wordnet FOLDER --work FOLDER [--fold K ...] [--out FILE]

Trains the learned leg once a fold, on the questions about the other folds' databases, measures it on the fold's, and
says what was measured and what other weights would give. A fold whose outcomes are there is not trained again; other
code needs another `--work`. The questions are put three ways (`training.paraphrases`),
among Spider's 166 databases.

No question of a development set is read. Weights, temperatures and thresholds are chosen here; the development sets
are looked at by `make bench-routing` alone, which writes down that it did.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.harness.command import told_command
from benchmarks.harness.drawing import FOLDS, Item, in_turns, read_items
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_lines, write_result
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.routing import folds
from benchmarks.quality.routing.folds import Outcome, Placed, Variant, file_of, fold_of
from engine.models.encoder import MiniLMEncoder
from engine.models.network import PARTS
from engine.models.packaged import Packaged
from engine.models.pointer import FORMAT, NAME, PointerModel
from engine.question.tokens import question_words
from engine.route.decoder import BeamSettings
from engine.route.index import Index, build
from engine.route.pointing import Asked
from engine.route.vectors import VectorCache
from engine.values.settings import EncoderSettings
from training.command import Making, parser, write
from training.fold_weights import cross_fitted, fitted
from training.paraphrases import Paraphraser, reserved
from training.router import QUESTIONS, Course, Material, entries, learned, worded
from training.router_batches import States, Terrain
from training.router_network import NetworkTrainer
from training.wordnet import WordNet, writable

MODULE = "training.routing_folds"
DRAW_SEED = 0
"""Of the questions that are measured, whatever `--seed` a training has."""

SAID = 20
"""Steps between two lines that say how a training stands."""

KEPT, BATCH = 20, 64
"""Databases of an outcome, the best ones (the right one is kept besides); questions at once."""

_SHORTEST = BeamSettings(groups=1, width=1, longest=1)
"""Only the databases' logits are measured."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as a variant puts it."""

    id: str
    variant: Variant
    text: str
    database: str


class Folds:
    """The data of one run, each part made when it is first needed."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.settings = EncoderSettings(threads=options.threads)
        self.encoder = MiniLMEncoder(self.settings)
        self.cache = VectorCache(self.encoder, model="folds", path=options.work / "vectors.sqlite")
        self.wordnet = WordNet.load(options.wordnet)

    @cached_property
    def terrain(self) -> Terrain:
        """The catalog."""
        schemas = snapshots(self.options.bench, schema="public")
        return Terrain.of(Index([build(each, self.cache.encode) for each in schemas.values()]))

    @cached_property
    def questions(self) -> dict[Variant, list[Question]]:
        """The questions of each variant, drawn evenly over the databases."""
        items = in_turns(read_items(self.options.bench / QUESTIONS[0]), DRAW_SEED)
        paraphraser = Paraphraser(self.wordnet, self.encoder, writable())
        return {variant: self._drawn(items, paraphraser, variant) for variant in Variant}

    def _drawn(self, items: Sequence[Item], paraphraser: Paraphraser, variant: Variant) -> list[Question]:
        found: list[Question] = []
        for item in items:
            if len(found) == self.options.n:
                break
            if (text := paraphraser.question(item, variant)) is not None:
                found.append(Question(item["id"], variant, text, item["db"]))
        return found

    @cached_property
    def material(self) -> Material:
        """What every fold's training draws from, each leaving out its own; the frozen layers' states are kept."""
        items = [item for name in QUESTIONS for item in read_items(self.options.bench / name)]
        found, plain = worded(items[:: self.options.every], self.wordnet, self.options.seed, spared=reserved)
        return Material(found, self._states([item["question"] for item in found]), plain)

    def _states(self, texts: Sequence[str]) -> list[States]:
        file = self.options.work / f"states-seed{self.options.seed}-{self.options.every}.npz"
        if file.is_file():
            with np.load(file) as held:
                if held["texts"].tolist() == list(texts):
                    return np.split(held["states"], np.cumsum(held["lengths"])[:-1])
        states = NetworkTrainer(self.settings).states(texts)
        lengths = [len(each) for each in states]
        np.savez(file, texts=np.array(texts), states=np.concatenate(states), lengths=np.array(lengths))
        return states

    def measure(self, fold: int) -> None:
        """Writes the outcomes of each variant, but those that are there for the very same questions."""
        asked = {v: [q for q in some if fold_of(q.database) == fold] for v, some in self.questions.items()}
        files = {variant: file_of(self.options.work, variant, fold) for variant in asked}
        left = {
            variant: some
            for variant, some in asked.items()
            if [(one.id, one.question) for one in folds.read(files[variant])]
            != [(one.id, one.text) for one in some]
        }
        if left:
            pointer = PointerModel(self._trained(fold), self.settings)
            for variant, some in left.items():
                found = [
                    one
                    for start in range(0, len(some), BATCH)
                    for one in outcomes(self.terrain, pointer, some[start : start + BATCH])
                ]
                write_lines(files[variant], found)
                right = np.mean([one.rank == 1 for one in found])
                _say(f"{variant}, fold {fold}: R@1 {100 * right:.1f} of {len(found)}")

    def _trained(self, fold: int) -> Packaged:
        """The network that has seen no question about a database of the fold."""
        options, material = self.options, self.material
        folder = options.work / f"fold{fold}"
        folder.mkdir(parents=True, exist_ok=True)
        parts = entries(options.bench, {item["db"] for item in material.items}, self.cache)
        apart = frozenset(name for name in parts if fold_of(name) == fold)
        trainer = NetworkTrainer(self.settings, seed=options.seed)
        making = Making(MODULE, NAME, FORMAT)
        started = time.monotonic()
        course = Course(options.steps, options.seed, apart)
        for step, root, tables in learned(trainer, material, parts, course):
            if (step + 1) % SAID == 0:
                losses = f"losses {root:.3f} {tables:.3f}, {time.monotonic() - started:.0f} s"
                _say(f"fold {fold}: step {step + 1} of {options.steps}, {losses}")
        questions = sum(item["db"] not in apart for item in material.items[: material.plain])
        manifest, arrays = making.manifest(questions), trainer.arrays(1.0)
        return Packaged(write(folder, manifest, arrays), arrays)


def outcomes(terrain: Terrain, pointer: PointerModel, questions: Sequence[Question]) -> list[Outcome]:
    """What the learned leg makes of questions, by a pointer of temperature 1."""
    texts = [one.text for one in questions]
    read = zip(texts, pointer.read(texts), strict=True)
    asked = [Asked.of(question_words(text), encoded, terrain.index, terrain.field) for text, encoded in read]
    pointed = pointer.point(asked, terrain.field, _SHORTEST)
    return [_outcome(terrain, one, each.parts) for one, each in zip(questions, pointed, strict=True)]


def _outcome(terrain: Terrain, question: Question, parts: NDArray[np.floating]) -> Outcome:
    """`parts`: (P, D)."""
    logits = parts.sum(0)
    names = [part.snapshot.database for part in terrain.index.parts]
    order = np.argsort(-logits, kind="stable").tolist()
    rank = order.index(names.index(question.database)) + 1
    first = tuple(
        Placed(
            names[number],
            round(float(logits[number]), 4),
            tuple(round(value, 4) for value in parts[:, number].tolist()),
        )
        for number in order[:KEPT] + ([order[rank - 1]] if rank > KEPT else [])
    )
    return Outcome(question.id, question.variant, question.text, question.database, rank, first)


def report(held: Mapping[int, Sequence[Outcome]], options: argparse.Namespace) -> None:
    """Prints and writes figures, and what weights all folds would give a logit's addends. `held`: outcomes by fold.

    The figures are as measured, and by the weights that the other folds give, as the router that ships is weighed.
    """
    known = [one for some in held.values() for one in some]
    weighed = cross_fitted(held, positive=True) if len(held) > 1 else []
    figures = {
        name: {
            variant: folds.figures(own)
            for variant in Variant
            if (own := [each for each in some if each.variant is variant])
        }
        for name, some in (("measured", known), ("weighed", weighed))
    }
    factors = fitted(known, positive=True).tolist()
    weights = [{"part": part, "factor": factor} for part, factor in zip(PARTS, factors, strict=True)]
    rows = [
        (name, variant, str(each.n), str(each.databases), shown(each.r1), shown(each.r5))
        for name, found in figures.items()
        for variant, each in found.items()
    ]
    told = [(str(each["part"]), f"{each['factor']:.2f}") for each in weights]
    columns = ("weights", "questions", "n", "databases", "R@1", "R@5")
    grids = [Grid("held out of their fold", columns, rows), Grid("weights", ("part", "times"), told)]
    printed(Console(width=150), grids)
    if options.out is not None:
        names = dict(zip(Variant, ("plain", "syn", "realistic"), strict=True))
        weighed_as = figures["weighed"]
        summary = {f"folds_{names[variant]}_db_r1": each.r1.value for variant, each in weighed_as.items()}
        run = Run("routing", told_command(MODULE, sys.argv[1:]), options.seed, {})
        part = Part(
            {v: e.n for v, e in weighed_as.items()}, {"figures": figures, "weights": weights}, summary
        )
        write_result(options.out, run, {"folds": part})


def _say(text: str) -> None:
    print(datetime.now(UTC).strftime("%H:%M:%S"), text, flush=True)


def main() -> int:
    """Trains, measures and reports; returns the exit status (2: the data is not there)."""
    made = parser(__doc__, seed=0)
    made.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    made.add_argument("--work", type=Path, required=True, help="where outcomes are kept")
    made.add_argument("--fold", type=int, action="append", choices=range(FOLDS), help="only this one")
    made.add_argument("--n", type=int, default=3000, help="questions of each variant")
    made.add_argument("--steps", type=int, default=1000, help="of a training")
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--every", type=int, default=1, help="train on one question in so many (a trial run)")
    options = made.parse_args()
    if not (options.bench / QUESTIONS[0]).is_file() or not (options.wordnet / "data.noun").is_file():
        print("no benchmark data or no WordNet there", file=sys.stderr)
        return 2
    options.work.mkdir(parents=True, exist_ok=True)
    run = Folds(options)
    for fold in options.fold or range(FOLDS):
        run.measure(fold)
    held: dict[int, list[Outcome]] = defaultdict(list)
    for variant in Variant:
        for fold, some in folds.measured(options.work, variant).items():
            held[fold] += some
    report(held, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
