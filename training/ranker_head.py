"""Fits the weights of the rank stage on lists of statements that the engine had to rank, and measures orders of them.

    python -m training.ranker_head --bench FOLDER --lists FILE    for the packaged network, where it had no say

Owns the lists' features, the fit by cross-validation over databases, and the figures. The weights are the ranker's head
and those of `engine.ranking.evidence`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.drawing import FOLDS, Item, left_out, read_items
from benchmarks.harness.questions import TRAIN
from engine.models.cross import CrossEncoder
from engine.models.packaged import read as packaged_arrays
from engine.ranking.evidence import WEIGHTS
from engine.ranking.ranker import FEATURES, FORMAT, NAME, Reader, features, packaged, phrases
from training import logit
from training.command import parser, told
from training.lists import QuestionList, Written, read
from training.logit import Choice

COLUMNS = (*FEATURES, *WEIGHTS)
"""Of the lists' features: the head's, then the evidence's."""

PRIOR = np.array([0.0, 0.0, 6.0, 1.0, 0.0, *WEIGHTS.values()], dtype=np.float32)
"""The weights without training: one nat of mean log-probability weighs six times as much as similarity."""

PULL = 0.05
"""How strongly the head is held to the prior, a list: few lists say little."""

SCALE = np.array([2.0, 2.0, 0.3, 0.2, *(0.5 for _ in COLUMNS[4:])], dtype=np.float32)
"""About how much each feature differs within a list: what makes the weights comparable."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One question's statements: features (n, f), and whether each is right, (n,)."""

    database: str
    features: NDArray[np.float32]
    right: NDArray[np.bool_]


def judged(lists: Sequence[QuestionList], questions: Mapping[str, Item], reader: Reader) -> list[Judged]:
    """The lists of statements, without those that repeat another's words. `questions`: by their ids."""
    found = []
    for each in lists:
        said: dict[tuple[str, ...], Written] = {}
        for one in each.candidates:
            if words := phrases(one.sql):
                said.setdefault(words, one)
        if said:
            item = questions[each.id]
            scored = reader.scores([(item["question"], words) for words in said])
            known = features([one.known for one in said.values()], scored)
            beside = [[one.evidence.get(name, 0.0) for name in WEIGHTS] for one in said.values()]
            values = np.concatenate([known, np.array(beside, dtype=np.float32)], axis=1)
            right = np.array([one.right for one in said.values()])
            found.append(Judged(item["db"], values, right))
    return found


def contested(lists: Sequence[Judged]) -> list[Judged]:
    """Those that have a right and a wrong statement: only there an order matters."""
    return [each for each in lists if each.right.any() and not each.right.all()]


Weights = NDArray[np.float32]
"""One for each of `COLUMNS`."""


def fit(lists: Sequence[Judged], columns: Sequence[int], prior: Weights = PRIOR) -> Weights:
    """The weights, listwise: those of `columns`, the others as in the prior."""
    choices = [Choice(each.features.astype(np.float64), each.right) for each in lists]
    free = np.isin(np.arange(len(COLUMNS)), columns)
    return logit.fitted(choices, prior, 2 * PULL * len(lists) * SCALE**2, free).astype(np.float32)


Order = Callable[[Judged], NDArray[np.float32]]


def first_right(lists: Sequence[Judged], score: Order) -> float:
    """The share of lists whose first statement is right."""
    return float(np.mean([each.right[np.argmax(score(each))] for each in lists]))


EVERYTHING = tuple(range(len(COLUMNS)))


def _folded(
    lists: Sequence[Judged], columns: Sequence[int], prior: Weights
) -> Iterator[tuple[Judged, Weights]]:
    """Each list with weights that were fitted on other databases' lists."""
    databases = sorted({each.database for each in lists})
    for fold in range(FOLDS):
        here = set(databases[fold::FOLDS])
        weights = fit(contested([each for each in lists if each.database not in here]), columns, prior)
        yield from ((each, weights) for each in lists if each.database in here)


def fitted(
    lists: Sequence[Judged], prior: Weights = PRIOR, columns: Sequence[int] = EVERYTHING
) -> tuple[Weights, dict[str, float]]:
    """The weights, those of `columns` fitted on all the lists; and how often an order has a right statement first.

    By likelihood, by the network alone, and by weights that were fitted on other databases' lists.
    """
    crossed = {id(each): weights for each, weights in _folded(lists, columns, prior)}
    figures = {
        "by_logprob": first_right(lists, lambda each: each.features[:, 2]),
        "cross_encoder": first_right(lists, lambda each: each.features[:, 0] + each.features[:, 1]),
        "head": first_right(lists, lambda each: each.features @ crossed[id(each)]),
        "best_possible": first_right(lists, lambda each: each.right.astype(np.float32)),
        "lists": float(len(lists)),
    }
    return fit(contested(lists), columns, prior), figures


def main() -> int:
    """Prints the weights of the program, those fitted on the lists, and figures; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("--lists", type=Path, nargs="+", required=True, help="what training.lists wrote")
    options = made.parse_args()
    items = read_items(options.bench / TRAIN.file)
    kept = frozenset(left_out(items))
    unseen = {item["id"]: item for item in items if item["db"] in kept}
    arrays = dict(packaged_arrays(packaged(), NAME, FORMAT).arrays)
    now = np.array([*arrays.pop("head"), *WEIGHTS.values()], dtype=np.float32)
    known = [each for file in options.lists for each in read(file) if each.id in unseen]
    weights, figures = fitted(judged(known, unseen, CrossEncoder(arrays)), now)
    together = zip(COLUMNS, now.tolist(), weights.tolist(), strict=True)
    told({"weights": {name: [one, two] for name, one, two in together}, "figures": figures}, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
