"""What `pgparley calibrate` and the engine say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.types import Asker


class Outcome(StrEnum):
    """What came of a question that was to be judged."""

    RIGHT = "right"
    WRONG = "wrong"
    KNOWN = "known"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A question with the statement that answers it, to be asked as `asker` on `database` and judged.

    `identity`: the question's id, which decides to which split it belongs. `source`: of `engine.calibration.store`.
    `again`: also where it was judged before. `named`: the asker names the database; else they are only connected to it.
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
    """`detail`: why it was skipped. `candidates`: that could be shown. `rank`: of the first right one, from 1."""

    outcome: Outcome
    detail: str = ""
    candidates: int = 0
    rank: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PairsRequest:
    """The questions of which the store knows what answers them. `source`: `verified` or `choice`."""

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
    """How things stand; `coverages`: 1 - alpha of each line, the configured one where there are none."""

    coverages: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One scoring function at one number of candidates and one promise.

    `points` that calibrate, of `needed`; `threshold` None where they are too few, or it is infinite. Of the `tested`
    questions, which took no part, `possible` have a right candidate, `kept` of those have one that conforms
    (95 %: `kept_low` to `kept_high`), `right` show a right one. `shown` and `generated`: candidates of them
    altogether. `group`: of questions of one database alone, None for all.
    """

    function: str
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
class Status:
    """`selecting_by`: the function in use, and `k` where the asker sets none. `sources`: judged questions by source.

    `stale`: points that count no more, because the model, a prompt, or their database's schema has changed.
    `chosen`: users' choices from whole answers at `k` that took no part in calibrating; `chosen_inside` of them
    conform.
    """

    selecting_by: str
    k: int
    coverage: float
    sources: tuple[tuple[str, int], ...]
    stale: int
    chosen: int
    chosen_inside: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The reply to a `PairsRequest`."""

    pairs: tuple[KnownPair, ...]
