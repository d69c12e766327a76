"""The stages' collaborators: a Protocol each, and the values that it gives.

Implementations name their Protocol; null objects are in `engine.values.tools`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.conditions import Condition
from engine.values.conformal import Calibrated
from engine.values.deadline import Deadline
from engine.values.elements import (
    ColumnContent,
    ColumnFacts,
    NearValues,
    SchemaLinks,
    TableSet,
    ValueLink,
    ValueList,
)
from engine.values.guard_rules import Rules
from engine.values.learned import AskerFeedback
from engine.values.messages import Asker, Usage
from engine.values.model_profile import ModelProfile
from engine.values.state import Route
from schema_catalog.types import ColumnKey, Database, ReadableColumns, Snapshot, TableKey


class Encoder(Protocol):
    """A sentence encoder."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension)."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an answer with its alternatives: texts and probabilities."""

    text: str
    others: tuple[tuple[str, float], ...]


Marks = tuple[tuple[str, str], ...]
"""(mark, the text that it stands for)."""


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer of a language model. Tokens by kind as in `Usage`; `logprob`: mean over the generated tokens.

    `tokens`: of the text, in order, where alternatives were requested and the model gives them. `refusal`: what the
    model said instead of an answer. `money`: as in `Usage`. `marks`: in the text, for what the model was not told.
    `sent`: what the one that answered was sent, where several might have.
    """

    text: str
    prefilled: int
    cached: int
    generated: int
    logprob: float | None
    finished: bool
    tokens: tuple[Token, ...] = ()
    refusal: str | None = None
    money: float = 0.0
    marks: Marks = ()
    sent: Prompt | None = None

    @property
    def usage(self) -> Usage:
        """Of this one call."""
        return Usage(1, self.prefilled, self.cached, self.generated, money=self.money)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation with the model. `prefix` is the beginning of its answer, to be continued.

    `begun`: what it has written behind that, of which a grammar takes notice. `asked`: the asker's own texts in it.
    `local`: it may hold something of a local database. `to`: whom it was sent to, once it was.
    """

    system: str
    user: str
    prefix: str = ""
    begun: str = ""
    asked: tuple[str, ...] = ()
    local: bool = False
    to: str = ""


@runtime_checkable
class Outgoing(Protocol):
    """A model that tells what it would be sent."""

    def outgoing(self, prompt: Prompt) -> Prompt:
        """What leaves of `prompt`, and to whom; raises as `complete` where nothing may. Blocks: call it in a thread."""


class LanguageModel(Protocol):
    """A chat model; every failure is an `NLError` (58000 unavailable, 57014 out of time)."""

    @property
    def profile(self) -> ModelProfile:
        """What the server can do, as far as it is known."""

    async def complete(
        self,
        prompt: Prompt,
        *,
        deadline: Deadline,
        max_tokens: int,
        grammar: str | None = None,
        others: int = 0,
        schema: Mapping[str, object] | None = None,
    ) -> Completion:
        """Continues `prompt`; `grammar` is a Lark grammar that the text (less `prefix`) must match.

        Neither `prefix` nor `begun` is repeated. Both are left out where the server does not go on with an answer.
        `schema`: a JSON schema for the answer, kept to where the profile says so; else it is any JSON, or any text.

        `others`: alternatives to report for each token.
        """

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """`answer` as if the model had begun so: its `logprob` tells how likely that is."""

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """Puts `prompt` into the prefix cache of a server that is ours; of another, finds out the profile."""


@dataclass(frozen=True, slots=True)
class Result:
    """Rows as PostgreSQL writes them in text format, with the columns' names and types (`format_type`).

    `truncated`: there are more rows. `shortened`: a value was cut.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | None, ...], ...]
    truncated: bool
    shortened: bool = False


class StatementError(Exception):
    """PostgreSQL refused a statement that ran for a user."""

    def __init__(
        self, sqlstate: str, message: str, detail: str | None, hint: str | None, position: int | None
    ) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.message = message
        self.detail = detail
        self.hint = hint
        self.position = position


class Upstream(Protocol):
    """The databases, as the asker: read-only, timed, with no rights but the asker's."""

    @property
    def overdue(self) -> int:
        """Statements that a server has not stopped at their deadline."""

    async def readable(
        self, database: Database, asker: Asker, snapshot: Snapshot | None = None
    ) -> ReadableColumns:
        """The columns that the asker may SELECT. Empty where the asker is nobody there, or may not connect.

        `snapshot`: what they are wanted for; an answer from before it does not count.
        """

    async def rules(self, database: Database) -> Rules:
        """The guard's rules for the server."""

    async def row_secured(self, database: Database) -> frozenset[TableKey]:
        """The tables of which roles see different rows (row-level security)."""

    async def session_timeout(self, asker: Asker) -> float | None:
        """Seconds that the `statement_timeout` of the asker's session allows; None where there is none."""

    async def is_own(self, database: Database, asker: Asker) -> bool:
        """Whether the asker's session is connected to this very database."""

    async def in_place(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> str | None:
        """`sql` as it may run in the asker's own session, None where it may not; raises `StatementError`."""

    async def explain(
        self, database: Database, asker: Asker, sql: str, deadline: Deadline, *, chosen: bool = False
    ) -> float:
        """The total cost of `sql`, in the planner's units; raises `StatementError`. `chosen`: as of `run`."""

    async def plan(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> tuple[str, ...]:
        """The lines of EXPLAIN in text format; raises `StatementError`."""

    async def run(
        self,
        database: Database,
        asker: Asker,
        sql: str,
        row_cap: int,
        deadline: Deadline,
        *,
        chosen: bool = False,
    ) -> Result:
        """Runs `sql` and gives at most `row_cap` rows; raises `StatementError`.

        `chosen`: the asker wants it run; else it is tried for a question, and counts against nobody.
        """


class Catalog(Protocol):
    """The registered databases and their newest snapshots."""

    async def entries(self) -> tuple[tuple[Database, Snapshot], ...]:
        """All of them, ordered by name."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well one database fits a question.

    `position`: its number among the views. `snapshot`: as the asker may see it. `logit`: comparable within a question.
    `evidence`: cosine of the question and its closest table or column. `words`: the question's words that stand in it.
    `tables`: those scored, best first; scores compare within the database. `retrieval`: the retrieval leg's part of
    `logit`. `sets`: decoded by the learned leg, likeliest first, in the likeliest databases alone. `reading`: the
    question as it was read for this database, where its words were synonyms; its `words` are of that.
    """

    position: int
    snapshot: Snapshot
    logit: float
    evidence: float
    words: tuple[str, ...]
    tables: tuple[tuple[TableKey, float], ...]
    retrieval: float = 0.0
    sets: tuple[TableSet, ...] = ()
    reading: str | None = None


class Router(Protocol):
    """Ranks databases for a question. Both methods block: call them in a thread."""

    def prepare(self, snapshots: Sequence[Snapshot]) -> None:
        """Encodes schemas ahead of the first question."""

    def rank(
        self, question: Question, views: Sequence[tuple[Snapshot, ReadableColumns]]
    ) -> tuple[Match, ...]:
        """The databases of which anything is readable, likeliest first."""


class Values(Protocol):
    """Stored values of columns that the DBA allowed."""

    async def links(self, question: Question, route: Route, upstream: Upstream) -> tuple[ValueLink, ...]:
        """The values that `question` names, of columns in `route`; raises `StoreUnavailableError`, `NLError`."""

    async def lists(self, route: Route, upstream: Upstream) -> tuple[ValueList, ...]:
        """Columns in `route` of few values with all of them, as they were when read; raises as `links`."""

    async def contents(self, route: Route, upstream: Upstream) -> tuple[ColumnContent, ...]:
        """What columns in `route` hold in JSON or as dates in texts; raises as `links`."""

    async def told(self, route: Route, upstream: Upstream) -> tuple[ColumnFacts, ...]:
        """What a prompt may say of every kept column in `route`, from the store alone; raises as `links`."""

    async def near(
        self, texts: Sequence[tuple[ColumnKey, str]], route: Route, upstream: Upstream, encoder: Encoder
    ) -> tuple[NearValues, ...]:
        """For each column and text that it does not hold the values that may be meant; raises as `links`."""

    async def holding(self, question: Question, databases: Sequence[str]) -> tuple[str, ...]:
        """Those of `databases` of which a stored value may be named by `question`, in their order; raises as `links`.

        Whoever asks may be allowed none of these values: `links` says which.
        """

    async def prepare(self, databases: Sequence[Database]) -> None:
        """Loads values ahead of the first question; raises `StoreUnavailableError`."""


class SchemaLinker(Protocol):
    """Decides which tables and columns a question is about (RTS §3). Blocks: call it in a thread."""

    def link(self, question: Question, snapshot: Snapshot) -> SchemaLinks | None:
        """The links into `snapshot`, which the asker may read; None where the schema does not fit the model."""


class Conditions(Protocol):
    """Predicts the kind of statement. Blocks: call it in a thread."""

    def predict(self, question: Question, snapshot: Snapshot) -> tuple[Condition, ...]:
        """Compositions that were seen in training, likeliest first."""


class Ranker(Protocol):
    """Reads candidates beside a question. Blocks: call it in a thread."""

    def rank(self, question: Question, candidates: Sequence[Candidate]) -> Sequence[float]:
        """What it says for each, in log-odds, in the order given."""


class Calibration(Protocol):
    """The scores of right candidates."""

    async def find(self, width: int) -> Calibrated:
        """At one number of candidates looked for; raises `StoreUnavailableError`."""


class Memory(Protocol):
    """The feedback of users."""

    async def known(self, user: str, database: str) -> AskerFeedback:
        """The feedback that counts for `user` on `database`; raises `StoreUnavailableError`."""
