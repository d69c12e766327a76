"""Fits the weights of the rank stage on lists of statements that the engine had to rank, and measures orders of them.

    python -m training.ranker_head --bench FOLDER --lists FILE    for the packaged network, where it had no say

Owns the lists' features, the fit by cross-validation over databases, and the figures. The weights are the ranker's head
and those of `engine.ranking.evidence`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.ablations.drawing import TRAIN, left_out
from benchmarks.quality.candidates.questions import Item, read_items
from engine.models.cross import CrossEncoder
from engine.models.encoder import MiniLMEncoder
from engine.models.packaged import read as packaged_arrays
from engine.ranking.evidence import WEIGHTS
from engine.ranking.ranker import FEATURES, FORMAT, NAME, Reader, cosines, features, packaged, phrases
from training.ranker_lists import QuestionList, Written, read

COLUMNS = (*FEATURES, *WEIGHTS)
"""Of the lists' features: the head's, then the evidence's."""

PRIOR = np.array([0.0, 0.0, 6.0, 1.0, 0.0, *WEIGHTS.values()], dtype=np.float32)
"""The weights without training: one nat of mean log-probability weighs six times as much as similarity."""

FOLDS = 5
PULL = 0.05
"""How strongly the head is held to the prior, a list: few lists say little."""

SCALE = np.array([2.0, 2.0, 0.3, 0.2, *(0.5 for _ in COLUMNS[4:])], dtype=np.float32)
"""About how much each feature differs within a list: what makes the weights comparable."""

STEPS, RATE = 2_000, 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """One question's statements: features (n, f), the first stage's cosines and whether each is right, (n,)."""

    database: str
    near: NDArray[np.float32]
    features: NDArray[np.float32]
    right: NDArray[np.bool_]


def judged(lists: Sequence[QuestionList], questions: Mapping[str, Item], reader: Reader) -> list[Judged]:
    """The lists of statements, without those that repeat another's words. `questions`: by their ids."""
    encoder = MiniLMEncoder()
    found = []
    for each in lists:
        said: dict[tuple[str, ...], Written] = {}
        for one in each.candidates:
            if words := phrases(one.sql):
                said.setdefault(words, one)
        if said:
            item = questions[each.id]
            near = cosines(item["question"], list(said), encoder)
            scored = reader.scores([(item["question"], words) for words in said])
            known = features([one.known for one in said.values()], scored)
            beside = [[one.evidence.get(name, 0.0) for name in WEIGHTS] for one in said.values()]
            values = np.concatenate([known, np.array(beside, dtype=np.float32)], axis=1)
            right = np.array([one.right for one in said.values()])
            found.append(Judged(item["db"], near, values, right))
    return found


def contested(lists: Sequence[Judged]) -> list[Judged]:
    """Those that have a right and a wrong statement: only there an order matters."""
    return [each for each in lists if each.right.any() and not each.right.all()]


Weights = NDArray[np.float32]
"""One for each of `COLUMNS`."""


def fit(lists: Sequence[Judged], columns: Sequence[int], prior: Weights = PRIOR) -> Weights:
    """The weights, listwise: those of `columns`, the others as in the prior."""
    weights = prior = prior * SCALE
    free = np.isin(np.arange(len(COLUMNS)), columns)
    moment, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        gradient = 2 * PULL * (weights - prior)
        for each in lists:
            gradient = gradient + _gradient(each, weights) / len(lists)
        gradient = np.where(free, gradient, 0.0)
        moment, square = 0.9 * moment + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        corrected = moment / (1 - 0.9**step), square / (1 - 0.999**step)
        weights = weights - RATE * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
    result: NDArray[np.float32] = (weights / SCALE).astype(np.float32)
    return result


def _gradient(each: Judged, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of the negative log-probability that a statement drawn by its score is right."""
    scaled = each.features / SCALE
    scores = scaled @ weights
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    among = chances * each.right / max(float((chances * each.right).sum()), 1e-12)
    found: NDArray[np.float32] = scaled.T @ (chances - among)
    return found


Order = Callable[[Judged], NDArray[np.float32]]


def measured(lists: Sequence[Judged], score: Order) -> dict[str, float]:
    """Accuracy of the first and mean reciprocal rank, a list without a right statement counting 0."""
    ranks = []
    for each in lists:
        order = np.argsort(-score(each), kind="stable")
        places = np.flatnonzero(each.right[order])
        ranks.append(int(places[0]) + 1 if len(places) else 0)
    return {
        "acc1": float(np.mean([rank == 1 for rank in ranks])),
        "mrr": float(np.mean([1 / rank if rank else 0.0 for rank in ranks])),
    }


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


def _crossed(lists: Sequence[Judged], columns: Sequence[int], prior: Weights) -> dict[str, float]:
    found = {id(each): weights for each, weights in _folded(lists, columns, prior)}
    return measured(lists, lambda each: each.features @ found[id(each)])


def fitted(
    lists: Sequence[Judged], prior: Weights = PRIOR, columns: Sequence[int] = EVERYTHING
) -> tuple[Weights, dict[str, float]]:
    """The weights, those of `columns` fitted on all the lists, and figures of the orders there are."""
    systems = {
        "as_found": measured(lists, lambda each: -np.arange(len(each.right), dtype=np.float32)),
        "by_logprob": measured(lists, lambda each: each.features[:, 2]),
        "by_prior": measured(lists, lambda each: each.features @ prior),
        "first_stage": measured(lists, lambda each: each.near),
        "cross_encoder": measured(lists, lambda each: each.features[:, 0] + each.features[:, 1]),
        "whole_alone": measured(lists, lambda each: each.features[:, 0]),
        "phrases_alone": measured(lists, lambda each: each.features[:, 1]),
        "head": _crossed(lists, range(len(FEATURES)), prior),
        "head_and_evidence": _crossed(lists, EVERYTHING, prior),
        "head_without_cross_encoder": _crossed(lists, EVERYTHING[2:], prior),
        "best_possible": measured(lists, lambda each: each.right.astype(np.float32)),
    }
    figures = {f"{name}_{key}": value for name, each in systems.items() for key, value in each.items()}
    figures |= {"lists": float(len(lists)), "lists_contested": float(len(contested(lists)))}
    return fit(contested(lists), columns, prior), figures


def main() -> int:
    """Prints the weights of the program, those fitted on the lists, and figures; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="the data's folder")
    parser.add_argument("--lists", type=Path, required=True, help="what training.ranker_lists wrote")
    options = parser.parse_args()
    items = read_items(options.bench / TRAIN.file)
    kept = frozenset(left_out(items))
    unseen = {item["id"]: item for item in items if item["db"] in kept}
    arrays = dict(packaged_arrays(packaged(), NAME, FORMAT).arrays)
    now = np.array([*arrays.pop("head"), *WEIGHTS.values()], dtype=np.float32)
    lists = judged([each for each in read(options.lists) if each.id in unseen], unseen, CrossEncoder(arrays))
    weights, figures = fitted(lists, now)
    for name, one, two in zip(COLUMNS, now, weights, strict=True):
        sys.stdout.write(f"{name}: {one:.3f} -> {two:.3f}\n")
    sys.stdout.write(json.dumps({key: round(value, 4) for key, value in figures.items()}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
