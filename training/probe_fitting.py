"""Fits probes for branching points to decisions whose truth is known, and calibrates them.

Owns the optimiser, the folds by database, the choice of layers and aggregation, and the artifact's arrays. Which
questions are which part's, and which linker decides, is `training.branching`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from benchmarks.harness.drawing import FOLDS, fold_of
from benchmarks.harness.intervals import auc
from benchmarks.quality.linking.decided import Decisions, together
from benchmarks.quality.linking.linked import Linked
from engine.schema_linking.branching import Aggregation, Detector, Kind, level_of, levels
from engine.schema_linking.linker import Decision
from engine.schema_linking.probes import (
    CONTEXT,
    Flags,
    Floats,
    Probes,
    assembled,
    at_most,
    inputs_of,
)

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
    """Teacher-forced decisions of several questions, with what all layers' probes are given, in half precision.

    `databases`: each question's.
    """

    decisions: Decisions
    databases: tuple[str, ...]

    def of(self, kept: Flags) -> Decisions:
        """The decisions of the questions that `kept`, (questions,), names; questions keep their numbers."""
        return self.decisions.of(kept[self.decisions.questions])


def collected(found: Sequence[Linked]) -> Collected:
    """The decisions in their order."""

    def given(one: Linked, decisions: Sequence[Decision]) -> Floats:
        inputs = inputs_of(one.states, decisions, one.snapshot)
        return assembled(inputs, np.arange(len(inputs.states))).astype(np.float16)

    made = together(found, [one.forced for one in found], given)
    return Collected(made, tuple(one.question.database for one in found))


def trained(known: Decisions, recipe: Recipe, seed: int) -> Probes:
    """A probe for every layer, rounded to half precision, in which they are kept.

    There are hundreds of numbers in a state and few databases to learn from: a probe sees a few directions of it.
    """
    torch.manual_seed(seed)
    whole = torch.from_numpy(known.told).float()
    views = torch.stack([_view(layer, recipe.directions) for layer in whole])
    given = whole @ views
    truth = torch.from_numpy(known.wrong).float()
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
    folds = np.array([fold_of(name, "fold:") for name in known.databases])
    found = np.zeros(known.decisions.told.shape[:2])
    for fold in range(FOLDS):
        held = folds == fold
        here = held[known.decisions.questions]
        if here.any():
            found[:, here] = trained(known.of(~held), recipe, seed).chances(known.of(held).told)
    return found


@dataclass(frozen=True, slots=True)
class Choice:
    """Which layers, best first, and how they are put together. `extra`: decisions flagged in vain, of all."""

    layers: tuple[int, ...]
    aggregation: Aggregation
    extra: float


def choices(chances: Floats, known: Decisions) -> list[Choice]:
    """Every number of layers with each aggregation, the least flagged in vain first.

    All at the threshold that flags nine branching points of ten, of tables and of columns.
    """
    best = np.argsort([-auc(layer, known.wrong) for layer in chances], kind="stable")
    found = []
    for count in (each for each in CHOSEN if each <= len(best)):
        layers = tuple(int(layer) for layer in best[:count])
        scores = 1.0 - chances[list(layers)]
        of_layers = levels(scores, np.sort(scores[:, known.wrong], axis=1))
        for aggregation in Aggregation:
            level = level_of(aggregation, of_layers, known.places)
            found.append(Choice(layers, aggregation, _extra(level, known)))
    return sorted(found, key=lambda choice: choice.extra)


def _extra(level: Floats, known: Decisions) -> float:
    flagged = np.zeros(len(level), dtype=np.bool_)
    for own in (known.tables, ~known.tables):
        flagged |= own & (level <= at_most(level[own & known.wrong], 0.9))
    return float((flagged & ~known.wrong).mean())


def calibration_of(detector: Detector, known: Decisions) -> dict[str, Floats]:
    """The sorted levels of branching points by kind."""
    chances = detector.probes.chances(known.told[detector.probes.layers])
    level = detector.aggregated(chances, known.places)
    kinds = {Kind.TABLE: known.tables, Kind.COLUMN: ~known.tables}
    return {kind.value: np.sort(level[own & known.wrong]) for kind, own in kinds.items()}


def artifact(
    probes_part: Collected, calibration_part: Collected, recipe: Recipe, seed: int
) -> tuple[dict[str, NDArray[Any]], dict[str, float]]:
    """The arrays, and figures by folds of the probe part."""
    known = probes_part.decisions
    chances = out_of_fold(probes_part, recipe, seed)
    choice = choices(chances, known)[0]
    probes = trained(known, recipe, seed)
    scores = 1.0 - chances[list(choice.layers)]
    reference = np.sort(scores[:, known.wrong], axis=1)
    detector = Detector(probes.only(choice.layers), reference, choice.aggregation)
    weights = {name: getattr(probes, name).astype(np.float16) for name in ("w1", "b1", "w2", "b2")}
    arrays: dict[str, NDArray[Any]] = {
        "layers": probes.layers.astype(np.uint8),
        **weights,
        "chosen": np.array(choice.layers, dtype=np.uint8),
        "aggregation": np.array(choice.aggregation.value),
        "reference": reference,
        **calibration_of(detector, calibration_part.decisions),
        "databases": np.array(sorted(set(calibration_part.databases))),
    }
    figures = {f"auc_layer_{n}": auc(layer, known.wrong) for n, layer in enumerate(chances)}
    figures["auc"] = float(np.mean([auc(chances[n], known.wrong) for n in choice.layers]))
    figures["extra_abstention_at_0.9"] = choice.extra
    figures["branching_share"] = float(known.wrong.mean())
    return arrays, figures
