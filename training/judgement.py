"""Fits how probably each candidate is right (`engine.judge.model`), on training databases.

    python -m training.judgement LISTS... --answers LISTS... [--out engine/judge/weights.json]

Owns the fit and its figures, which are by cross-validation over databases, and of each file, which is of one origin
(`training.origins`), by weights that the other files alone gave. The lists are `training.lists`'s, and of the readings
that a model gave in its own order `training.answers`'s. The weights of a candidate are held to `WHICH`, what each of
its features was found to weigh when it was added.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.command import told_command
from benchmarks.harness.drawing import FOLDS, fold_of
from benchmarks.harness.intervals import auc
from engine.judge.features import Features, answered, together
from engine.judge.model import Judgement, Weights, probability, turning_features, weighed
from engine.values.dialogue import Parting
from training import logit
from training.command import parser, told
from training.lists import QuestionList, read
from training.logit import Choice

WHICH = {
    "likelihood": 6.0,
    "similarity": 1.0,
    "needless": 1.0,
    "readings": 1.0,
    "forked": math.log(0.5),
    "fruitless": math.log(0.1),
    "outdated": math.log(0.03),
    "contradicted": math.log(0.03),
    "doubted": math.log(0.03),
    "paired": math.log(0.3),
    "question": 0.2,
    "invented": 0.0,
    "shortfall": 0.0,
    "agrees": 0.0,
}
"""The log-odds of a candidate's features without training."""

SOME = {
    "constant": 2.9244,
    "candidates": 0.6301,
    "leads": 0.0177,
    "least_shortfall": -1.0456,
    "unknown": -1.326,
    "forks": -0.4507,
    "likelihood": 2.7789,
    "fruitless": -3.6474,
    "invented": -0.7765,
    "answerable": 0.115,
    "most_agrees": 0.6537,
    "branching": -0.8641,
    "contradicted": math.log(0.05),
    "doubted": math.log(0.05),
    "outdated": -0.5,
}
"""The same of all candidates together: what 266 lists gave, of which 46 of questions that nothing answers; the last
three by hand."""

BOUNDED, RARE = ("likelihood", "least_shortfall", "most_agrees", "answerable", "branching", "leads"), 0.02
"""What networks and cosines say of all candidates together: on schemas unlike those of training it goes far beyond what
was seen there. And the share of lists on either side that is taken for as much as the bound."""

TURNS = {"constant": -0.7445, "potential": 0.4858, "twins": 0.2957}
"""The same of a question back."""

FIXED = {"second_stage": 1.0}
"""Of what is off while lists are made."""

PULLS = {"likelihood": 0.3, "similarity": 1.0, "question": 100.0}
"""How strongly a weight is held to what it is without training, beside `PULL` of the others: by their scales."""

SURE = 0.5
"""A first statement that is wrong counts as wrongly sure above this confidence."""

PULL_WHICH, PULL_SOME = 1.0, 3.0

ANSWER = {"constant": 1.7, "fruitless": math.log(0.3), "unsaid": math.log(0.5), "keyed": math.log(0.3)}
"""The log-odds of a model's first reading without training: by hand where recorded answers hold next to none."""

PULL_ANSWER = 1.0
PULLS_ANSWER = {"constant": 0.01, "near": 0.1, "far": 0.1, "fruitless": 10.0, "unsaid": 10.0, "keyed": 100.0}
"""By their scales, as `PULLS`."""

BOUNDED_ANSWER = ("readings", "unsaid", "shown", "near", "far", "unshown", "unasked")

BEHIND = {"place": -1.0}
"""The same of the readings behind the first, beside one another."""


def main() -> int:
    """Fits, prints and writes; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("lists", type=Path, nargs="+", help="what training.lists wrote, a file of each origin")
    made.add_argument("--answers", type=Path, nargs="+", required=True, help="what training.answers wrote")
    given = made.parse_args()
    origins = {file.stem.removeprefix("lists_"): read(file) for file in given.lists}
    lists = [each for some in origins.values() for each in some]
    answers = [each for file in given.answers for each in read(file)]
    command = told_command("training.judgement", sys.argv[1:])
    weights, found = rounded(fit(lists)), figures(lists)
    for name, left_out in origins.items() if len(origins) > 1 else ():
        others = fit([each for other, some in origins.items() if other != name for each in some])
        found |= judged_beside(others, left_out, name)
    judgement = Judgement(weights, rounded(fit_answers(answers)), command, found | answer_figures(answers))
    told(asdict(judgement), given.out)
    return 0


def fit_answers(lists: Sequence[QuestionList]) -> Weights:
    """The weights of what a model gave as readings, by its recorded answers: of the first, and of those behind it."""
    known = [each for each in lists if each.candidates]
    firsts = [answered(each.candidates[0].features) for each in known]
    found = Weights({}, {}, {"potential": 1.0})
    found = replace(found, bounds={name: _bounds(each[name] for each in firsts) for name in BOUNDED_ANSWER})
    prior = {name: ANSWER.get(name, 0.0) for name in firsts[0]}
    true = [each.candidates[0].right for each in known]
    some = _either([found.bounded(each) for each in firsts], true, prior, PULL_ANSWER, PULLS_ANSWER)
    wrong = [
        each.candidates[1:] for each in known if len(each.candidates) > 1 and not each.candidates[0].right
    ]
    right = [any(one.right for one in each) for each in wrong]
    choices = [
        Choice(_matrix([one.features for one in each], BEHIND), np.array([one.right for one in each]))
        for each in wrong
        if len({one.right for one in each}) > 1
    ]
    behind = _either([{"behind": 1.0}] * len(wrong), right, {"behind": 0.0}, PULL_ANSWER, {})
    found = replace(found, some=some, which=_fitted(choices, BEHIND, PULL_WHICH) | behind)
    return replace(found, bounds={**found.bounds, "said": _bounds(map(found.any_right, firsts))})


def answer_figures(lists: Sequence[QuestionList]) -> dict[str, float]:
    """Of the first readings, by cross-validation over databases."""
    known = [each for each in lists if each.candidates]
    fitted = {
        fold: fit_answers([each for each in known if fold_of(each.database) != fold]) for fold in range(FOLDS)
    }
    said = np.array(
        [fitted[fold_of(each.database)].first_right(each.candidates[0].features) for each in known]
    )
    right = np.array([float(each.candidates[0].right) for each in known])
    found = {
        "answers": float(len(known)),
        "answers_wrong": float((right == 0).sum()),
        "answers_auc": auc(said, right),
        "answers_brier": float(np.mean((said - right) ** 2)),
        "answers_brier_of_the_mean": float(right.mean() * (1 - right.mean())),
        "answers_ece": calibration_error(said, right),
        "answers_wrong_and_sure": float(((said > SURE) & (right == 0)).sum()),
        "answers_right_below_half": float(((said <= SURE) & (right == 1)).sum()),
    }
    return {name: round(value, 4) for name, value in found.items()}


def figures(lists: Sequence[QuestionList]) -> dict[str, float]:
    """By cross-validation over databases."""
    judged = held_out(lists)
    shown = [n for n, each in enumerate(lists) if each.candidates]
    right = np.array([float(lists[n].candidates[judged[n].order[0]].right) for n in shown])
    first = np.array([max(judged[n].confidences) for n in shown])
    some = np.array([sum(judged[n].confidences) for n in shown])
    truth = np.array([float(any(each.right for each in lists[n].candidates)) for n in shown])
    wrong = right == 0
    asked = [n for n in shown if lists[n].options]
    turned = np.array([float(_turned(lists[n], judged[n])) for n in asked])
    found = {
        "lists": float(len(lists)),
        "first_right_of_plain": _first(lists, [each.order for each in judged]),
        "first_right_by_prior": _first(lists, [order_of(each, WHICH) for each in lists]),
        "in_the_set_of_plain": float(np.mean([any(one.right for one in each.candidates) for each in lists])),
        "first_auc": auc(first, right),
        "first_brier": float(np.mean((first - right) ** 2)),
        "first_brier_of_the_mean": float(right.mean() * (1 - right.mean())),
        "first_ece": calibration_error(first, right),
        "some_auc": auc(some, truth),
        "some_brier": float(np.mean((some - truth) ** 2)),
        "wrong_first": float(wrong.sum()),
        "wrong_first_and_sure": float((first[wrong] > SURE).sum()),
        "right_first": float((~wrong).sum()),
        "right_first_below_half": float((first[~wrong] <= SURE).sum()),
        "turns_auc": auc(np.array([judged[n].turns for n in asked]), turned),
    }
    return {name: round(value, 4) for name, value in found.items()}


def judged_beside(weights: Weights, lists: Sequence[QuestionList], name: str) -> dict[str, float]:
    """Of an origin that gave `weights` nothing: how many of its first statements are right, and how surely."""
    shown = [(judged_by(weights, each), each) for each in lists if each.candidates]
    first = np.array([max(judged.confidences) for judged, _ in shown])
    right = np.array([float(each.candidates[judged.order[0]].right) for judged, each in shown])
    sure = first > SURE
    found = {
        f"{name}_n": float(len(lists)),
        f"{name}_right_first": right.sum(),
        f"{name}_auc": auc(first, right),
        f"{name}_brier": np.mean((first - right) ** 2),
        f"{name}_above_half": sure.sum(),
        f"{name}_right_above_half": right[sure].mean() if sure.any() else 1.0,
        f"{name}_of_right_above_half": sure[right == 1].mean() if right.any() else 1.0,
    }
    return {key: round(float(value), 4) for key, value in found.items()}


def calibration_error(confidences: NDArray[np.float64], right: NDArray[np.float64], bins: int = 8) -> float:
    """The mean distance of confidence and truth in bins of as many questions."""
    parts = np.array_split(np.argsort(confidences), bins)
    gaps = [len(part) * abs(confidences[part].mean() - right[part].mean()) for part in parts if len(part)]
    return float(sum(gaps) / len(confidences))


def _first(lists: Sequence[QuestionList], orders: Sequence[Sequence[int]]) -> float:
    """The share of lists whose first statement is right."""
    known = zip(lists, orders, strict=True)
    return float(np.mean([bool(order) and each.candidates[order[0]].right for each, order in known]))


def order_of(each: QuestionList, weights: Features) -> list[int]:
    """The places of a list's candidates, best first."""
    odds = [weighed(one.features, weights) for one in each.candidates]
    return sorted(range(len(odds)), key=odds.__getitem__, reverse=True)


@dataclass(frozen=True, slots=True)
class Held:
    """What weights say of a list: of each of its candidates, and of its question back."""

    confidences: tuple[float, ...]
    turns: float = 0.0

    @property
    def order(self) -> list[int]:
        """The places, best first."""
        return sorted(range(len(self.confidences)), key=self.confidences.__getitem__, reverse=True)


def judged_by(weights: Weights, each: QuestionList) -> Held:
    """What `weights` say of a list."""
    if not each.candidates:
        return Held(())
    known = [one.features for one in each.candidates]
    shares = weights.shares(known, [1.0] * len(known), [one.of for one in each.candidates])
    some = weights.any_right(together(known, shares, each.route))
    judged = Held(tuple(some * share for share in shares))
    return (
        replace(judged, turns=probability(_turning(each, judged), weights.turns)) if each.options else judged
    )


def _turning(each: QuestionList, judged: Held) -> Features:
    places = {place: position for position, place in enumerate(judged.order)}
    groups = tuple(tuple(places[place] for place in option) for option in each.options)
    chances = tuple(judged.confidences[place] for place in judged.order)
    return turning_features(chances, Parting(groups, each.twins))


def _turned(each: QuestionList, judged: Held) -> bool:
    """Whether the first is wrong, and the likeliest that agrees with what a truthful asker answers is right."""
    right = [one.right for one in each.candidates]
    chosen = next((option for option in each.options if any(right[place] for place in option)), ())
    best = max(chosen, key=judged.confidences.__getitem__, default=None)
    return not right[judged.order[0]] and best is not None and right[best]


def held_out(lists: Sequence[QuestionList]) -> list[Held]:
    """What is said of each list by weights that its database gave nothing to."""
    fitted = {fold: fit([each for each in lists if fold_of(each.database) != fold]) for fold in range(FOLDS)}
    return [judged_by(fitted[fold_of(each.database)], each) for each in lists]


def fit(lists: Sequence[QuestionList]) -> Weights:
    """The weights of `lists`; each regression is fitted on what the one before it says."""
    chosen = [each for each in lists if len({one.right for one in each.candidates}) > 1]
    choices = [
        Choice(
            _matrix([one.features for one in each.candidates], WHICH),
            np.array([one.right for one in each.candidates]),
        )
        for each in chosen
    ]
    which = _fitted(choices, WHICH, PULL_WHICH) | FIXED
    # What an answer is worth shows in questions that mean several things, which these do not.
    found = Weights({}, which, TURNS)
    known = [each for each in lists if each.candidates]
    sets = [_together(each, found) for each in known]
    found = replace(found, bounds={name: _bounds(each.get(name, 0.0) for each in sets) for name in BOUNDED})
    sets = [found.bounded(each) for each in sets]
    some = _either(sets, [any(one.right for one in each.candidates) for each in known], SOME, PULL_SOME)
    return replace(found, some=some)


def _bounds(values: Iterable[float]) -> tuple[float, float]:
    least, most = np.quantile(list(values), (RARE, 1.0 - RARE))
    return round(float(least), 4), round(float(most), 4)


def _together(each: QuestionList, weights: Weights) -> Features:
    known = [one.features for one in each.candidates]
    shares = weights.shares(known, [1.0] * len(known), [one.of for one in each.candidates])
    return together(known, shares, each.route)


def _either(
    features: Sequence[Features],
    true: Sequence[bool],
    prior: Features,
    pull: float,
    pulls: Mapping[str, float] = PULLS,
) -> dict[str, float]:
    """The weights of a logistic regression."""
    names = {name: prior.get(name, 0.0) for each in features for name in each}
    rows = zip(_matrix(features, names), true, strict=True)
    return _fitted([logit.either(row, true=right) for row, right in rows], names, pull, pulls)


def _fitted(
    choices: Sequence[Choice], prior: Features, pull: float, pulls: Mapping[str, float] = PULLS
) -> dict[str, float]:
    each = [pulls.get(name, 1.0) * pull for name in prior]
    return dict(zip(prior, logit.fitted(choices, list(prior.values()), each).tolist(), strict=True))


def _matrix(features: Sequence[Features], names: Iterable[str]) -> NDArray[np.float64]:
    known = tuple(names)
    return np.array([[each.get(name, 0.0) for name in known] for each in features])


def rounded(weights: Weights) -> Weights:
    """As they are written."""
    some, which, turns = (
        {name: round(value, 4) for name, value in each.items()}
        for each in (weights.some, weights.which, weights.turns)
    )
    return Weights(some, which, turns, weights.bounds)


if __name__ == "__main__":
    sys.exit(main())
