"""Runs the benchmark: see `benchmarks.quality.linking`.

    python -m benchmarks.quality.linking [--json benchmarks/results/dialogue.json] [--surrogate N]

Needs no language model, but with `--surrogate`: that asks it about N flagged decisions, some seconds each.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.quality.candidates.command import ROOT, check_bench
from benchmarks.quality.candidates.meter import metering
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.linking import report
from benchmarks.quality.linking.decided import Decided, Decisions, decided
from benchmarks.quality.linking.figures import discrimination_of, flagging_of, linking_of
from benchmarks.quality.linking.flagging import WAYS, Way, flags_by_folds
from benchmarks.quality.linking.linked import (
    DEV,
    QUESTIONS,
    Known,
    Linked,
    known_questions,
    linked,
    snapshots_of,
)
from benchmarks.quality.linking.remembered import Remembered
from benchmarks.quality.linking.surrogate import SurrogateFigures, figures_of, opinions
from benchmarks.wire.machine import describe
from engine.llm.client import ChatModel
from engine.llm.settings import ModelSettings
from engine.models.linker import LinkerEncoder
from engine.models.packaged import PackagedError, read
from engine.schema_linking import branching, linker
from engine.schema_linking.branching import Aggregation, Detector, TrainedBranching
from engine.schema_linking.nodes import HiddenStates
from engine.schema_linking.probes import Flags, Probes

ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
CALIBRATION = "calibration"


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data or no model)."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.linking",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="the data's folder"
    )
    parser.add_argument("--linker", type=Path, default=linker.packaged(), help="the linker's folder")
    parser.add_argument("--branching", type=Path, default=branching.packaged(), help="its probes' folder")
    parser.add_argument("--states", type=Path, help="a folder that keeps the linker's states between runs")
    parser.add_argument("--json", type=Path, help="the results file whose linking part is replaced")
    parser.add_argument("--no-dev", action="store_true", help="leave the development questions unseen")
    parser.add_argument(
        "--surrogate", type=int, default=0, metavar="N", help="flagged decisions to ask about"
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the questions of --surrogate")
    options = parser.parse_args()
    console = Console(width=220)
    try:
        check_bench(options.bench)
        _run(options, console)
    except (ValueError, PackagedError) as problem:
        console.print(f"{problem}", style="red", markup=False)
        return 2
    return 0


def _run(options: argparse.Namespace, console: Console) -> None:
    model: HiddenStates = LinkerEncoder(read(options.linker, linker.NAME, linker.FORMAT))
    if options.states is not None:
        model = Remembered(model, options.states)
    TrainedBranching.of(options.branching, model.version)
    found = read(options.branching, branching.NAME, branching.FORMAT)
    detector = branching.detector_of(found.arrays)
    probes = Probes.of(found.arrays)
    calibrating = frozenset(str(name) for name in found.arrays["databases"])
    training = [each for each in known_questions(options.bench, QUESTIONS) if each.database in calibrating]
    known = decided(CALIBRATION, _linked(options.bench, training, model), probes)
    sets = [_figures(known, known, detector, by_folds=True)]
    surrogate = None
    if not options.no_dev:
        asked = list(_linked(options.bench, known_questions(options.bench, DEV), model))
        sets.append(_figures(decided(report.DEV, asked, probes), known, detector, by_folds=False))
        if options.surrogate:
            surrogate = asyncio.run(_surrogate(asked, TrainedBranching(found.arrays), options))
    console.print(report.linking_table(sets))
    for one in sets:
        console.print(report.curves_table(one))
    if surrogate is not None:
        console.print(surrogate)
    if options.json is not None:
        origin = report.Origin(
            describe(ROOT),
            _command(options),
            options.seed,
            model.version,
            found.manifest.weights_sha256,
            tuple(int(layer) for layer in found.arrays["chosen"]),
            detector.aggregation,
        )
        report.write_json(origin, sets, surrogate, options.json)


def _command(options: argparse.Namespace) -> str:
    """What repeats the figures, wherever data lies."""
    asked = f" --surrogate {options.surrogate} --seed {options.seed}" if options.surrogate else ""
    return f"python -m benchmarks.quality.linking{' --no-dev' if options.no_dev else ''}{asked}"


async def _surrogate(
    found: Sequence[Linked], trained: TrainedBranching, options: argparse.Namespace
) -> SurrogateFigures:
    with tempfile.TemporaryDirectory() as folder:
        async with metering() as meter:
            with model_server(meter, Path(folder) / "model.log"):
                model = ChatModel(ModelSettings(base_url=meter.url), meter.url)
                asked = await opinions(found, trained, model, options.surrogate, options.seed)
                await model.aclose()
    return figures_of(asked)


def _linked(bench: Path, questions: Sequence[Known], model: HiddenStates) -> Iterable[Linked]:
    return linked(track(questions, "Linking"), snapshots_of(bench), model)


def _figures(one: Decided, known: Decided, detector: Detector, *, by_folds: bool) -> report.SetFigures:
    """Of a set; `by_folds`: it is the calibration set itself, each fold by the others."""
    chosen = detector.probes.layers.tolist()
    calibrating, forced, free = known.by(chosen), one.forced.by(chosen), one.free.by(chosen)

    def flags(way: Way, each: Detector, asked: Decisions, alpha: float) -> Flags:
        if by_folds:
            return flags_by_folds(way, each, calibrating, asked, alpha)
        return way.flag(each, calibrating.forced, asked, alpha)

    cells = []
    for way, aggregation, alpha in track(list(product(WAYS, Aggregation, ALPHAS)), f"Flagging {one.name}"):
        each = replace(detector, aggregation=aggregation)
        found = flagging_of(one, flags(way, each, forced, alpha), flags(way, each, free, alpha))
        cells.append(report.Cell(way.name, aggregation, alpha, found))
    return report.SetFigures(
        one.name,
        len(one),
        len(set(one.databases)),
        len(one.forced.wrong),
        int(one.forced.wrong.sum()),
        linking_of(one, branching.Kind.TABLE),
        linking_of(one, branching.Kind.COLUMN),
        tuple(discrimination_of(one, layer) for layer in range(len(one.forced.chances))),
        tuple(cells),
    )


if __name__ == "__main__":
    sys.exit(main())
