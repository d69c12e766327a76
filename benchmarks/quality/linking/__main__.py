"""Runs the benchmark: see `benchmarks.quality.linking`.

    python -m benchmarks.quality.linking [--json benchmarks/results/dialogue.json] [--no-dev]

Needs no language model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.harness.command import check_bench, plain_parser, told_command
from benchmarks.harness.intervals import Figure
from benchmarks.harness.linker_split import Part as Databases
from benchmarks.harness.linker_split import part_of
from benchmarks.harness.questions import SPIDER, TRAIN
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_result
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.linking.abstaining import ALPHA, Decided, figures, summary_of, thresholds
from benchmarks.quality.linking.linked import SCHEMA, Known, decided, known_questions
from engine.link import schema_linker as linker
from engine.models.linker import LinkerEncoder
from engine.models.packaged import read
from engine.values.errors import PackagedError

MODULE = "benchmarks.quality.linking"
CALIBRATION, DEV = "calibration", "dev"


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data or no model)."""
    parser = plain_parser(MODULE, __doc__)
    parser.add_argument("--linker", type=Path, default=linker.packaged(), help="the linker's folder")
    parser.add_argument("--no-dev", action="store_true", help="leave the development questions unseen")
    parser.add_argument("--n", type=int, help="the first so many questions of each set: a trial run")
    options = parser.parse_args()
    console = Console(width=200)
    try:
        check_bench(options.bench)
        _run(options, console)
    except (ValueError, PackagedError) as problem:
        console.print(f"{problem}", style="red", markup=False)
        return 2
    return 0


def _run(options: argparse.Namespace, console: Console) -> None:
    packaged = read(options.linker, linker.NAME, linker.FORMAT)
    model = LinkerEncoder(packaged)
    schemas = snapshots(options.bench, schema=SCHEMA)

    def linked(questions: Sequence[Known]) -> Decided:
        return decided(track(questions[: options.n], "Linking"), schemas, model)

    training = [
        e for e in known_questions(options.bench / TRAIN.file) if part_of(e.database) is Databases.CALIBRATION
    ]
    sets = {CALIBRATION: (known := linked(training))}
    if not options.no_dev:
        sets[DEV] = linked(known_questions(options.bench / SPIDER.file))
    found = {name: figures(one, known) for name, one in sets.items()}
    rows = [(key, *(_shown(each[key]) for each in found.values())) for key in found[CALIBRATION]]
    printed(console, [Grid(f"flagged at {ALPHA}", ("figure", *found), rows)])
    console.print({kind.value: round(value, 3) for kind, value in thresholds(known.forced, ALPHA).items()})
    summary: dict[str, float | None] = {}
    for name, each in found.items():
        summary |= summary_of(each, "linker_" if name == DEV else f"linker_{name}_")
    console.print(summary)
    if options.json is not None:
        used = {"linker": packaged.manifest.weights_sha256}
        run = Run("dialogue", told_command(MODULE, sys.argv[1:]), options.seed, used)
        n = {name: len(one.databases) for name, one in sets.items()}
        write_result(options.json, run, {"linking": Part(n, found, summary)})


def _shown(figure: Figure | float | None) -> str:
    return f"{100 * figure:.1f}" if isinstance(figure, float) else shown(figure)


if __name__ == "__main__":
    sys.exit(main())
