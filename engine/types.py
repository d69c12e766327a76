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


LOAN_PARAMETER = "pgparley.loan"
"""The startup parameter in which a connection to a `SessionLoan` sends its token."""


@dataclass(frozen=True, slots=True)
class SessionLoan:
    """Where the engine borrows the asker's own session, as one connects to a server.

    `host`: an IP address, or the directory of a Unix socket. `token`: good until the request is answered; who has
    it may act as the asker.
    """

    host: str
    port: int
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: the role the upstream authenticated and the server database it is connected to.

    `session`: the way to that very session while the request is under way, None where it is not lent.
    """

    user: str
    dbname: str
    session: SessionLoan | None = None


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question in plain words. `k`: rows at most. `db`: only this catalog entry. `timeout`: seconds."""

    asker: Asker
    question: str
    k: int | None = None
    db: str | None = None
    coverage: float | None = None
    timeout: float | None = None
    run: bool = False
    """The answer is to be run where its set has one member, so the engine looks for a second one."""
    exclude: tuple[str, ...] = ()
    """Statements that were shown before and are not wanted again (`NL MORE`)."""


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


BECOMES = "\nbecomes\n"
"""Between the statement before and the one after, in the detail of a trace line about a rule."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One thing that a stage decided, and why, for `NL WHY` and `--json`."""

    stage: str
    event: str
    detail: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AskReply:
    """The outcome of a question.

    `members`: how many statements the set has from which `rows` shows the first k. One is what `NL RUN` runs.
    """

    qid: str
    rows: tuple[AnswerRow, ...]
    trace: tuple[TraceLine, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    members: int = 0


@dataclass(frozen=True, slots=True)
class ChooseRequest:
    """`NL CHOOSE n OF qid`. `learn`: a person chose, so that it is remembered as their choice.

    `in_transaction`: a statement of another database is refused with 25001 before it runs.
    """

    asker: Asker
    qid: str
    n: int
    learn: bool = True
    in_transaction: bool = False


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """`NL PLAN n OF qid`: how the server would carry the statement out. Answered by `Chosen`."""

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
    """The chosen statement, which is to be run in place in the asker's session, or which the engine ran as the asker.

    In the second case `columns` and `rows` (each value as PostgreSQL writes it in text format) hold the result;
    `truncated` says that there are more rows, `shortened` that values were cut, `own` that it ran in the asker's
    own database all the same.
    """

    database: str
    sql: str
    in_place: bool
    columns: tuple[ResultColumn, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    truncated: bool = False
    shortened: bool = False
    own: bool = False

    @property
    def elsewhere(self) -> bool:
        """Whether it belongs to another database than the asker's."""
        return not (self.in_place or self.own)


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """`NL SHOW [n] OF qid`: the stored answer again, or one row of it."""

    asker: Asker
    qid: str
    n: int | None = None


@dataclass(frozen=True, slots=True)
class MoreRequest:
    """`NL MORE OF qid`: the same question again, without what was shown. Answered by `AskReply`."""

    asker: Asker
    qid: str
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class CorrectRequest:
    """`NL CORRECT $$sql$$ OF qid`: the statement that would have been right.

    `db`: the catalog entry that it is for; without it the databases of the answer are tried. Answered by the
    stored row, of kind `verified`.
    """

    asker: Asker
    qid: str
    sql: str
    db: str | None = None


class Topic(StrEnum):
    """What a `TopicRequest` wants to know or to leave behind."""

    EXPLAIN = "explain"
    WHY = "why"
    PROMPT = "prompt"
    HISTORY = "history"
    FORGET = "forget"
    NONE = "none"


TOPIC_COLUMNS: dict[Topic, tuple[tuple[str, str], ...]] = {
    Topic.EXPLAIN: (("aspect", "text"), ("words", "text")),
    Topic.WHY: (("stage", "text"), ("event", "text"), ("detail", "text"), ("score", "float8")),
    Topic.PROMPT: (("call", "int4"), ("role", "text"), ("content", "text")),
    Topic.HISTORY: (
        ("asked_at", "timestamptz"),
        ("qid", "text"),
        ("question", "text"),
        ("rows", "int4"),
        ("chosen", "int4"),
        ("verdict", "text"),
    ),
    Topic.FORGET: (("forgotten", "int4"),),
    Topic.NONE: (("qid", "text"), ("noted", "text"), ("next", "text")),
}
"""Topic → (name, PostgreSQL type) of its columns: fixed, so that a statement can be described unasked."""


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """Something about an answer, or about the asker's questions. Answered by `RowSet`.

    `qid` None means all of the asker's (HISTORY, FORGET). `n`: a row (EXPLAIN), or rows at most (HISTORY).
    `text`: why (NONE).
    """

    asker: Asker
    topic: Topic
    qid: str | None = None
    n: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """A view of the console that the engine knows, by its name in lower case. Answered by `RowSet`."""

    name: str


Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class RowSet:
    """Rows of the columns that `TOPIC_COLUMNS` names for the topic asked about."""

    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A conversation as it went to the language model; `prefix` is the beginning of its answer."""

    system: str
    user: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error as a client will see it."""

    sqlstate: str
    message: str
    detail: str | None = None
    hint: str | None = None


EngineRequest = (
    AskRequest | ChooseRequest | ShowRequest | MoreRequest | PlanRequest | CorrectRequest | TopicRequest
)
"""A request of a session's NL statement."""
