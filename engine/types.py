"""The values that travel between the gateway, the engine and its stages.

Owns the requests and replies of the engine's interface and the state that the pipeline's stages refine.
Every type is a frozen dataclass that msgspec encodes as JSON; none knows how it was made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class RowKind(StrEnum):
    """The `kind` column of an answer."""

    CANDIDATE = "candidate"
    VERIFIED = "verified"
    OPTION = "option"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One row of an answer: the fixed shape that every client sees, in the column order of the fields."""

    n: int
    kind: RowKind
    database: str | None
    confidence: float | None
    sql: str | None
    explanation: str
    next: str | None
    qid: str


ANSWER_COLUMNS: tuple[tuple[str, str], ...] = (
    ("n", "int4"),
    ("kind", "text"),
    ("database", "text"),
    ("confidence", "float8"),
    ("sql", "text"),
    ("explanation", "text"),
    ("next", "text"),
    ("qid", "text"),
)
"""(name, PostgreSQL type) of the fields of `AnswerRow`, in order."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: the role the upstream authenticated and the server database it is connected to."""

    user: str
    dbname: str


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question in plain words. `k`: rows at most. `db`: only this catalog entry. `timeout`: seconds."""

    asker: Asker
    question: str
    k: int | None = None
    db: str | None = None
    coverage: float | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class StageTiming:
    """Wall seconds that one stage took."""

    stage: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Usage:
    """What the language model did for one question: calls, and tokens by kind.

    `prefilled`: prompt tokens computed. `cached`: prompt tokens found in the model's prefix cache.
    `generated`: tokens sampled. Seconds count from the question's arrival.
    """

    calls: int = 0
    prefilled: int = 0
    cached: int = 0
    generated: int = 0
    first_candidate_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One thing that a stage decided, and why, for `NL WHY` and `--json`."""

    stage: str
    event: str
    detail: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AskReply:
    """The outcome of a question."""

    qid: str
    rows: tuple[AnswerRow, ...]
    trace: tuple[TraceLine, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ChooseRequest:
    """`NL CHOOSE n OF qid`."""

    asker: Asker
    qid: str
    n: int


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A result column: its name and a type that every PostgreSQL has (others are given as text)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen statement. Where it belongs to the asker's own database it is to be run in place.

    Elsewhere the engine ran it as the asker: `columns` and `rows` (each value as PostgreSQL writes it in
    text format) hold the result, `truncated` says that the row cap cut it.
    """

    database: str
    sql: str
    in_place: bool
    columns: tuple[ResultColumn, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """`NL SHOW [n] OF qid`: the stored answer again, or one row of it."""

    asker: Asker
    qid: str
    n: int | None = None


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error as a client will see it."""

    sqlstate: str
    message: str
    detail: str | None = None
    hint: str | None = None
