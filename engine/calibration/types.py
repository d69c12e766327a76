"""The requests and replies between `pgparley calibrate` and the engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.types import Asker


class Outcome(StrEnum):
    """The outcome of labelling a question."""

    RIGHT = "right"
    WRONG = "wrong"
    KNOWN = "known"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A question with the statement that answers it, to be asked as `asker` on `database` and labelled.

    `identity`: the question's id, which decides its split. `source`: an `engine.calibration.store.Source`. `again`:
    also where it has a point. `named`: the asker names the database; else they are only connected to it.
    """

    asker: Asker
    identity: str
    question: str
    database: str
    sql: str
    source: str = "file"
    k: int | None = None
    again: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """`detail`: why it was skipped. `candidates`: how many there are. `rank`: of the first right one, from 1."""

    outcome: Outcome
    detail: str = ""
    candidates: int = 0
    rank: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PairsRequest:
    """Asks for the stored questions with a known answer. `source`: `verified` or `choice`."""

    source: str


@dataclass(frozen=True, slots=True)
class KnownPair:
    """A question with the statement that answers it. `identity` decides its split; `user`: who asked."""

    identity: str
    question: str
    database: str
    sql: str
    user: str


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


@dataclass(frozen=True, slots=True)
class Pairs:
    """The reply to a `PairsRequest`."""

    pairs: tuple[KnownPair, ...]
