"""Trains the probes for branching points and calibrates them, for the linker that comes with the program.

    python -m training.branching --bench FOLDER --out engine/schema_linking/branching

Probes are trained on the probe part of the training databases, calibrated on the calibration part
(`training.linker_split`). All choices are by folds of the probe part's databases: which layers, and how they are put
together.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.progress import track

from benchmarks.harness.questions import TRAIN
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.linking.linked import SCHEMA, known_questions, linked
from engine.models.linker import LinkerEncoder
from engine.models.packaged import read
from engine.schema_linking import linker
from engine.schema_linking.branching import FORMAT, NAME
from engine.schema_linking.nodes import HiddenStates
from training.command import Making, parser, written
from training.linker_split import Part, part_of
from training.probe_fitting import Collected, Recipe, artifact, collected


def main() -> int:
    """Trains, calibrates, writes; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("--linker", type=Path, default=linker.packaged(), help="the linker's folder")
    made.add_argument("--n", type=int, help="the first so many questions of each part: a trial run")
    options = made.parse_args()
    model = LinkerEncoder(read(options.linker, linker.NAME, linker.FORMAT))
    making = Making("training.branching", NAME, FORMAT, model.version)
    probes_part, calibration_part = (
        _part(options.bench, part, model, options.n) for part in (Part.PROBES, Part.CALIBRATION)
    )
    arrays, figures = artifact(probes_part, calibration_part, Recipe(), options.seed)
    questions = len(probes_part.databases) + len(calibration_part.databases)
    written(options.out, making.manifest(questions, figures), arrays)
    return 0


def _part(bench: Path, part: Part, model: HiddenStates, n: int | None) -> Collected:
    questions = [each for each in known_questions(bench / TRAIN.file) if part_of(each.database) is part]
    return collected([*linked(track(questions[:n], part), snapshots(bench, schema=SCHEMA), model)])


if __name__ == "__main__":
    sys.exit(main())
