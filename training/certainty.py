"""Fits how likely candidates are right (`engine.dialogue.certainty`), on training databases.

    python -m training.certainty LISTS --record [--ambiguous FILE]           make lists, with the embedded model
    python -m training.certainty LISTS [--out engine/dialogue/certainty.json]    fit on them

Owns the fit and its figures, which are by cross-validation over databases; the lists are `training.certainty_lists`'s.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.ablations.drawing import TRAIN
from benchmarks.quality.candidates.command import ROOT
from benchmarks.quality.candidates.journal import locked
from benchmarks.quality.candidates.questions import read_items
from benchmarks.quality.roc import auc
from engine.dialogue.certainty import (
    Action,
    Weights,
    Worth,
    chances_of,
    decide,
    turning_chance,
    turning_features,
)
from engine.dialogue.types import Chances
from engine.settings import DialogueSettings
from pgparley.config import cache_dir
from training.certainty_lists import Kind, QuestionList, original, read, record

FOLDS = 5
PENALTY = 0.1
"""Of the squared weights, the constant's apart; chosen by the folds among 1, 0.3, 0.1 and 0.03."""

STEPS = 200


def main() -> int:
    """Records or fits; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lists", type=Path)
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--work", type=Path, default=cache_dir() / "bench-ablations")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--ambiguous", type=Path, help="what training.ambiguous made")
    parser.add_argument("--n", type=int, default=70, help="questions as they are")
    parser.add_argument(
        "--unanswerable", type=int, default=40, help="questions over a schema that lacks a column"
    )
    parser.add_argument("--elsewhere", type=int, default=20, help="questions asked of another database")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.record:
        with locked(given.work):
            asyncio.run(record(given))
        return 0
    text = json.dumps(report(at_home(read(given.lists), given.bench)), indent=2) + "\n"
    sys.stdout.write(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    return 0


def at_home(lists: Sequence[QuestionList], bench: Path) -> list[QuestionList]:
    """The lists, those of questions made ambiguous under the training database that their views are of.

    Each such question has a schema, and so a name, of its own: by that name the folds would put questions on one
    database, made ambiguous and not, on both sides.
    """
    databases = {item["id"]: str(item["db"]) for item in read_items(bench / TRAIN.file)}
    return [
        replace(each, database=databases[original(each.id)]) if each.kind is Kind.AMBIGUOUS else each
        for each in lists
    ]


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
    figures |= policy_figures(lists, held)
    return {
        **{name: _rounded(value) for name, value in asdict(fitted).items()},
        "figures": {name: round(value, 4) for name, value in figures.items()},
    }


def policy_figures(
    lists: Sequence[QuestionList], held: Sequence[Judged], costs: DialogueSettings | None = None
) -> dict[str, float]:
    """What the policy does with each kind of question, by chances that the question's database gave nothing to.

    Shares: asked back; asked although the first was right; not answered; right at once, and after at most one answer.
    """
    costs = costs or DialogueSettings()
    found: dict[str, float] = {}
    for kind in Kind:
        outcomes = [
            _outcome(each, judged, costs)
            for each, judged in zip(lists, held, strict=True)
            if each.kind is kind
        ]
        for name in ("asked", "needless", "abstained", "first", "answered"):
            if outcomes:
                found[f"{kind}_{name}"] = float(np.mean([outcome[name] for outcome in outcomes]))
    return found


def _outcome(each: QuestionList, judged: Judged, costs: DialogueSettings) -> dict[str, bool]:
    worth = Worth(judged.turns, each.misread) if each.options else None
    action = decide(judged.chances, worth, costs).action
    asked = action is Action.ASK
    after = each.answered(judged.chances.statements) if asked else each.first and action is Action.SHOW
    return {
        "asked": asked,
        "needless": asked and each.first,
        "abstained": action is Action.ABSTAIN,
        "first": each.first,
        "answered": after,
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
    found: dict[str, Judged] = {}
    for fold in range(FOLDS):
        fitted = fit([each for each in lists if fold_of(each.database) != fold])
        found |= {each.id: _judged_by(fitted, each) for each in lists if fold_of(each.database) == fold}
    return [found[each.id] for each in lists]


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
    return Weights(fit_some(lists), fit_which(lists), _logistic(features, turned))


def _judged_by(fitted: Weights, each: QuestionList) -> Judged:
    chances = chances_of(each.some, each.which, fitted)
    return Judged(chances, turning_chance(chances, each.parting, fitted) if each.options else 0.0)


def fold_of(database: str) -> int:
    """Of a database, by a hash of its name."""
    return int(hashlib.sha256(database.encode()).hexdigest(), 16) % FOLDS


def fit_some(lists: Sequence[QuestionList]) -> dict[str, float]:
    """The weights of a logistic regression: that one of the candidates is right, where there are any."""
    found = [each for each in lists if each.which]
    return _logistic([each.some for each in found], [any(each.right) for each in found])


def _logistic(features: Sequence[dict[str, float]], true: Sequence[bool]) -> dict[str, float]:
    names = _names(features)
    rows, truth = _matrix(features, names), np.array(true, dtype=float)

    def slope(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        likely = 1 / (1 + np.exp(-(rows @ weights)))
        return rows.T @ (truth - likely), (rows.T * (likely * (1 - likely))) @ rows

    return dict(zip(names, _newton(slope, names), strict=True))


def fit_which(lists: Sequence[QuestionList]) -> dict[str, float]:
    """The weights of the choice among the candidates, where one is right and another is not."""
    known = [each for each in lists if any(each.right) and not all(each.right)]
    names = _names(features for each in known for features in each.which)
    tables = [_matrix(each.which, names) for each in known]

    def slope(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first, second = np.zeros(len(names)), np.zeros((len(names), len(names)))
        for rows, each in zip(tables, known, strict=True):
            right = np.array(each.right, dtype=float)
            likely = _softmax(rows @ weights)
            wanted = likely * right / (likely @ right)
            centred = rows - likely @ rows
            first += wanted @ centred
            second += (centred.T * likely) @ centred
        return first, second

    return dict(zip(names, _newton(slope, names), strict=True))


def _newton(
    slope: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]],
    names: Sequence[str],
) -> NDArray[np.float64]:
    pull = np.diag([0.0 if name == "constant" else PENALTY for name in names]) + 1e-6 * np.eye(len(names))
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        first, second = slope(weights)
        weights += 0.5 * np.linalg.solve(second + pull, first - pull @ weights)
    return weights


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in weights.items()}


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.exp(logits - logits.max())
    found: NDArray[np.float64] = shares / shares.sum()
    return found


def _names(features: Iterable[dict[str, float]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in features for name in each))


def _matrix(features: Sequence[dict[str, float]], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[each.get(name, 0.0) for name in names] for each in features])


if __name__ == "__main__":
    sys.exit(main())
