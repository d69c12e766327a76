"""Short interleaved rounds and what they come to.

Owns the order of runs, dropping the rounds that others disturbed, and medians of per-round ratios. One round of a
cell runs every system once, in shuffled order, within a few seconds, so that slow drifts of the machine hit all.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from benchmarks.harness.intervals import Figure, median
from benchmarks.harness.machine import busy
from benchmarks.wire.cells import Cell, Sample
from benchmarks.wire.systems import Server, System

_SETTLE = 0.15
"""Seconds between runs, in which the server's processes of the last end."""
_LOOK = 0.5
"""Seconds over which others are watched before a round."""
_PATIENCE = 60.0
"""Seconds that a round waits for others to become quiet."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`rounds` clean rounds a cell, `most` rounds altogether; a run's foreign share above `noise` spoils its round."""

    rounds: int
    most: int
    seconds: float
    noise: float
    seed: int


@dataclass(frozen=True, slots=True)
class Round:
    """One round of one cell. `order`: the systems as they ran; `foreign`: the greatest share of a run."""

    order: tuple[str, ...]
    samples: dict[str, Sample]
    foreign: float
    noisy: bool


@dataclass(slots=True)
class Series:
    """The rounds of one cell."""

    cell: str
    rounds: list[Round] = field(default_factory=list)

    @property
    def clean(self) -> list[Round]:
        """Those that nobody disturbed."""
        return [one for one in self.rounds if not one.noisy]

    def ratio(self, over: str, under: str, value: Callable[[Sample], float | None]) -> Figure | None:
        """`value` of system `over` by that of `under`, round by round; None where one was not measured."""
        pairs = [(one.samples.get(over), one.samples.get(under)) for one in self.clean]
        values = [(value(a), value(b)) for a, b in pairs if a is not None and b is not None]
        return median([a / b for a, b in values if a and b])

    def median(self, system: str, value: Callable[[Sample], float | None]) -> float | None:
        """The median of `value` over the clean rounds."""
        found = [value(one.samples[system]) for one in self.clean if system in one.samples]
        known = [number for number in found if number is not None]
        return statistics.median(known) if known else None


def run(
    server: Server,
    systems: Sequence[System],
    cells: Sequence[Cell],
    plan: Plan,
    tell: Callable[[str, Collection[Series]], None],
) -> None:
    """Runs rounds until every cell has enough clean ones, or as many as may be; `tell` gets all of them after each."""
    draw = random.Random(plan.seed)  # noqa: S311 - an order, no secret
    series = {cell.name: Series(cell.name) for cell in cells}
    for number in range(1, plan.most + 1):
        lacking = [cell for cell in cells if len(series[cell.name].clean) < plan.rounds]
        if not lacking:
            break
        for cell in draw.sample(lacking, len(lacking)):
            made = _round(server, draw.sample(list(systems), len(systems)), cell, plan)
            series[cell.name].rounds.append(made)
            dropped = " (dropped)" if made.noisy else ""
            tell(f"round {number}: {cell.name}, foreign {made.foreign:.1%}{dropped}", series.values())


def _wait_for_quiet(roots: list[int], noise: float) -> None:
    """Lets others finish what they do, up to a point: a round that is dropped is dearer than a pause."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        before = busy(roots)
        time.sleep(_LOOK)
        if before.foreign_share(busy(roots)) <= noise:
            return


def _round(server: Server, order: list[System], cell: Cell, plan: Plan) -> Round:
    roots = [os.getpid(), server.pid, *(pid for system in order for pid in system.pids)]
    samples: dict[str, Sample] = {}
    foreign = 0.0
    _wait_for_quiet(roots, plan.noise)
    for system in order:
        time.sleep(_SETTLE)
        before = busy(roots)
        samples[system.name] = cell.run(server, system, plan.seconds)
        foreign = max(foreign, before.foreign_share(busy(roots)))
    return Round(tuple(system.name for system in order), samples, foreign, noisy=foreign > plan.noise)
