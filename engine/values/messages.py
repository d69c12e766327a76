"""The requests and replies of the engine's interface: frozen dataclasses that msgspec encodes as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from engine.values.session_loan import SessionLoan


class RowKind(StrEnum):
    """The `kind` column of an answer."""

    CANDIDATE = "candidate"
    VERIFIED = "verified"
    OPTION = "option"
    ABSTAIN = "abstain"


class OnDoubt(StrEnum):
    """What becomes of statements that passed every check and are probably not what was asked.

    They are shown with the doubt in their explanations, a question is asked back first, or there is no answer.
    """

    SHOW = "show"
    ASK = "ask"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One row of an answer: the fixed shape that every client sees, in the column order of the fields."""

    n: int
    kind: RowKind
    database: str | None
    confidence: float | None
    explanation: str
    sql: str | None
    next: str | None
    qid: str


ANSWER_COLUMNS: tuple[tuple[str, str], ...] = (
    ("n", "int4"),
    ("kind", "text"),
    ("database", "text"),
    ("confidence", "float8"),
    ("explanation", "text"),
    ("sql", "text"),
    ("next", "text"),
    ("qid", "text"),
)
"""(name, PostgreSQL type) of the fields of `AnswerRow`, in order."""


BEHALF = " → "
"""Between a role and the person for whom it asks."""


@dataclass(frozen=True, slots=True)
class Asker:
    """The role that the upstream authenticated and its server database. `session`: None where it is not lent.

    `person`: for whom the role says that it asks; nobody has proved it.
    """

    user: str
    dbname: str
    session: SessionLoan | None = None
    person: str = ""

    @property
    def owner(self) -> str:
        """Whose the questions are, and what is learned of them: a text for each role, and each person behind it."""
        login = self.user.replace("→", "→→")
        return f"{login}{BEHALF}{self.person}" if self.person else login


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
    """For `NL RUN`: runs where the set has one member, so the engine looks for a second one."""
    exclude: tuple[str, ...] = ()
    """Statements that are not to be shown again (`NL MORE`)."""
    ask: bool = True
    """Whether a question back may be the answer (`nl.ask`)."""
    on_doubt: OnDoubt | None = None
    """None: as `[dialogue]` has it."""
    send: bool = False
    """Whether the asker agrees to be named to stewards with it, where it comes to nothing (`nl.send`)."""
    after: str | None = None
    """The qid of the session's last answer, with which a follow-up is read; None: there is none to read it with."""


@dataclass(frozen=True, slots=True)
class StageTiming:
    """Wall seconds that one stage took."""

    stage: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Usage:
    """The language model's work for one question: calls, and tokens by kind.

    `prefilled`: prompt tokens computed. `cached`: prompt tokens found in the model's prefix cache.
    `generated`: tokens sampled. Seconds count from the question's arrival. `money`: by the configured prices.
    """

    calls: int = 0
    prefilled: int = 0
    cached: int = 0
    generated: int = 0
    first_candidate_seconds: float | None = None
    money: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Both together; the first candidate's seconds are this one's."""
        return Usage(
            self.calls + other.calls,
            self.prefilled + other.prefilled,
            self.cached + other.cached,
            self.generated + other.generated,
            self.first_candidate_seconds,
            self.money + other.money,
        )


BECOMES = "\nbecomes\n"
"""Between the statement before and the one after, in the detail of a trace line about a rule."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A decision of a stage, for `NL WHY` and `--json`."""

    stage: str
    event: str
    detail: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AskReply:
    """The outcome of a question.

    `members`: statements of the set, of which `rows` shows the first k. `NL RUN` runs a set of one. `notices`: what the
    asker is told beside the rows. `databases`: by which it was answered, or which came nearest, likeliest first.
    `key`: of all that shaped it, for the same question once more; empty where it is not to be given again.
    """

    qid: str
    rows: tuple[AnswerRow, ...]
    trace: tuple[TraceLine, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    members: int = 0
    notices: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True, slots=True)
class PersonalPart:
    """What in a prompt is personal data, of a `kind` of `schema_catalog.personal`; `why` it is there."""

    kind: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class PromptReply:
    """What a model would be sent first for a question, and whom that is. `tokens`: about."""

    system: str
    user: str
    tokens: int
    personal: tuple[PersonalPart, ...] = ()
    to: str = ""


@dataclass(frozen=True, slots=True)
class ChooseRequest:
    """`NL CHOOSE n OF qid`. `learn`: a person chose, so that it is stored as feedback.

    `timeout`: seconds. `anyway`: whatever it costs.
    """

    asker: Asker
    qid: str
    n: int
    learn: bool = True
    timeout: float | None = None
    anyway: bool = False


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """`NL PLAN n OF qid`: the statement's EXPLAIN. Answered by `Chosen`."""

    asker: Asker
    qid: str
    n: int
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A result column: its name and a type that every PostgreSQL has (others are given as text)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen statement: to be run in the asker's session (`in_place`), or run by the engine as the asker.

    Then `columns` and `rows`, values in text format, hold the result; `truncated`: there are more rows; `shortened`:
    values were cut; `own`: it ran in the asker's own database. `costs`: what the asker is told of them, if anything.
    """

    database: str
    sql: str
    in_place: bool
    columns: tuple[ResultColumn, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    truncated: bool = False
    shortened: bool = False
    own: bool = False
    costs: str = ""

    @property
    def elsewhere(self) -> bool:
        """Whether it ran in another database than the asker's."""
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
class AnswerRequest:
    """`NL ANSWER n | $$text$$ OF qid`: the asker's answer to a question back. Answered by `AskReply`, with a new qid.

    Either `n`, the number of an option, or `text`, in the asker's own words.
    """

    asker: Asker
    qid: str
    n: int | None = None
    text: str | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class NoneRequest:
    """`NL NONE [SEND] [$$why$$] OF qid`: nothing that was shown is right.

    Answered by `AskReply`, with a new qid: other statements, or a question back. `send`: as of `AskRequest`.
    """

    asker: Asker
    qid: str
    why: str | None = None
    timeout: float | None = None
    send: bool = False


@dataclass(frozen=True, slots=True)
class CorrectRequest:
    """`NL CORRECT $$sql$$ OF qid`: the right statement. Answered by the stored row, of kind `verified`.

    `db`: the catalog entry that it is for; without it the databases of the answer are tried.
    """

    asker: Asker
    qid: str
    sql: str
    db: str | None = None
    timeout: float | None = None


class Topic(StrEnum):
    """The subject of a `TopicRequest`."""

    EXPLAIN = "explain"
    WHY = "why"
    PROMPT = "prompt"
    HISTORY = "history"
    FORGET = "forget"
    HELP = "help"


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
    Topic.HELP: (("command", "text"), ("description", "text")),
}
"""Topic → (name, PostgreSQL type) of its columns: fixed, so that Describe needs no engine."""


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """A topic of an answer, or of the asker's questions. Answered by `RowSet`.

    `qid` None means all of the asker's (HISTORY, FORGET), or none (HELP, whose rows are questions to ask).
    `n`: a row (EXPLAIN), or rows at most (HISTORY).
    """

    asker: Asker
    topic: Topic
    qid: str | None = None
    n: int | None = None


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
class ErrorReply:
    """An error as a client will see it."""

    sqlstate: str
    message: str
    detail: str | None = None
    hint: str | None = None


QuestionRequest = AskRequest | AnswerRequest | NoneRequest | MoreRequest
"""A request that asks the model, or may."""

EngineRequest = (
    AskRequest
    | AnswerRequest
    | NoneRequest
    | ChooseRequest
    | ShowRequest
    | MoreRequest
    | PlanRequest
    | CorrectRequest
    | TopicRequest
)
"""A request of a session's NL statement."""
