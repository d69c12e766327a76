"""Whether a first statement is right, before it runs: by its log-probability, and by probes of the writer's layers.

    python -m training.doubt FOLDER [--out FILE]

FOLDER: what `training.states` recorded. Figures are AUCs over pairs of a right and a wrong statement: of all databases,
and of the same one, where no threshold of another helps or harms; probes are fitted on other databases (folds).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.drawing import fold_of
from benchmarks.harness.intervals import auc, ratio
from training import logit
from training.command import parser, told
from training.states import LAYERS, Recorded, read

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DIRECTIONS, PENALTY = 48, 10.0
"""Principal directions of a layer's states that a probe sees, of unit variance; the penalty of its squared weights."""


def main() -> int:
    """Fits, prints and writes; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("folder", type=Path, help="what training.states recorded")
    given = made.parse_args()
    found, verdicts = read(given.folder)
    told(report([each for each in found if each.written.id in verdicts], verdicts), given.out)
    return 0


def report(found: Sequence[Recorded], verdicts: dict[str, bool]) -> dict[str, object]:
    """The figures of statements whose verdicts are known."""
    kept = [each for each in found if each.written.finished]
    right = np.array([verdicts[each.written.id] for each in kept])
    owners = [each.written.database for each in kept]
    logprobs = [np.array(each.written.logprobs) for each in kept]
    scores: dict[str, Floats] = {
        "mean": np.array([each.mean() for each in logprobs]),
        "sum": np.array([each.sum() for each in logprobs]),
        "least": np.array([each.min() for each in logprobs]),
    }
    for place, layer in enumerate(LAYERS):
        seen = np.array([each.states[1:, place].mean(0, dtype=np.float64) for each in kept])
        last = np.array([each.states[-1, place] for each in kept], np.float64)
        scores |= {f"mean_{layer}": probed(seen, right, owners), f"last_{layer}": probed(last, right, owners)}
    for name in [name for name in scores if name.startswith(("mean_", "last_"))]:
        scores[f"sum_{name}"] = _unit(scores["sum"]) + _unit(scores[name])
    counts = {"statements": len(kept), "databases": len(set(owners)), "right": float(right.mean())}
    figures = {name: _figures(each, right, owners) for name, each in scores.items()}
    return {**counts, **figures}


def probed(states: Floats, right: Flags, owners: Sequence[str]) -> Floats:
    """The log-odds that each statement is right, by a probe of other databases; `states`: (n, width)."""
    folds = np.array([fold_of(name) for name in owners])
    found = np.zeros(len(right))
    for fold in np.unique(folds):
        held = folds == fold
        mean, spread = states[~held].mean(0), states[~held].std(0) + 1e-6
        known = (states[~held] - mean) / spread
        _, sizes, axes = np.linalg.svd(known, full_matrices=False)
        many = min(DIRECTIONS, len(sizes), len(known) // 4)
        view = axes[:many].T / sizes[:many] * np.sqrt(len(known))
        rows = np.concatenate([known @ view, np.ones((len(known), 1))], axis=1)
        choices = [
            logit.either(row, true=bool(is_right)) for row, is_right in zip(rows, right[~held], strict=True)
        ]
        weights = logit.fitted(choices, 0.0, [*([PENALTY] * many), 0.0])
        found[held] = (states[held] - mean) / spread @ view @ weights[:-1] + weights[-1]
    return found


def _figures(scores: Floats, right: Flags, owners: Sequence[str]) -> dict[str, float]:
    names = np.array(owners)
    over, under = [], []
    for name in dict.fromkeys(owners):
        own, wanted = scores[names == name], right[names == name]
        pairs = int(wanted.sum() * (~wanted).sum())
        over.append(auc(own, wanted) * pairs if pairs else 0.0)
        under.append(pairs)
    within = ratio(over, under, list(dict.fromkeys(owners)))
    found = {"auc": auc(scores, right)}
    if within is not None:
        found |= {"within": within.value, "within_low": within.low, "within_high": within.high}
    return {key: round(value, 3) for key, value in found.items()}


def _unit(scores: Floats) -> Floats:
    return np.asarray((scores - scores.mean()) / scores.std())


if __name__ == "__main__":
    sys.exit(main())
