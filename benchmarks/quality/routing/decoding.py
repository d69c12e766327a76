"""Measures what the router's decoder is made of: constraint, beams, width, mixing, the order tables were learned in.

    python -m benchmarks.quality.routing.decoding --bench FOLDER --work FOLDER [--run RUN] [--beside RUN]
        [--fold K ...] [--world WORLD ...]

Reads what `training.routing_folds` left in the work folder: the questions of each fold, and the network of RUN that has
seen none of the fold's databases; of the run beside, as much. Each question is asked with its database given and not:
in the world `166` over Spider's databases, in `large` with its own database merged with a schema of 40 to 175 tables.
The world `bird` is as `large`, of BIRD's questions, whose databases no fold holds: a measurement, by which nothing is
chosen. What was marked is kept in the work folder and not marked again. Reads no question of the development sets.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import torch
from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks.quality.routing import decoding_report, folds, table_marks
from benchmarks.quality.routing.asking import BESIDE, SYSTEMS, TODAY, Catalog, Question, Reader, asked
from benchmarks.quality.routing.collection import Item, read_items
from benchmarks.quality.routing.folds import FOLDS, Cell, Leg, Variant
from benchmarks.quality.routing.merged_schemas import Schemas
from benchmarks.quality.routing.table_marks import Marked
from engine.routing.artifact import ArtifactStore

WORLDS = ("166", "large", "bird")
"""Spider's databases; these with the question's own merged with a large one; the same for BIRD's questions."""

BIRD_EACH = 40
"""Questions of each of BIRD's databases."""

BATCH = 16


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says. `beside`: another run's name, or none."""

    bench: Path
    work: Path
    run: str
    beside: str | None
    folds: tuple[int, ...]
    worlds: tuple[str, ...]
    every: int
    json: Path | None

    def journal(self, run: str, world: str, fold: int) -> Path:
        """The place of a run's marks."""
        sample = f"-{self.every}" if self.every > 1 else ""
        return self.work / "decoding" / f"{run}-{world}-fold{fold}{sample}.jsonl"


def main() -> int:
    """Marks what is missing and shows the figures; exit status 2 where data or networks are missing."""
    choices = _choices()
    if not (choices.bench / "spider" / "train.jsonl").is_file() or not (choices.work / choices.run).is_dir():
        print("no benchmark data or no trained folds there", file=sys.stderr)
        return 2
    schemas = Schemas(choices.bench, choices.work / "vectors.sqlite")
    torch.set_num_threads(1)
    with threadpool_limits(1), torch.inference_mode():
        for fold in choices.folds:
            for run in filter(None, (choices.run, choices.beside)):
                _mark(choices, schemas, run, fold)
    found = [decoding_report.Part(world, _marks(choices, world), TODAY) for world in choices.worlds]
    for table in decoding_report.tables(found):
        Console(width=200).print(table)
    if choices.json:
        decoding_report.write(choices.json, found, run=choices.run, folds=choices.folds, every=choices.every)
    return 0


def _mark(choices: Choices, schemas: Schemas, run: str, fold: int) -> None:
    reader: Reader | None = None
    for world in choices.worlds:
        file = choices.journal(run, world, fold)
        if file.is_file():
            continue
        reader = reader or Reader.of(ArtifactStore(choices.work / run, choices.work), f"fold{fold}")
        systems = [one for one in SYSTEMS if run == choices.run or one.name in BESIDE]
        found: list[Marked] = []
        for catalog, questions in _placed(schemas, _questions(choices, world, fold), reader, world):
            for start in range(0, len(questions), BATCH):
                found += asked(reader, catalog, questions[start : start + BATCH], systems)
        table_marks.write(file, found)
        print(datetime.now(UTC).strftime("%H:%M:%S"), f"{len(found)} questions in {file}", flush=True)


def _placed(
    schemas: Schemas, questions: Sequence[Question], reader: Reader, world: str
) -> Iterator[tuple[Catalog, list[Question]]]:
    """What is asked over, with the questions that are asked over it."""
    if world == WORLDS[0]:
        yield Catalog.of(list(schemas.spider.values()), reader.network), list(questions)
        return
    groups: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for number, one in enumerate(questions):
        groups[one.database, schemas.large[number % len(schemas.large)]].append(one)
    for (database, large), some in sorted(groups.items()):
        parts = schemas.spider | {database: schemas.merged(database, large)}
        yield Catalog.of(list(parts.values()), reader.network), some


def _questions(choices: Choices, world: str, fold: int) -> list[Question]:
    if world == WORLDS[2]:
        return _bird(choices)
    known = {item["id"]: item for item in read_items(choices.bench / "spider" / "train.jsonl")}
    cells = [Cell(Leg.RETRIEVAL, variant, 166, fold).file(choices.work / "untrained") for variant in Variant]
    outcomes = [one for cell in cells for one in folds.read(cell)][:: choices.every]
    return [
        _question(known[one.id], one.variant, one.question) for one in outcomes if known[one.id]["tables"]
    ]


def _bird(choices: Choices) -> list[Question]:
    held: dict[str, list[Item]] = defaultdict(list)
    for item in read_items(choices.bench / "pool" / "bird_dev.jsonl"):
        held[item["db"]].append(item)
    # Every so many, so that each database's kinds of questions are there.
    some = [item for items in held.values() for item in items[:: max(1, len(items) // BIRD_EACH)][:BIRD_EACH]]
    return [_question(item, "bird", item["question"]) for item in some[:: choices.every]]


def _question(item: Item, wording: str, text: str) -> Question:
    return Question(item["id"], wording, text, item["db"], tuple(item["tables"]))


def _marks(choices: Choices, world: str) -> list[Marked]:
    """Of all folds; the run's beside with its name in the systems'."""
    found = []
    for fold in choices.folds:
        own = table_marks.read(choices.journal(choices.run, world, fold))
        if choices.beside is None:
            found += own
            continue
        other = table_marks.read(choices.journal(choices.beside, world, fold))
        for one, beside in zip(own, other, strict=True):
            more = (replace(mark, system=f"{choices.beside}: {mark.system}") for mark in beside.marks)
            found.append(replace(one, marks=(*one.marks, *more)))
    return found


def _choices() -> Choices:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="benchmark folder")
    parser.add_argument("--work", type=Path, required=True, help="the work folder of training.routing_folds")
    parser.add_argument(
        "--run", default="seed0-steps1000", help="name of the training whose networks are asked"
    )
    parser.add_argument("--beside", help="name of another training, compared with it")
    parser.add_argument("--fold", type=int, action="append", choices=range(FOLDS), help="only this one")
    parser.add_argument("--world", action="append", choices=WORLDS, help="only this one")
    parser.add_argument("--every", type=int, default=1, help="ask one question in so many (a trial run)")
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    return Choices(
        bench=args.bench,
        work=args.work,
        run=args.run,
        beside=args.beside,
        folds=tuple(args.fold or range(FOLDS)),
        worlds=tuple(args.world or WORLDS),
        every=args.every,
        json=args.json,
    )


if __name__ == "__main__":
    sys.exit(main())
