"""Measures selection's scores that need no language model: what they leave out of wrong statements at a coverage.

    python -m benchmarks.quality.selection_scores [--bench FOLDER] [--databases N] [--questions N] [--json FILE]

Right statements are the known ones of Spider's training part, wrong ones are made of them: another question's
on the same database, one column put for another of its table, one column left out. They stand in for what a
generator writes, which is nearer to the question; the figures compare scores, and foretell no set. Thresholds come
from the calibration split, the figures from the test split. Its data is no part of this repository.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.calibration.conformal import Threshold
from engine.calibration.coverage import observe
from engine.calibration.proportion import Share
from engine.calibration.records import Judged, Point, Score
from engine.calibration.scores import encoder_score, shortfall_score
from engine.calibration.splits import divide, id_hash
from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.elements import Entity
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.models.encoder import MiniLMEncoder
from engine.stages.link import link
from engine.types import Asker, AskRequest
from schema_catalog.types import Column, ColumnKey, Database, Snapshot, Table, TableKind

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS: dict[str, Callable[[Candidate, Sequence[Entity]], float]] = {
    "encoder-1": encoder_score,
    "shortfall-1": shortfall_score,
}
COVERAGES = (0.8, 0.9, 0.95)
OTHERS, SWAPS = 3, 2
"""Wrong statements of a kind for each question."""

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """A question with its right statement and, by kind, wrong ones, as what they read."""

    point: Point
    wrong: dict[str, tuple[Judged, ...]]


def main() -> int:
    """Measures and prints; returns the exit status (2: no benchmark data)."""
    options = _options()
    if not (options.bench / "spider" / "train.jsonl").is_file():
        print(f"There is no benchmark data in {options.bench}: name its folder with --bench.")
        return 2
    made = asyncio.run(_made(options))
    figures = [figure for name in FUNCTIONS for c in COVERAGES for figure in _figures(made, name, c)]
    print(f"{len(made)} questions of {options.databases} databases, seed {options.seed}")
    for each in figures:
        low, high = each["interval"]
        print(
            f"{each['function']:12} {each['coverage']:.2f} {each['what']:28}"
            f" {each['share']:.3f} [{low:.3f}, {high:.3f}] n = {each['n']}"
        )
    if options.json is not None:
        options.json.write_text(json.dumps(_record(options, len(made), figures), indent=1) + "\n", "utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--databases", type=int, default=40)
    parser.add_argument("--questions", type=int, default=16, help="of each database at most")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args()


def _read(path: Path) -> list[Item]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


async def _made(options: argparse.Namespace) -> list[Made]:
    tables: dict[str, list[Table]] = defaultdict(list)
    for item in _read(options.bench / "spider" / "schemas.jsonl"):
        columns = tuple(Column(each["name"], each["type"]) for each in item["columns"])
        tables[item["db"]].append(Table("public", item["table"], TableKind.TABLE, columns))
    questions: dict[str, list[Item]] = defaultdict(list)
    for item in _read(options.bench / "spider" / "train.jsonl"):
        if item["columns"]:
            questions[item["db"]].append(item)
    choose = random.Random(options.seed)  # noqa: S311 - a sample, no secret
    nothing: Any = None
    tools = Tools(nothing, nothing, MiniLMEncoder(), nothing, nothing)
    made = []
    for db in choose.sample(sorted(questions), min(options.databases, len(questions))):
        snapshot = Snapshot(db, ("public",), tuple(tables[db]))
        here = questions[db]
        for item in choose.sample(here, min(options.questions, len(here))):
            entities = await _linked(item, snapshot, tools)
            made.append(_question(item, here, snapshot, entities, choose))
    return made


async def _linked(item: Item, snapshot: Snapshot, tools: Tools) -> tuple[Entity, ...]:
    route = Route(Database(snapshot.database, "", snapshot.database, ("public",)), snapshot, 1.0, ())
    ask = AskRequest(Asker("nobody", snapshot.database), item["question"])
    now = time.monotonic()
    state = await link(State(ask, 1, 1, Deadline(now + 600), now, routes=(route,)), tools)
    return state.routes[0].entities


def _question(
    item: Item, others: list[Item], snapshot: Snapshot, entities: tuple[Entity, ...], choose: random.Random
) -> Made:
    columns = frozenset(item["columns"])
    wrong = {
        "another question's": [
            (each["tables"], frozenset(each["columns"]))
            for each in choose.sample(others, min(OTHERS, len(others)))
            if frozenset(each["columns"]) != columns
        ],
        "one column for another": [
            (item["tables"], swapped)
            for swapped in (_swapped(columns, snapshot, choose) for _ in range(SWAPS))
            if swapped is not None
        ],
        "one column left out": [(item["tables"], columns - {choose.choice(sorted(columns))})],
    }

    def judged(reads: tuple[list[str], frozenset[str]], *, right: bool) -> Judged:
        candidate = _candidate(snapshot.database, *reads)
        return Judged(
            right, tuple(Score(name, score(candidate, entities)) for name, score in FUNCTIONS.items())
        )

    right = judged((item["tables"], columns), right=True)
    return Made(
        Point(id_hash(item["id"]), item["db"], (right,)),
        {kind: tuple(judged(each, right=False) for each in found) for kind, found in wrong.items()},
    )


def _swapped(columns: frozenset[str], snapshot: Snapshot, choose: random.Random) -> frozenset[str] | None:
    """One column of the statement put for another of its table; None where the table has no other."""
    lost = choose.choice(sorted(columns))
    table = lost.partition(".")[0]
    names = {f"{each.name}.{c.name}" for each, c in snapshot.columns() if each.name == table}
    left = sorted(names - columns)
    return (columns - {lost}) | {choose.choice(left)} if left else None


def _candidate(database: str, tables: list[str], columns: frozenset[str]) -> Candidate:
    keys: list[ColumnKey] = []
    for column in columns:
        table, _, name = column.partition(".")
        keys.append(("public", table, name))
    return Candidate(database, "", frozenset(("public", each) for each in tables), frozenset(keys))


def _figures(made: Sequence[Made], function: str, coverage: float) -> list[Item]:
    """Coverage of right statements, and how many wrong ones of each kind are left out."""
    _, calibration, held_out = divide(each.point for each in made)
    calibrated = calibration.calibrated(function)
    tested = {point.question for point in held_out.points}
    shares = {"right statements kept": observe(held_out, calibrated, function, coverage).kept}
    for kind in made[0].wrong:
        out = n = 0
        for each in made:
            threshold = calibrated.at(coverage, each.point.group)
            if each.point.question in tested and isinstance(threshold, Threshold):
                n += len(each.wrong[kind])
                out += sum(not threshold.admits(judged.score(function)) for judged in each.wrong[kind])
        shares[kind] = Share(out, n)
    return [
        {
            "function": function,
            "coverage": coverage,
            "what": what,
            "share": share.value or 0.0,
            "n": share.n,
            "interval": share.interval(),
        }
        for what, share in shares.items()
    ]


def _record(options: argparse.Namespace, questions: int, figures: list[Item]) -> Item:
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False)
    return {
        "commit": done.stdout.strip(),
        "config": {"databases": options.databases, "questions": options.questions, "set": "spider/train"},
        "seed": options.seed,
        "n": questions,
        "figures": figures,
    }


if __name__ == "__main__":
    raise SystemExit(main())
