"""Fits how likely candidates are right (`engine.dialogue.certainty`), on training databases.

    python -m training.certainty LISTS... [--out engine/dialogue/certainty.json]

Owns the fit and its figures, which are by cross-validation over databases; the lists are `training.lists`'s.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.drawing import FOLDS, fold_of
from benchmarks.harness.intervals import auc
from engine.dialogue.certainty import (
    Weights,
    chances_of,
    turning_chance,
    turning_features,
)
from engine.dialogue.types import Chances
from training import logit
from training.command import parser, told
from training.lists import Kind, QuestionList, read
from training.logit import Choice

PENALTY = 0.1
"""Of the squared weights, the constant's apart; chosen by the folds among 1, 0.3, 0.1 and 0.03."""


def main() -> int:
    """Fits, prints and writes; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("lists", type=Path, nargs="+", help="what training.lists wrote")
    given = made.parse_args()
    told(report([each for file in given.lists for each in read(file)]), given.out)
    return 0


def report(lists: Sequence[QuestionList]) -> dict[str, object]:
    """The weights of all lists, and the figures by cross-validation over databases."""
    fitted = fit(lists)
    held = held_out(lists)
    truth = np.array([float(any(each.right)) for each in lists])
    first = np.array([float(each.first) for each in lists])
    likely = np.array([each.chances.some for each in held])
    leading = np.array([each.chances.first for each in held])
    asked = [place for place, each in enumerate(lists) if each.options]
    turned = np.array([float(_turned(lists[place], held[place].chances)) for place in asked])
    figures = {
        "lists": float(len(lists)),
        "some_auc": auc(likely, truth),
        "some_brier": float(np.mean((likely - truth) ** 2)),
        "first_auc": auc(leading, first),
        "first_brier": float(np.mean((leading - first) ** 2)),
        "first_brier_of_the_mean": float(first.mean() * (1 - first.mean())),
        "turns_auc": auc(np.array([held[place].turns for place in asked]), turned),
    }
    return {
        **{name: _rounded(value) for name, value in asdict(fitted).items()},
        "figures": {name: round(value, 4) for name, value in figures.items()},
    }


def _turned(each: QuestionList, chances: Chances) -> bool:
    return not each.first and each.answered(chances.statements)


@dataclass(frozen=True, slots=True)
class Judged:
    """What weights say of a list: of its candidates, and of its question back."""

    chances: Chances
    turns: float


def held_out(lists: Sequence[QuestionList]) -> list[Judged]:
    """What is said of each list by weights that its database gave nothing to."""
    found: dict[tuple[Kind, str], Judged] = {}
    for fold in range(FOLDS):
        fitted = fit([each for each in lists if fold_of(each.database) != fold])
        found |= {
            (each.kind, each.id): _judged_by(fitted, each) for each in lists if fold_of(each.database) == fold
        }
    return [found[each.kind, each.id] for each in lists]


def fit(lists: Sequence[QuestionList]) -> Weights:
    """The weights of `lists`; those of questions back by chances that each list's database gave nothing to."""
    known: list[tuple[QuestionList, Chances]] = []
    for fold in range(FOLDS):
        rest = [each for each in lists if fold_of(each.database) != fold]
        others = Weights(fit_some(rest), fit_which(rest), {})
        asked = [each for each in lists if fold_of(each.database) == fold and each.options]
        known += [(each, chances_of(each.some, each.which, others)) for each in asked]
    features = [dict(turning_features(chances, each.parting)) for each, chances in known]
    turned = [_turned(each, chances) for each, chances in known]
    return Weights(fit_some(lists), fit_which(lists), _either(features, turned))


def _judged_by(fitted: Weights, each: QuestionList) -> Judged:
    chances = chances_of(each.some, each.which, fitted)
    return Judged(chances, turning_chance(chances, each.parting, fitted) if each.options else 0.0)


def fit_some(lists: Sequence[QuestionList]) -> dict[str, float]:
    """The weights of a logistic regression: that one of those shown is right, where there are any."""
    found = [each for each in lists if each.shown]
    return _either([each.some for each in found], [any(each.right) for each in found])


def _either(features: Sequence[Mapping[str, float]], true: Sequence[bool]) -> dict[str, float]:
    names = _names(features)
    rows = zip(_matrix(features, names), true, strict=True)
    return _fitted([logit.either(row, true=right) for row, right in rows], names)


def fit_which(lists: Sequence[QuestionList]) -> dict[str, float]:
    """The weights of the choice among those shown, where one is right and another is not."""
    known = [each for each in lists if any(each.right) and not all(each.right)]
    names = _names(features for each in known for features in each.which)
    return _fitted([Choice(_matrix(each.which, names), np.array(each.right)) for each in known], names)


def _fitted(choices: Sequence[Choice], names: Sequence[str]) -> dict[str, float]:
    pull = [0.0 if name == "constant" else PENALTY for name in names]
    return dict(zip(names, logit.fitted(choices, 0.0, pull).tolist(), strict=True))


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in weights.items()}


def _names(features: Iterable[Mapping[str, float]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in features for name in each))


def _matrix(features: Sequence[Mapping[str, float]], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[each.get(name, 0.0) for name in names] for each in features])


if __name__ == "__main__":
    sys.exit(main())
