"""The promises about branching points, measured on decisions whose truth is known: RTS's theorems, and our own.

Layers are independent, share most of what they see, or are all the same one. Figures are means over many
calibrations with their standard error; `FAR` of those decide. Each promise is also broken on purpose, and found broken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.quality.linking.prediction_sets import (
    Thresholds,
    majority,
    marginal,
    nonconformity,
    permuted,
)
from engine.schema_linking.branching import levels, majority_level, orders, permuted_level
from engine.schema_linking.probes import Flags, Floats, at_most

LAYERS, TRIALS, FAR = 5, 60, 4.0
SHARED = {"independent": 0.0, "dependent": 0.8, "the same": 1.0}
"""How much of what a layer sees all of them see."""

ALPHAS = (0.05, 0.2)
RARE = 0.05
"""The share of branching points."""


@dataclass(frozen=True)
class Drawn:
    """P(branching point) by layer, (LAYERS, n), and the truth, (n,)."""

    chances: Floats
    branching: Flags

    def right(self, sets: Flags) -> Flags:
        """Whether the sets, (..., n, 2), hold the true label."""
        return np.where(self.branching, sets[..., 1], sets[..., 0])


def drawn(random: np.random.Generator, n: int, shared: float) -> Drawn:
    """Questions of eight decisions, some of them hard."""
    difficulty = random.normal(size=n // 8).repeat(8)
    branching = random.random(n) < RARE * np.exp(1.2 * difficulty - 0.72)
    common, own = random.normal(size=n), random.normal(size=(LAYERS, n))
    seen = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    odds = np.where(branching, 2.5, 0.0) + seen - 3.0
    return Drawn(1 / (1 + np.exp(-odds)), branching)


Measure = Callable[[np.random.Generator], float]


@dataclass(frozen=True)
class Share:
    """A mean over trials, with its standard error."""

    mean: float
    error: float

    def keeps(self, promised: float) -> bool:
        return self.mean >= promised - FAR * self.error


def share(measure: Measure) -> Share:
    found = [measure(np.random.default_rng(seed)) for seed in range(TRIALS)]
    return Share(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(TRIALS)))


Calibrate = Callable[[Floats, Flags, float], Thresholds]


def of_sets(
    shared: float, alpha: float, put_together: Callable[[Flags], Flags], calibrate: Calibrate
) -> Share:
    """How often the aggregate of the layers' sets at 1 - alpha holds the true label."""

    def measure(random: np.random.Generator) -> float:
        known, asked = drawn(random, 600, shared), drawn(random, 600, shared)
        sets = calibrate(known.chances, known.branching, 1 - alpha).sets(asked.chances)
        return float(asked.right(put_together(sets)).mean())

    return share(measure)


def along(sets: Flags) -> Flags:
    return permuted(sets, orders(LAYERS, np.arange(sets.shape[1])))


def never_calibrated(chances: Floats, branching: Flags, coverage: float) -> Thresholds:
    """A layer's set is the likelier label."""
    return Thresholds(np.full((len(chances), 2), 0.5))


# -- RTS's theorems


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("theta", [0.0, 0.5])
@pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)
def test_theorem_1_a_majority_holds_the_true_label(shared: float, theta: float, alpha: float) -> None:
    found = of_sets(shared, alpha, lambda sets: majority(sets, theta), marginal)
    assert found.keeps(1 - alpha / (1 - theta))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)
def test_theorem_3_a_permutation_holds_the_true_label(shared: float, alpha: float) -> None:
    assert of_sets(shared, alpha, along, marginal).keeps(1 - 2 * alpha)


def worst(random: np.random.Generator, n: int, alpha: float) -> Flags:
    """Sets that hold the true label, 0, with 1 - alpha each, and miss it three at a time: theorem 1's worst case."""
    missed = random.random(n) < alpha * LAYERS / 3
    which = np.argsort(random.random((LAYERS, n)), axis=0) < 3
    return np.stack([~(missed & which), np.ones((LAYERS, n), dtype=np.bool_)], axis=-1)


def test_theorem_1_is_about_as_tight_as_it_says() -> None:
    """Of five layers the worst case misses alpha · 5/3, within theorem 1's 2 alpha and more than alpha."""

    def missed(random: np.random.Generator) -> float:
        return float(1 - majority(worst(random, 2_000, 0.1))[:, 0].mean())

    found = share(missed)
    assert found.mean == pytest.approx(0.1 * 5 / 3, abs=FAR * found.error)


def test_theorem_3_holds_in_the_worst_case_and_less_than_each_layer_s_share_is_kept() -> None:
    """Why the aggregate is calibrated as a whole: sets at 1 - alpha leave up to 2 alpha."""

    def kept(random: np.random.Generator) -> float:
        return float(along(worst(random, 2_000, 0.1))[:, 0].mean())

    found = share(kept)
    assert found.keeps(0.8)
    assert not found.keeps(0.9)


@pytest.mark.parametrize("put_together", [majority, along])
def test_sets_that_were_not_calibrated_break_the_theorems(put_together: Callable[[Flags], Flags]) -> None:
    """At alpha = 0.01: the likelier label is wrong more often than theorems 1 and 3 allow."""
    found = of_sets(1.0, 0.01, put_together, never_calibrated)
    assert not found.keeps(1 - 0.02)


@pytest.mark.parametrize("layers", [3, 5, 9])
def test_theorem_2_and_the_permutation_s_sets_are_no_larger(layers: int) -> None:
    """|C^theta| ≤ Σ|C_i| / (n theta), and |C^pi| ≤ |C^theta| at theta = 1/2, for any sets."""
    random = np.random.default_rng(layers)
    sets = random.random((layers, 4_000, 2)) < random.random((1, 4_000, 1))
    sizes = sets.sum(axis=(0, 2))
    for theta in (0.2, 0.5, 0.8):
        assert (majority(sets, theta).sum(axis=1) <= sizes / (layers * theta) + 1e-12).all()
    whole, ordered = majority(sets), permuted(sets, orders(layers, np.arange(sets.shape[1])))
    assert not (ordered & ~whole).any()
    assert ordered.sum() < whole.sum()


# -- the rare class


def on_branching(shared: float, alpha: float, calibrate: Calibrate) -> Share:
    """How often a layer's set holds 1, of branching points alone."""

    def measure(random: np.random.Generator) -> float:
        known, asked = drawn(random, 2_000, shared), drawn(random, 2_000, shared)
        sets = calibrate(known.chances, known.branching, 1 - alpha).sets(asked.chances)
        return float(sets[:, asked.branching, 1].mean())

    return share(measure)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_marginal_sets_do_not(alpha: float) -> None:
    """They keep their own promise, over all decisions, and miss most of the rare ones."""
    assert of_sets(0.8, alpha, lambda sets: sets[0], marginal).keeps(1 - alpha)
    found = on_branching(0.8, alpha, marginal)
    assert not found.keeps(1 - alpha)
    assert found.mean < 0.7


# -- the aggregate, calibrated as a whole


Level = Callable[[Floats], Floats]


def along_levels(of_layers: Floats) -> Floats:
    return permuted_level(of_layers, orders(LAYERS, np.arange(of_layers.shape[1])))


def aggregate(shared: float, alpha: float, level: Level) -> Share:
    """How often a branching point is flagged."""

    def measure(random: np.random.Generator) -> float:
        parts = [drawn(random, n, shared) for n in (1_200, 2_400, 2_400)]
        reference = np.sort(nonconformity(parts[0].chances)[..., 1][:, parts[0].branching])
        known, asked = (level(levels(1 - part.chances, reference))[part.branching] for part in parts[1:])
        return float((asked <= at_most(known, 1 - alpha)).mean())

    return share(measure)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("level", [majority_level, along_levels])
@pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)
def test_the_aggregate_keeps_one_less_alpha_on_branching_points(
    shared: float, level: Level, alpha: float
) -> None:
    found = aggregate(shared, alpha, level)
    assert found.keeps(1 - alpha)
    assert found.mean < 1 - alpha + 0.03
