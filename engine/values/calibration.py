"""Questions whose answer is known, and how a calibration by them stands, as it is asked of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where a judged question comes from: a file, what a DBA or an asker said is right, a user's choice."""

    FILE = "file"
    VERIFIED = "verified"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question with the statement that answers it. `user`: who asked it; empty: nobody in particular."""

    question: str
    database: str
    sql: str
    user: str = ""
    source: Source = Source.FILE


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """Asks for the status. `coverages`: the values of 1 - alpha; without any the configured one."""

    coverages: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One number of candidates at one coverage.

    `points` that calibrate, of `needed`; `threshold` is None where they are too few or it is infinite. Of the `tested`
    held-out questions `possible` have a right candidate, `kept` of those one that conforms (95 %: `kept_low` to
    `kept_high`), `right` show a right one. `shown` and `generated`: their candidates, summed. `group`: the database,
    None for all.
    """

    k: int
    coverage: float
    group: str | None
    points: int
    needed: int
    threshold: float | None
    tested: int
    possible: int
    kept: int
    kept_low: float
    kept_high: float
    right: int
    shown: int
    generated: int


@dataclass(frozen=True, slots=True)
class BaseStatus:
    """The calibration that came with the program, for the default `k` and coverage.

    `points`: its scores; 0 where it is switched off, or made with another model or other settings. Of the `known` right
    statements here its threshold keeps `kept`. `counts`: whether it selects now.
    """

    points: int
    known: int
    kept: int
    counts: bool


@dataclass(frozen=True, slots=True)
class Status:
    """`enabled`: whether anything is selected. `k`: where the asker sets none. `sources`: judged questions by source.

    `stale`: points that count no more, since the recipe or their schema has changed. `chosen`: held-out choices from
    whole answers at `k`; `chosen_inside` of them conform.
    """

    enabled: bool
    k: int
    coverage: float
    sources: tuple[tuple[str, int], ...]
    stale: int
    chosen: int
    chosen_inside: int
    base: BaseStatus
    lines: tuple[Line, ...]
