"""Measures selection's scores on what the engine had to rank, and makes the calibration that comes with the program.

    python -m training.selection LISTS... [--bench FOLDER] [--out engine/calibration/base.json]

`LISTS`: files of `training.ranker_lists`, of questions as they are and of ambiguous ones, for each number of statements
that are shown. Thresholds come from other databases than those that they are measured on, as a user's will be; they are
the highest of those of the kinds of question that are given.

Owns the figures and the file's making.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.quality.ablations.drawing import TRAIN
from benchmarks.quality.candidates.command import ROOT
from benchmarks.quality.candidates.questions import read_items
from engine.calibration.base import Base
from engine.calibration.conformal import CONFIDENCE as BEST
from engine.calibration.conformal import Calibrated, Scores
from engine.calibration.proportion import Share
from engine.calibration.records import Judged, Point, read_scores
from engine.calibration.splits import id_hash, observe_elsewhere
from engine.llm.settings import ModelSettings
from training.certainty import FOLDS, fold_of
from training.certainty_lists import Kind, original
from training.ranker_lists import QuestionList, read

PROMISES = (0.8, 0.9, 0.95)
LEAST = 5


@dataclass(frozen=True, slots=True)
class Kept:
    """What a score does at a promise, `n` questions each by the threshold of other databases.

    `kept`: of those with a right statement. `worst`: the least of the databases' shares, of those with `LEAST` such
    questions. `shown`: statements a question, of `found`.
    """

    n: int
    kept: Share
    worst: float
    shown: float
    found: float


def pointed(lists: Sequence[QuestionList], databases: Mapping[str, str]) -> list[Point]:
    """The lists with statements as judged questions, best first. `databases`: by the ids of training questions."""
    found = []
    for each in lists:
        shown = [one for one in each.candidates if one.scores]
        judged = (
            Judged(one.right, read_scores(one.scores))
            for one in sorted(shown, key=lambda one: one.scores[BEST] or 0.0)
        )
        if shown:
            # One made ambiguous is of the database that its views are of.
            database = databases.get(each.id) or databases[original(each.id)]
            found.append(Point(id_hash(each.id), database, tuple(judged)))
    return found


def measured(kinds: Mapping[Kind, Sequence[Point]], of: Kind, function: str, promised: float) -> Kept | None:
    """What a score does at a promise for one kind of question; None where some thresholds have too few points."""
    found = []
    for fold in range(FOLDS):
        base = tuple(
            _right([each for each in points if fold_of(each.group) != fold], function)
            for points in kinds.values()
        )
        here = [each for each in kinds[of] if fold_of(each.group) == fold]
        for database in sorted({each.group for each in here}):
            of_one = [each for each in here if each.group == database]
            found.append(observe_elsewhere(of_one, Calibrated(base=base), function, promised))
    if any(each.calibrated < each.right.n for each in found):
        return None
    kept = Share(sum(each.kept.hits for each in found), sum(each.kept.n for each in found))
    n = sum(each.right.n for each in found)
    shares = [each.kept.hits / each.kept.n for each in found if each.kept.n >= LEAST]
    return Kept(
        *(n, kept, min(shares, default=1.0)),
        *(sum(each.shown for each in found) / n, sum(each.generated for each in found) / n),
    )


def preferred(points: Sequence[Point], function: str) -> Share:
    """Of all pairs of a right and a wrong statement to a question, those whose right one has the lower score."""
    pairs = [
        right.score(function) < wrong.score(function)
        for point in points
        if point.scored_by(function)
        for right in point.candidates
        if right.right
        for wrong in point.candidates
        if not wrong.right
    ]
    return Share(sum(pairs), len(pairs))


def base_of(points: Mapping[int, Mapping[Kind, Sequence[Point]]], made: str) -> Base:
    """What comes with the program. `points`: by the number of statements to be shown, by kind."""
    scores: dict[str, dict[int, dict[str, tuple[float, ...]]]] = {}
    for k, kinds in points.items():
        for function in sorted(set.intersection(*(_functions(each) for each in kinds.values()))):
            found = {
                kind.value: tuple(sorted(_right(each, function).tolist())) for kind, each in kinds.items()
            }
            scores.setdefault(function, {})[k] = found
    return Base(ModelSettings().model, made, scores)


def _right(points: Sequence[Point], function: str) -> Scores:
    scores = (each.right_score(function) for each in points)
    return np.array([score for score in scores if score is not None], dtype=np.float64)


def _functions(points: Sequence[Point]) -> set[str]:
    return {score.function for each in points for one in each.candidates for score in one.scores}


def main() -> int:
    """Prints the figures, and writes the calibration where it is told to; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lists", type=Path, nargs="+")
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lists = [each for file in given.lists for each in read(file)]
    databases = {str(item["id"]): str(item["db"]) for item in read_items(given.bench / TRAIN.file)}
    points: dict[int, dict[Kind, list[Point]]] = {}
    for k in sorted({each.k for each in lists}):
        for kind in (Kind.PLAIN, Kind.AMBIGUOUS):
            wanted = [
                each for each in lists if each.k == k and (each.id in databases) == (kind is Kind.PLAIN)
            ]
            if wanted:
                points.setdefault(k, {})[kind] = pointed(wanted, databases)
    for k, kinds in points.items():
        for kind, known in kinds.items():
            for function in sorted(_functions(known)):
                share = preferred(known, function)
                low, high = share.interval()
                print(
                    f"{kind}, k = {k}, {function}: {share.value or 0:.3f} [{low:.3f}, {high:.3f}] of {share.n} pairs"
                )
                for promised in PROMISES:
                    if found := measured(kinds, kind, function, promised):
                        print(_line(found, promised))
    if given.out is not None:
        made = f"python -m training.selection {' '.join(file.name for file in given.lists)}"
        given.out.write_bytes(msgspec.json.encode(base_of(points, made)) + b"\n")
    return 0


def _line(found: Kept, promised: float) -> str:
    low, high = found.kept.interval()
    return (
        f"    promised {promised:.2f}: kept {found.kept.value or 0:.3f} [{low:.3f}, {high:.3f}]"
        f" of {found.kept.n}, a database {found.worst:.2f} at least; {found.shown:.2f} of {found.found:.2f} shown"
    )


if __name__ == "__main__":
    sys.exit(main())
