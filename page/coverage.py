"""What the page asks of the engine, and coverage promised against observed as numbers for a template to draw.

Owns scales and marks. Both axes go from `LEAST` to 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class UnavailableError(Exception):
    """There is nothing to show now; the message says why."""


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """Coverage promised and observed at `k` candidates.

    Of `possible` held-out questions with a right statement `kept` show one: the share lies in `low` to `high` (95 %).
    `database` is None for all of them; `used`: the `k` in use.
    """

    k: int
    database: str | None
    promised: float
    points: int
    needed: int
    kept: int
    possible: int
    low: float
    high: float
    used: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """The calibration. `promised`: what answers promise by default; `stale`: points that count no more."""

    promised: float
    stale: int
    lines: tuple[CoverageLine, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """What a model is there for, and whether it answers. `address`: empty where the engine runs it; `can`: in words."""

    role: str
    name: str
    address: str
    state: str
    can: str


class RunningEngine(Protocol):
    """What the engine alone knows; `coverage` and `models` raise `UnavailableError`."""

    def explains(self, description: str) -> bool:
        """Whether a description says what codes mean, in a form that questions use."""
        ...

    async def coverage(self) -> Coverage:
        """The calibration now."""
        ...

    async def models(self) -> tuple[Model, ...]:
        """The models in use."""
        ...


SIZE = 360
"""Pixels of the square."""

LEFT, TOP = 56, 12
LEAST = 0.5
TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with its 95 % interval, in pixels. `low` to `high`: its ends, `high` above. `words`: what it says."""

    x: float
    y: float
    low: float
    high: float
    kept: bool
    words: str


def marks(lines: Iterable[CoverageLine]) -> tuple[Mark, ...]:
    """A mark for each line that was tested on anything; those of one promise stand side by side."""
    shown = [line for line in lines if line.possible and line.promised >= LEAST]
    seen: dict[float, int] = {}
    found = []
    for line in shown:
        beside = seen[line.promised] = seen.get(line.promised, -1) + 1
        observed = line.kept / line.possible
        found.append(
            Mark(
                *(
                    round(across(line.promised) + 7 * beside, 1),
                    down(observed),
                    down(line.low),
                    down(line.high),
                ),
                line.high >= line.promised,
                f"k {line.k}, {line.database or 'all databases'}: promised {line.promised:.0%},"
                f" observed {observed:.1%} ({line.kept} of {line.possible})",
            )
        )
    return tuple(found)


def across(share: float) -> float:
    """Where a promise stands."""
    return round(LEFT + (share - LEAST) / (1 - LEAST) * SIZE, 1)


def down(share: float) -> float:
    """Where an observed share stands; what is below the square is at its foot."""
    return round(TOP + (1 - max(share, LEAST)) / (1 - LEAST) * SIZE, 1)
