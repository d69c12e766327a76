"""What the page shows that the store does not say by itself: the calibration, as the engine reckons it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class UnavailableError(Exception):
    """There is nothing to show now; the message says why."""


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """Coverage promised and observed, by one score at `k` candidates.

    Of `possible` held-out questions with a right statement `kept` show one: the share lies in `low` to `high` (95 %).
    `database` is None for all of them; `used`: the score and `k` in use.
    """

    score: str
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


class CoverageSource(Protocol):
    """Where the calibration is known."""

    async def coverage(self) -> Coverage:
        """The calibration now; raises `UnavailableError`."""
        ...
