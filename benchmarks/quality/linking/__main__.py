"""Runs the benchmark: see `benchmarks.quality.linking`.

    python -m benchmarks.quality.linking [--json benchmarks/results/dialogue.json] [--no-dev]

Needs no language model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.harness.command import check_bench, plain_parser, told_command
from benchmarks.harness.linker_split import Part as Databases
from benchmarks.harness.linker_split import part_of
from benchmarks.harness.questions import SPIDER, TRAIN
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_result
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.linking.decided import Decided, decided
from benchmarks.quality.linking.figures import Flagging, Linking, flagging_of, linking_of
from benchmarks.quality.linking.flagging import by_folds, flagged, thresholds
from benchmarks.quality.linking.linked import SCHEMA, Known, Linked, known_questions, linked
from engine.models.linker import LinkerEncoder
from engine.models.packaged import PackagedError, read
from engine.schema_linking import linker
from engine.schema_linking.linker import Kind
from engine.schema_linking.nodes import HiddenStates

MODULE = "benchmarks.quality.linking"
ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
CALIBRATION, DEV = "calibration", "dev"
TOLD = 0.1
"""The alpha of the program, and of the summary."""


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
    model: HiddenStates = LinkerEncoder(read(options.linker, linker.NAME, linker.FORMAT))
    training = [
        e for e in known_questions(options.bench / TRAIN.file) if part_of(e.database) is Databases.CALIBRATION
    ]
    sets = [known := decided(CALIBRATION, _linked(options, training, model))]
    if not options.no_dev:
        sets.append(decided(DEV, _linked(options, known_questions(options.bench / SPIDER.file), model)))
    tables: dict[str, dict[str, object]] = {}
    summary: dict[str, float | None] = {}
    for one in sets:
        links = {kind: linking_of(one, kind) for kind in Kind}
        found = [_flagged(one, known, alpha) for alpha in ALPHAS]
        printed(console, [_links(one, links), _curves(one, found)])
        tables[one.name] = {
            "databases": len(set(one.databases)),
            "decisions": len(one.forced.wrong),
            "branching": int(one.forced.wrong.sum()),
            "linking": {kind.value: asdict(each) for kind, each in links.items()},
            "flagging": [asdict(each) for each in found],
        }
        before = "linker_" if one.name == DEV else f"linker_{one.name}_"
        summary |= {f"{before}{key}": value for key, value in _summary(links, found).items()}
    console.print({kind.value: round(value, 3) for kind, value in thresholds(known.forced, TOLD).items()})
    console.print(summary)
    if options.json is not None:
        run = Run("dialogue", told_command(MODULE, sys.argv[1:]), options.seed, {"linker": model.version})
        n = {one.name: len(one) for one in sets}
        write_result(options.json, run, {"linking": Part(n, tables, summary)})


def _linked(options: argparse.Namespace, questions: Sequence[Known], model: HiddenStates) -> list[Linked]:
    schemas = snapshots(options.bench, schema=SCHEMA)
    return list(linked(track(questions[: options.n], "Linking"), schemas, model))


def _flagged(one: Decided, known: Decided, alpha: float) -> Flagging:
    """At this alpha; of the calibration set itself each fold by the others."""
    if one is known:
        forced, free = (by_folds(known, asked, alpha) for asked in (one.forced, one.free))
    else:
        forced, free = (flagged(known.forced, asked, alpha) for asked in (one.forced, one.free))
    return flagging_of(one, alpha, forced, free)


def _summary(links: Mapping[Kind, Linking], found: Sequence[Flagging]) -> dict[str, float | None]:
    """The flat numbers, as the product flags; the keys without `linker_` are `training.links`'s."""
    told = next(each for each in found if each.alpha == TOLD)
    return {
        "table_em": getattr(told.table.exact_match, "value", None),
        "table_far": told.table.far.value,
        "column_em": getattr(told.column.exact_match, "value", None),
        "column_far": told.column.far.value,
        "branch_coverage_a10": getattr(told.coverage, "value", None),
        "sbpp_auc": float(np.mean([links[kind].auc for kind in Kind])),
    }


def _links(one: Decided, links: Mapping[Kind, Linking]) -> Grid:
    rows = [
        (
            *(kind.value, str(len(one)), f"{one.forced.wrong.sum()} of {len(one.forced.wrong)}"),
            *(shown(each.exact_match), shown(each.precision), shown(each.recall), f"{each.auc:.3f}"),
        )
        for kind, each in links.items()
    ]
    columns = ("of", "n", "branching", "exact", "precision", "recall", "AUC")
    return Grid(f"{one.name}, {len(set(one.databases))} databases", columns, rows)


def _curves(one: Decided, found: Sequence[Flagging]) -> Grid:
    kinds = ("tables", "columns", "columns given tables")
    rows = [
        (
            *(f"{each.alpha:g}", shown(each.coverage), shown(each.coverage_table)),
            *(shown(each.coverage_column), shown(each.coverage_question), shown(each.ear)),
            *(
                f"{shown(part.exact_match)} {100 * part.tar.value:.1f} {100 * part.far.value:.1f}"
                for part in (each.table, each.column, each.column_given_tables)
            ),
        )
        for each in found
    ]
    columns = ("alpha", "flagged", "tables", "columns", "questions", "in vain")
    return Grid(one.name, (*columns, *(f"{kind}: EM, TAR, FAR" for kind in kinds)), rows)


if __name__ == "__main__":
    sys.exit(main())
