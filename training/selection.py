"""Measures selection's scores on what the engine had to rank, and makes the calibration that comes with the program.

    python -m training.selection LISTS... [--out engine/judge/packaged_scores.json]

`LISTS`: files of `training.lists`. Thresholds come from other databases than those that they are measured on, as a
user's will be.

Owns the figures and the file's making.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.harness.drawing import FOLDS, fold_of
from engine.judge.packaged_scores import Base
from engine.judge.records import Judged, Point
from engine.judge.splits import id_hash, observe_elsewhere
from engine.values.conformal import Calibrated, Scores
from engine.values.model_settings import ModelSettings
from engine.values.proportion import Share
from training.command import parser
from training.judgement import Held, held_out
from training.lists import QuestionList, read

PROMISES = (0.8, 0.9, 0.95)

WIDTHS = (3, 6)
"""Statements that are shown at most. A list that was recorded for more holds more to choose from than is found then."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a score does at a promise, each question by the threshold of other databases.

    `kept`: of those with a right statement. `shown`: statements a question, of `found`.
    """

    promised: float
    kept: Share
    shown: float
    found: float


def pointed(lists: Sequence[QuestionList], held: Sequence[Held], k: int) -> list[Point]:
    """The lists with statements as judged questions of the `k` that are shown, best first.

    `held`: what is said of each by weights that its database gave nothing to.
    """
    return [
        Point(id_hash(each.id), each.database, tuple(_shown(each, found, k)))
        for each, found in zip(lists, held, strict=True)
        if each.candidates
    ]


def _shown(each: QuestionList, found: Held, k: int) -> Iterator[Judged]:
    for place in found.order[:k]:
        yield Judged(each.candidates[place].right, 1.0 - found.confidences[place])


def measured(points: Sequence[Point], promised: float) -> Kept | None:
    """What a score does at a promise; None where some thresholds have too few points."""
    found = []
    for fold in range(FOLDS):
        base = _right([each for each in points if fold_of(each.group) != fold])
        here = [each for each in points if fold_of(each.group) == fold]
        found.append(observe_elsewhere(here, Calibrated(base=base), promised))
    if any(each.calibrated < each.right.n for each in found):
        return None
    kept = Share(sum(each.kept.hits for each in found), sum(each.kept.n for each in found))
    n = sum(each.right.n for each in found)
    shown, made = sum(each.shown for each in found), sum(each.generated for each in found)
    return Kept(promised, kept, shown / n, made / n)


def base_of(points: Mapping[int, Sequence[Point]], made: str) -> Base:
    """What comes with the program. `points`: by the number of statements to be shown."""
    scores = {k: tuple(sorted(_right(each).tolist())) for k, each in points.items()}
    return Base(ModelSettings().model, made, scores)


def _right(points: Sequence[Point]) -> Scores:
    scores = (each.right_score for each in points)
    return np.array([score for score in scores if score is not None], dtype=np.float64)


def main() -> int:
    """Prints the figures, and writes the calibration where it is told to; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("lists", type=Path, nargs="+", help="what training.lists wrote")
    given = made.parse_args()
    lists = [each for file in given.lists for each in read(file)]
    held = held_out(lists)
    points = {k: pointed(lists, held, k) for k in WIDTHS}
    for k, some in points.items():
        for found in filter(None, (measured(some, each) for each in PROMISES)):
            print(f"k = {k}: {found}")
    if given.out is not None:
        command = f"python -m training.selection {' '.join(file.name for file in given.lists)}"
        given.out.write_bytes(msgspec.json.encode(base_of(points, command)) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
