"""Trains the probes for branching points and calibrates them, for the linker that comes with the program.

    python -m training.branching --bench FOLDER [--compare]

Probes are trained on the probe part of the training databases, calibrated on the calibration part
(`training.linker_split`). All choices are by folds of the probe part's databases: which layers, how they are put
together, and by `--compare`, which writes nothing, what the probes see and their width.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.quality.linking.linked import QUESTIONS, known_questions, linked, snapshots_of
from benchmarks.quality.linking.remembered import Remembered
from engine.models.linker import LinkerEncoder
from engine.models.packaged import Manifest, read, write
from engine.schema_linking import linker
from engine.schema_linking.branching import FORMAT, NAME, packaged
from engine.schema_linking.nodes import HiddenStates
from training.linker_split import Part, part_of
from training.probe_fitting import Collected, Recipe, artifact, collected, compare


def main() -> int:
    """Trains, calibrates, writes; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="the data's folder")
    parser.add_argument("--linker", type=Path, default=linker.packaged(), help="the linker's folder")
    parser.add_argument("--out", type=Path, default=packaged(), help="the artifact's folder")
    parser.add_argument("--states", type=Path, help="a folder that keeps the linker's states between runs")
    parser.add_argument("--compare", action="store_true", help="compare what probes see; write nothing")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    model: HiddenStates = LinkerEncoder(read(options.linker, linker.NAME, linker.FORMAT))
    if options.states is not None:
        model = Remembered(model, options.states)
    probes_part = _part(options.bench, Part.PROBES, model)
    if options.compare:
        for line in compare(probes_part, options.seed):
            print(line, flush=True)
        return 0
    calibration_part = _part(options.bench, Part.CALIBRATION, model)
    arrays, figures = artifact(probes_part, calibration_part, Recipe(), options.seed)
    manifest = Manifest(
        name=NAME,
        format=FORMAT,
        encoder=model.version,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=f"python -m training.branching --bench FOLDER --seed {options.seed}",
        questions=len(probes_part.databases) + len(calibration_part.databases),
        minutes=round((time.monotonic() - started) / 60, 1),
        figures={key: round(value, 4) for key, value in figures.items()},
    )
    written = write(options.out, manifest, arrays)
    sys.stdout.write("".join(f"{key:24s} {value:.4f}\n" for key, value in written.figures.items()))
    return 0


def _part(bench: Path, part: Part, model: HiddenStates) -> Collected:
    questions = [each for each in known_questions(bench, QUESTIONS) if part_of(each.database) is part]
    return collected(linked(questions, snapshots_of(bench), model))


if __name__ == "__main__":
    sys.exit(main())
