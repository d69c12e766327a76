"""Measures what training on a catalog's own questions is worth, on databases held out of their fold.

    python -m training.catalog_training --bench FOLDER --wordnet FOLDER --work FOLDER --out FOLDER
        [--fold K ...] [--renamed]

Takes the networks that `training.routing_folds learned` trained for the folds, in the folder of `--work`, and trains
each further as `pgparley router train` does, on questions made of the whole catalog's names.
`--renamed` puts the fold's schemas in words of another register, the questions keep theirs. Prints recall@1 before and
after, and the difference with its paired interval over databases: of all questions, of those that another
database serves as well (`training.twins`), and of the rest. Outcomes are kept in `--out`, and what is there is not
measured again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from pathlib import Path

import numpy as np

from benchmarks.quality.resampling import estimate
from benchmarks.quality.routing import folds
from benchmarks.quality.routing.collection import Item, read_items
from benchmarks.quality.routing.folds import FOLDS, Cell, Leg, Outcome, Variant, fold_of
from engine.models.fitting import NetworkTrainer
from engine.routing.artifact import ArtifactStore
from engine.routing.index import Index, build
from engine.routing.questioner import lesson, packaged
from engine.routing.training import Progress, TableOrder, Terrain, TrainingSettings, train
from engine.settings import EncoderSettings
from schema_catalog.types import Snapshot
from training import fold_legs
from training.fold_legs import Question
from training.renamed_catalog import renamed
from training.router import BATCH, QUESTIONS
from training.routing_folds import Choices, Folds, run_name
from training.twins import serves


class Arm(StrEnum):
    """A fold's network."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Data:
    """`items`: Spider's training questions. `work`: the folds' networks. `out`: outcomes."""

    items: list[Item]
    work: Path
    out: Path


def main() -> int:
    """Trains, measures and prints; exit status 2 where a fold has no network yet."""
    args = _arguments()
    chosen = tuple(args.fold or range(FOLDS))
    choices = Choices(
        args.bench, args.wordnet, args.work, chosen, 3000, 1000, 0, 1, 1, pool=False, order=TableOrder.DRAWN
    )
    work = args.work / run_name(choices)
    if not all((work / f"fold{fold}" / "manifest.json").is_file() for fold in chosen):
        print("train the folds first: python -m training.routing_folds … learned", file=sys.stderr)
        return 2
    items = [item for name in QUESTIONS for item in read_items(args.bench / name)]
    run = Folds(choices)
    snapshots = [snapshot for snapshot, _ in run.world(pool=False)[0]]
    data = Data(items, work, args.out)
    for fold in chosen:
        terrain = run.world(pool=False)[1]
        if args.renamed:
            terrain = _renamed(run, snapshots, fold)
        for arm in Arm:
            _measure(data, terrain, fold, arm)
    _report(data, snapshots, chosen)
    return 0


def _renamed(run: Folds, snapshots: Sequence[Snapshot], fold: int) -> Terrain:
    """The catalog with the fold's schemas in other words."""
    named = [
        renamed(one, run.paraphraser.instead) if fold_of(one.database) == fold else one for one in snapshots
    ]
    return Terrain.of(Index([build(one, run.cache.encode) for one in named]))


def _measure(data: Data, terrain: Terrain, fold: int, arm: Arm) -> None:
    """Writes the outcomes of one arm on one fold, where they are not there."""
    cells = {variant: Cell(Leg.LEARNED, variant, len(terrain.graphs), fold) for variant in Variant}
    if all(cell.file(data.out / arm).is_file() for cell in cells.values()):
        return
    started = time.monotonic()
    trainer = NetworkTrainer(
        ArtifactStore(data.work, data.work / "none").load(f"fold{fold}"), EncoderSettings(threads=1)
    )
    if arm is Arm.AFTER:
        made = lesson(terrain.index.parts, packaged())
        outcome = train(trainer, terrain, made, TrainingSettings(), _say)
        print(f"{outcome.trained} questions, {outcome.minutes:.1f} minutes", flush=True)
    pointer = trainer.pointer(1.0)
    ask = fold_legs.learned(terrain, pointer, pointer.read)
    for variant, cell in cells.items():
        known = folds.read(cell.file(data.work))
        asked = [Question(one.id, variant, one.question, one.database) for one in known]
        found = [one for at in range(0, len(asked), BATCH) for one in ask(asked[at : at + BATCH])]
        folds.write(cell.file(data.out / arm), found)
    print(f"fold {fold}, {arm}: {time.monotonic() - started:.0f} s", flush=True)


def compared(before: Sequence[Outcome], after: Sequence[Outcome]) -> str:
    """The difference in recall@1 of the same questions, with its 95 % interval over databases."""
    gains = [100.0 * ((then.rank == 1) - (one.rank == 1)) for one, then in zip(before, after, strict=True)]
    gain = estimate(gains, [one.database for one in before])
    return f"{gain.value:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}]"


def twinned(item: Item, question: str, snapshots: Sequence[Snapshot]) -> bool:
    """Whether another database than the item's serves the question as well."""
    return any(one.database != item["db"] and serves(one, item, question) for one in snapshots)


def _report(data: Data, snapshots: Sequence[Snapshot], chosen: Sequence[int]) -> None:
    gold = {item["id"]: item for item in data.items}
    for variant in Variant:
        cells = [Cell(Leg.LEARNED, variant, len(snapshots), fold) for fold in chosen]
        before, after = (
            [one for cell in cells for one in folds.read(cell.file(data.out / arm))] for arm in Arm
        )
        shared = [twinned(gold[one.id], one.question, snapshots) for one in before]
        groups = {"all": [True] * len(shared), "twins": shared, "no twins": [not one for one in shared]}
        for name, rows in groups.items():
            first, second = list(compress(before, rows)), list(compress(after, rows))
            if first:
                shares = [100 * np.mean([one.rank == 1 for one in some]) for some in (first, second)]
                figures = f"{shares[0]:.1f} to {shares[1]:.1f}, {compared(first, second)}"
                print(f"{variant}, {name}: R@1 {figures}, n = {len(first)}", flush=True)


def _say(progress: Progress) -> None:
    if progress.step % 20 == 0:
        print(f"step {progress.step} of {progress.steps}, {progress.seconds:.0f} s", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="benchmark folder")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    parser.add_argument("--work", type=Path, required=True, help="the folder of `training.routing_folds`")
    parser.add_argument("--out", type=Path, required=True, help="where outcomes are kept")
    parser.add_argument("--fold", type=int, action="append", choices=range(FOLDS), help="only this one")
    parser.add_argument("--renamed", action="store_true", help="the fold's schemas in other words")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
