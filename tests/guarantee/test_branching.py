"""The promise about branching points, measured on decisions whose truth is known, and broken on purpose.

Figures are means over many calibrations with their standard error; `FAR` of those decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.quality.linking.abstaining import Decisions, Flags, Floats, flagged
from engine.values.conformal import quantile

TRIALS, FAR = 60, 4.0
ALPHAS = (0.05, 0.2)
RARE = 0.05
"""The share of branching points."""

Calibrate = Callable[[Decisions, Decisions, float], Flags]


def drawn(random: np.random.Generator, n: int) -> Decisions:
    """Questions of eight decisions, some of them hard; wrong ones are closer, those about tables most of all."""
    difficulty = random.normal(size=n // 8).repeat(8)
    wrong = random.random(n) < RARE * np.exp(1.2 * difficulty - 0.72)
    tables = random.random(n) < 0.4
    margins = np.abs(random.normal(np.where(wrong, 0.5, 3.0), np.where(tables, 0.5, 1.5)))
    return Decisions(margins, wrong, tables, np.arange(n) // 8)


@dataclass(frozen=True)
class Share:
    """A mean over trials, with its standard error."""

    mean: float
    error: float

    def keeps(self, promised: float) -> bool:
        return self.mean >= promised - FAR * self.error


def share(calibrate: Calibrate, alpha: float, own: Callable[[Decisions], Flags]) -> Share:
    """How often a branching point among `own` is flagged."""

    def measure(seed: int) -> float:
        random = np.random.default_rng(seed)
        known, asked = drawn(random, 2_400), drawn(random, 2_400)
        return float(calibrate(known, asked, alpha)[asked.wrong & own(asked)].mean())

    shares = [measure(seed) for seed in range(TRIALS)]
    return Share(float(np.mean(shares)), float(np.std(shares, ddof=1) / np.sqrt(TRIALS)))


def over_all_decisions(known: Decisions, asked: Decisions, alpha: float) -> Flags:
    """The paper's: a quantile of one nonconformity score over all decisions (RTS §3.2.2)."""

    def chance(margins: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(margins)))

    chances = chance(known.margins)
    most = quantile(np.where(known.wrong, 1 - chances, chances), 1 - alpha)
    assert most is not None
    return np.asarray(1 - chance(asked.margins) <= most)


KINDS: dict[str, Callable[[Decisions], Flags]] = {
    "tables": lambda asked: asked.tables,
    "columns": lambda asked: ~asked.tables,
    "all": lambda asked: np.ones_like(asked.tables),
}


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("own", KINDS.values(), ids=KINDS)
def test_of_branching_points_one_less_alpha_is_flagged(
    own: Callable[[Decisions], Flags], alpha: float
) -> None:
    found = share(flagged, alpha, own)
    assert found.keeps(1 - alpha)
    assert found.mean < 1 - alpha + 0.03


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_threshold_over_all_decisions_misses_most_of_the_rare_ones(alpha: float) -> None:
    found = share(over_all_decisions, alpha, KINDS["all"])
    assert not found.keeps(1 - alpha)
    assert found.mean < 0.7
