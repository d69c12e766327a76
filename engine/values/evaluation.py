"""The requests and replies between `pgparley eval` and the engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.values.calibration import KnownQuestion, Source
from engine.values.messages import Asker


class Verdict(StrEnum):
    """What became of a question."""

    FIRST = "first right"
    IN_SET = "right in the set"
    WRONG = "wrong"
    ASKED_BACK = "asked back"
    REFUSED = "refused"
    FAILED = "failed"
    """The question ended with an error."""
    UNJUDGED = "not judged"
    """Its known statement gives no reference result. It counts in no share."""


@dataclass(frozen=True, slots=True)
class EvaluateRequest:
    """A question with the statement that answers it, to be asked as `asker`.

    `named`: the asker names the database; else they are only connected to it. `k`: rows at most.
    `trial`: the name of a trial whose catalog counts, else the stored one. `source`: that of a calibration point that
    is to be kept; None: nothing is.
    """

    asker: Asker
    question: str
    database: str
    sql: str
    k: int | None = None
    named: bool = False
    trial: str | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class EvaluateReply:
    """`detail`: why; `sql`: the first shown; `rank`: of the first right one; `seconds`: without the judging."""

    verdict: Verdict
    detail: str = ""
    sql: str | None = None
    shown: int = 0
    rank: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """Asks for the catalog as it would be after a file of knowledge was imported. `name`: the file's, for messages."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class TrialReply:
    """`trial`: what questions name it by. `changes`, and what it defines that is `refused`, are lines to show."""

    trial: str
    changes: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """Asks for stored questions whose answer is known. `database`: only this one's.

    `feedback`: what askers corrected or chose, in place of the catalog's verified queries.
    """

    database: str | None = None
    feedback: bool = False


@dataclass(frozen=True, slots=True)
class KnownQuestions:
    """The reply to a `KnownRequest`, in the order of their databases."""

    questions: tuple[KnownQuestion, ...]
