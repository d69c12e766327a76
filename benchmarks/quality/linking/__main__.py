"""Runs the benchmark: see `benchmarks.quality.linking`.

    python -m benchmarks.quality.linking [--json benchmarks/results/dialogue.json] [--no-dev]

Needs no language model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.harness.command import check_bench, plain_parser, told_command
from benchmarks.harness.questions import SPIDER, TRAIN
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_result
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.linking.decided import Decided, Decisions, decided
from benchmarks.quality.linking.figures import Flagging, Linking, flagging_of, linking_of
from benchmarks.quality.linking.flagging import WAYS, Way, by_folds
from benchmarks.quality.linking.linked import SCHEMA, Known, Linked, known_questions, linked
from engine.models.linker import LinkerEncoder
from engine.models.packaged import PackagedError, read
from engine.schema_linking import branching, linker
from engine.schema_linking.branching import Detector, Kind, TrainedBranching
from engine.schema_linking.nodes import HiddenStates
from engine.schema_linking.probes import Flags, Probes

MODULE = "benchmarks.quality.linking"
ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
CALIBRATION, DEV = "calibration", "dev"
TOLD = ("calibrated", 0.1)
"""How the product flags by default, and the alpha of the summary."""


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data or no model)."""
    parser = plain_parser(MODULE, __doc__)
    parser.add_argument("--linker", type=Path, default=linker.packaged(), help="the linker's folder")
    parser.add_argument("--branching", type=Path, default=branching.packaged(), help="its probes' folder")
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
    TrainedBranching.of(options.branching, model.version)
    arrays = read(options.branching, branching.NAME, branching.FORMAT).arrays
    detector, probes = branching.detector_of(arrays), Probes.of(arrays)
    calibrating = frozenset(str(name) for name in arrays["databases"])
    training = [e for e in known_questions(options.bench / TRAIN.file) if e.database in calibrating]
    sets = [known := decided(CALIBRATION, _linked(options, training, model), probes)]
    if not options.no_dev:
        asked = known_questions(options.bench / SPIDER.file)
        sets.append(decided(DEV, _linked(options, asked, model), probes))
    tables: dict[str, dict[str, object]] = {}
    summary: dict[str, float | None] = {}
    for one in sets:
        links = {kind: linking_of(one, kind) for kind in Kind}
        flagged = list(_flagged(one, known, detector))
        printed(console, [_links(one, links), _curves(one, flagged)])
        tables[one.name] = {
            "databases": len(set(one.databases)),
            "decisions": len(one.forced.wrong),
            "branching": int(one.forced.wrong.sum()),
            "linking": {kind.value: asdict(each) for kind, each in links.items()},
            "flagging": [asdict(each) for each in flagged],
        }
        before = "" if one.name == DEV else f"{one.name}_"
        chosen = [int(layer) for layer in arrays["chosen"]]
        summary |= {f"{before}{key}": value for key, value in _summary(links, flagged, chosen).items()}
    console.print(summary)
    if options.json is not None:
        config = {"linker": model.version, "aggregation": detector.aggregation}
        run = Run("dialogue", told_command(MODULE, sys.argv[1:]), options.seed, config)
        n = {one.name: len(one) for one in sets}
        write_result(options.json, run, {"linking": Part(n, tables, summary)})


def _linked(options: argparse.Namespace, questions: Sequence[Known], model: HiddenStates) -> list[Linked]:
    schemas = snapshots(options.bench, schema=SCHEMA)
    return list(linked(track(questions[: options.n], "Linking"), schemas, model))


def _flagged(one: Decided, known: Decided, detector: Detector) -> list[Flagging]:
    """Every way at every alpha; of the calibration set itself each fold by the others."""
    chosen = detector.probes.layers.tolist()
    calibrating = replace(known, forced=known.forced.by(chosen))

    def flags(way: Way, asked: Decisions, alpha: float) -> Flags:
        if one is known:
            return by_folds(way, detector, calibrating, asked, alpha)
        return way(detector, calibrating.forced, asked, alpha)

    forced, free = one.forced.by(chosen), one.free.by(chosen)
    return [
        flagging_of(one, name, alpha, flags(way, forced, alpha), flags(way, free, alpha))
        for (name, way), alpha in product(WAYS.items(), ALPHAS)
    ]


def _summary(
    links: Mapping[Kind, Linking], flagged: Sequence[Flagging], chosen: Sequence[int]
) -> dict[str, float | None]:
    """The flat numbers, as the product flags by default."""
    told = next(each for each in flagged if (each.way, each.alpha) == TOLD)
    areas = [links[kind].layers[layer] for kind in Kind for layer in chosen]
    return {
        "table_em": getattr(told.table.exact_match, "value", None),
        "table_far": told.table.far.value,
        "column_em": getattr(told.column.exact_match, "value", None),
        "column_far": told.column.far.value,
        "branch_coverage_a10": getattr(told.coverage, "value", None),
        "sbpp_auc": float(np.mean(areas)),
    }


def _links(one: Decided, links: Mapping[Kind, Linking]) -> Grid:
    rows = [
        (
            *(kind.value, str(len(one)), f"{one.forced.wrong.sum()} of {len(one.forced.wrong)}"),
            *(shown(each.exact_match), shown(each.precision), shown(each.recall)),
            " ".join(f"{area:.3f}" for area in each.layers),
        )
        for kind, each in links.items()
    ]
    columns = ("of", "n", "branching", "exact", "precision", "recall", "AUC by layer")
    return Grid(f"{one.name}, {len(set(one.databases))} databases", columns, rows)


def _curves(one: Decided, flagged: Sequence[Flagging]) -> Grid:
    kinds = ("tables", "columns", "columns given tables")
    rows = [
        (
            *(each.way, f"{each.alpha:g}", shown(each.coverage), shown(each.coverage_table)),
            *(shown(each.coverage_column), shown(each.coverage_question), shown(each.ear)),
            *(
                f"{shown(part.exact_match)} {100 * part.tar.value:.1f} {100 * part.far.value:.1f}"
                for part in (each.table, each.column, each.column_given_tables)
            ),
        )
        for each in flagged
    ]
    columns = ("way", "alpha", "flagged", "tables", "columns", "questions", "in vain")
    return Grid(one.name, (*columns, *(f"{kind}: EM, TAR, FAR" for kind in kinds)), rows)


if __name__ == "__main__":
    sys.exit(main())
