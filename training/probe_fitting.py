"""Fits probes for branching points to decisions whose truth is known, and calibrates them.

Owns the optimiser, the folds by database, the choice of layers and aggregation, and the artifact's arrays. Which
questions are which part's, and which linker decides, is `training.branching`'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from benchmarks.quality.linking.linked import Linked
from benchmarks.quality.linking.metrics import extra_abstention_rate
from benchmarks.quality.roc import auc
from engine.schema_linking.branching import Aggregation, Detector, Kind, Promise, kind_of, level_of, levels
from engine.schema_linking.probes import (
    CONTEXT,
    Flags,
    Floats,
    Probes,
    assembled,
    at_most,
    inputs_of,
    question_scores,
)

FOLDS = 5
BATCH = 512
CHOSEN = (1, 3, 5, 7)
"""Numbers of layers that are tried."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How probes are trained. `directions`: principal ones of a layer's states that a probe sees, none: 0.

    `dropped`: share of the inputs, while training.
    """

    directions: int = 4
    width: int = 16
    epochs: int = 30
    rate: float = 6e-3
    decay: float = 1.0
    dropped: float = 0.0


@dataclass(frozen=True, slots=True)
class Collected:
    """Teacher-forced decisions of several questions. `given`: inputs of all layers' probes, (L, m, f), half precision.

    `branching`, `tables`: (m,). `questions`: each decision's, `places`: its place among that one's, (m,). `databases`:
    each question's.
    """

    given: NDArray[np.float16]
    branching: Flags
    tables: Flags
    questions: NDArray[np.int64]
    places: NDArray[np.int64]
    databases: tuple[str, ...]

    def of(self, kept: Flags) -> Collected:
        """The decisions of the questions that `kept`, (questions,), names; questions keep their numbers."""
        own = kept[self.questions]
        return replace(
            self,
            given=self.given[:, own],
            branching=self.branching[own],
            tables=self.tables[own],
            questions=self.questions[own],
            places=self.places[own],
        )


def collected(found: Iterable[Linked]) -> Collected:
    """The decisions in their order."""
    given, databases = [], []
    branching: list[bool] = []
    tables: list[bool] = []
    questions: list[int] = []
    places: list[int] = []
    for number, one in enumerate(found):
        decisions = [decision for decision, _ in one.forced]
        inputs = inputs_of(one.states, decisions, one.snapshot)
        given.append(assembled(inputs, np.arange(len(inputs.states))).astype(np.float16))
        branching += [wrong for _, wrong in one.forced]
        tables += [kind_of(decision) is Kind.TABLE for decision in decisions]
        questions += [number] * len(decisions)
        places += range(len(decisions))
        databases.append(one.question.database)
    return Collected(
        np.concatenate(given, axis=1),
        np.array(branching),
        np.array(tables),
        np.array(questions),
        np.array(places),
        tuple(databases),
    )


def trained(known: Collected, recipe: Recipe, seed: int) -> Probes:
    """A probe for every layer, rounded to half precision, in which they are kept.

    There are hundreds of numbers in a state and few databases to learn from: a probe sees a few directions of it.
    """
    torch.manual_seed(seed)
    whole = torch.from_numpy(known.given).float()
    views = torch.stack([_view(layer, recipe.directions) for layer in whole])
    given = whole @ views
    truth = torch.from_numpy(known.branching).float()
    mean = given.mean(1, keepdim=True)
    given -= mean
    layers, count, inputs = given.shape
    w1 = torch.nn.Parameter(torch.randn(layers, inputs, recipe.width) / inputs**0.5)
    b1 = torch.nn.Parameter(torch.zeros(layers, 1, recipe.width))
    w2 = torch.nn.Parameter(torch.randn(layers, recipe.width, 1) / recipe.width**0.5)
    b2 = torch.nn.Parameter(torch.full((layers, 1, 1), float(torch.logit(truth.mean()))))
    optimiser = torch.optim.AdamW([w1, b1, w2, b2], lr=recipe.rate, weight_decay=recipe.decay)
    steps = recipe.epochs * -(-count // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.rate, total_steps=steps)
    for _ in range(steps):
        chosen = torch.randint(count, (BATCH,))
        batch = functional.dropout(given[:, chosen], recipe.dropped)
        odds = (functional.relu(batch @ w1 + b1) @ w2 + b2)[..., 0]
        loss = functional.binary_cross_entropy_with_logits(odds, truth[chosen].expand_as(odds))
        optimiser.zero_grad()
        (loss * layers).backward()  # type: ignore[no-untyped-call]  # torch types it not
        optimiser.step()
        schedule.step()
    # The view and the mean go into the first weights.
    arrays = (views @ w1, (b1 - mean @ w1)[:, 0], w2[..., 0], b2[:, 0, 0])
    return Probes(np.arange(layers), *(_halves(each) for each in arrays))


def _view(layer: torch.Tensor, directions: int) -> torch.Tensor:
    """From a layer's inputs, (m, f), to what its probe sees: (f, directions + CONTEXT).

    The principal directions of the states, the first of unit variance, and each number of the context by its own.
    """
    states, context = layer[:, :-CONTEXT], layer[:, -CONTEXT:]
    view = torch.zeros(layer.shape[1], directions + CONTEXT)
    view[-CONTEXT:, directions:] = torch.diag(1 / context.std(0).clamp(min=1e-2))
    if directions:
        _, vectors = torch.linalg.eigh(torch.cov(states.T))
        first = (states @ vectors[:, -1]).std()
        view[:-CONTEXT, :directions] = vectors[:, -directions:] / first
    return view


def _halves(weights: torch.Tensor) -> NDArray[np.float32]:
    return weights.detach().numpy().astype(np.float16).astype(np.float32)


def out_of_fold(known: Collected, recipe: Recipe, seed: int) -> Floats:
    """P(branching point) by probes that were trained on other databases, (L, m)."""
    folds = np.array([_fold(name) for name in known.databases])
    found = np.zeros(known.given.shape[:2])
    for fold in range(FOLDS):
        held = folds == fold
        if held[known.questions].any():
            probes = trained(known.of(~held), recipe, seed)
            found[:, held[known.questions]] = probes.chances(known.of(held).given)
    return found


def _fold(database: str) -> int:
    return int(hashlib.sha256(f"fold:{database}".encode()).hexdigest(), 16) % FOLDS


@dataclass(frozen=True, slots=True)
class Choice:
    """Which layers, best first, and how they are put together. `extra`: decisions flagged in vain, of all."""

    layers: tuple[int, ...]
    aggregation: Aggregation
    extra: float


def choices(chances: Floats, known: Collected) -> list[Choice]:
    """Every number of layers with each aggregation, the least flagged in vain first.

    All at the threshold that flags nine branching points of ten, of tables and of columns.
    """
    best = np.argsort([-auc(layer, known.branching) for layer in chances], kind="stable")
    found = []
    for count in (each for each in CHOSEN if each <= len(best)):
        layers = tuple(int(layer) for layer in best[:count])
        scores = 1.0 - chances[list(layers)]
        of_layers = levels(scores, np.sort(scores[:, known.branching], axis=1))
        for aggregation in Aggregation:
            together = level_of(aggregation, of_layers, known.places)
            found.append(Choice(layers, aggregation, _extra(together, known)))
    return sorted(found, key=lambda choice: choice.extra)


def _extra(together: Floats, known: Collected) -> float:
    flagged = np.zeros(len(together), dtype=np.bool_)
    for own in (known.tables, ~known.tables):
        flagged |= own & (together <= at_most(together[own & known.branching], 0.9))
    return extra_abstention_rate(flagged, known.branching)


def calibration_of(detector: Detector, known: Collected) -> dict[str, Floats]:
    """The sorted levels of branching points by kind, and of questions."""
    chances = detector.probes.chances(known.given[detector.probes.layers])
    together = detector.aggregated(chances, known.places)
    kinds = {Kind.TABLE: known.tables, Kind.COLUMN: ~known.tables}
    found = {kind.value: together[own & known.branching] for kind, own in kinds.items()}
    found[Promise.QUESTION] = question_scores(together[known.branching], known.questions[known.branching])
    return {str(name): np.sort(scores) for name, scores in found.items()}


RECIPES = {
    "as chosen": Recipe(),
    "context alone": Recipe(directions=0),
    **{f"{count} directions": Recipe(directions=count) for count in (2, 8, 16)},
    "narrower": Recipe(width=8),
    "wider": Recipe(width=32),
    "fewer epochs": Recipe(epochs=10),
    "less decay": Recipe(decay=0.05),
    "some dropped": Recipe(dropped=0.1),
}


def compare(known: Collected, seed: int) -> Iterator[str]:
    """A line for each of `RECIPES`, by folds of the probe part."""
    for name, recipe in RECIPES.items():
        chances = out_of_fold(known, recipe, seed)
        tables, columns = (
            " ".join(f"{auc(layer[own], known.branching[own]):.3f}" for layer in chances)
            for own in (known.tables, ~known.tables)
        )
        best = choices(chances, known)[0]
        extra = f"{best.extra:.4f} by {best.aggregation} of {best.layers}"
        yield f"{name:14s} AUC tables {tables} columns {columns}; EAR at .9 {extra}"


def artifact(
    probes_part: Collected, calibration_part: Collected, recipe: Recipe, seed: int
) -> tuple[dict[str, NDArray[Any]], dict[str, float]]:
    """The arrays, and figures by folds of the probe part."""
    chances = out_of_fold(probes_part, recipe, seed)
    choice = choices(chances, probes_part)[0]
    probes = trained(probes_part, recipe, seed)
    scores = 1.0 - chances[list(choice.layers)]
    reference = np.sort(scores[:, probes_part.branching], axis=1)
    detector = Detector(probes.only(choice.layers), reference, choice.aggregation)
    weights = {name: getattr(probes, name).astype(np.float16) for name in ("w1", "b1", "w2", "b2")}
    arrays: dict[str, NDArray[Any]] = {
        "layers": probes.layers.astype(np.uint8),
        **weights,
        "chosen": np.array(choice.layers, dtype=np.uint8),
        "aggregation": np.array(choice.aggregation.value),
        "reference": reference,
        **calibration_of(detector, calibration_part),
        "databases": np.array(sorted(set(calibration_part.databases))),
    }
    figures = {f"auc_layer_{n}": auc(layer, probes_part.branching) for n, layer in enumerate(chances)}
    figures["auc"] = float(np.mean([auc(chances[n], probes_part.branching) for n in choice.layers]))
    figures["extra_abstention_at_0.9"] = choice.extra
    figures["branching_share"] = float(probes_part.branching.mean())
    return arrays, figures
