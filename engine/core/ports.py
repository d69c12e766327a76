"""What stages may call: a Protocol for each collaborator, and the values that it gives.

Owns no behaviour. Implementations name their Protocol; those that do nothing are in `engine.core.defaults`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.calibration.conformal import Calibrated
from engine.conditions.types import Condition
from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.elements import ValueLink
from engine.core.state import Route
from engine.guard.rules import Rules
from engine.learning.types import Known
from engine.types import Asker
from schema_catalog.types import Database, ReadableColumns, Snapshot, TableKey


class Encoder(Protocol):
    """A sentence encoder."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension)."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an answer, and what the model would have written in its place: texts and their probabilities."""

    text: str
    others: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a language model wrote. Tokens by kind as in `Usage`; `logprob`: mean over the generated tokens.

    `tokens`: those of the text in order, where others were asked for and the model tells them.
    """

    text: str
    prefilled: int
    cached: int
    generated: int
    logprob: float | None
    finished: bool
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """How likely the model found each of the texts that it was offered: natural logarithms, in their order.

    One that is too unlikely to be reported has the least that was reported; None throughout where the model reported
    none of them. Tokens by kind as in `Usage`.
    """

    logprobs: tuple[float | None, ...]
    prefilled: int
    cached: int
    generated: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation with the model. `prefix` is the beginning of its answer, to be continued."""

    system: str
    user: str
    prefix: str = ""


class LanguageModel(Protocol):
    """A chat model; every failure is an `NLError` (58000 unavailable, 57014 out of time)."""

    @property
    def grammars(self) -> bool:
        """Whether `grammar` is honoured."""

    async def complete(
        self,
        prompt: Prompt,
        *,
        deadline: Deadline,
        max_tokens: int,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        others: int = 0,
    ) -> Completion:
        """Continues `prompt`; `grammar` is a Lark grammar that the text (less `prefix`) must match.

        `seed`: where the temperature is above zero, the same one gives the same answer. `others`: of how many tokens
        to tell for each that was written how likely they were in its place.
        """

    async def weigh(self, prompt: Prompt, options: Sequence[str], *, deadline: Deadline) -> Weighed:
        """How likely each of `options` is as the first token of the answer, leading white space aside."""

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """Has the server compute `prompt` now, so that later prompts that begin alike need not."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What EXPLAIN says: the planner's total cost (its units) and rows, and the result's column names."""

    cost: float
    rows: float


@dataclass(frozen=True, slots=True)
class Result:
    """Rows as PostgreSQL writes them in text format, with the columns' names and types (`format_type`).

    `truncated`: there are more rows. `shortened`: a value is longer than it is here.
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
        """How many statements a server has not stopped at their deadline."""

    async def readable(self, database: Database, asker: Asker) -> ReadableColumns:
        """The columns that the asker may SELECT. Empty where the asker is nobody there, or may not connect."""

    async def rules(self, database: Database) -> Rules:
        """What the guard knows of the server."""

    async def row_secured(self, database: Database) -> frozenset[TableKey]:
        """The tables of which roles see different rows (row-level security)."""

    async def is_own(self, database: Database, asker: Asker) -> bool:
        """Whether the asker's session is connected to this very database."""

    async def in_place(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> str | None:
        """`sql` as it may run in the asker's session itself, None where it may not; raises `StatementError`."""

    async def explain(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> Plan:
        """Plans `sql`; raises `StatementError`."""

    async def plan(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> tuple[str, ...]:
        """The lines of EXPLAIN in text format; raises `StatementError`."""

    async def run(
        self, database: Database, asker: Asker, sql: str, row_cap: int, deadline: Deadline
    ) -> Result:
        """Runs `sql` and gives at most `row_cap` rows; raises `StatementError`."""


class Catalog(Protocol):
    """The registered databases and their newest snapshots."""

    async def entries(self) -> tuple[tuple[Database, Snapshot], ...]:
        """All of them, ordered by name."""


@dataclass(frozen=True, slots=True)
class TableSet:
    """Tables that were decoded together, in that order.

    `probability`: given the database. `state`: the decoder's hidden state when the set was complete, (h,).
    """

    tables: tuple[TableKey, ...]
    probability: float
    state: NDArray[np.float32] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Match:
    """How well one database fits a question.

    `position`: its place among the views that were ranked. `snapshot`: as the asker may see it. `logit`:
    comparable among the matches of one question. `evidence`: cosine of the question and the closest of its
    tables and columns. `words`: the question's words that stand in it. `tables`: all that were scored, best
    first; their scores compare within this database. `retrieval`: the part of `logit` that words and whole-text
    vectors account for, all of it where nothing was learned. `sets`: what the learned leg decoded, likeliest
    first; it searches the likeliest databases alone.
    """

    position: int
    snapshot: Snapshot
    logit: float
    evidence: float
    words: tuple[str, ...]
    tables: tuple[tuple[TableKey, float], ...]
    retrieval: float = 0.0
    sets: tuple[TableSet, ...] = ()


class Router(Protocol):
    """Ranks databases for a question. Both methods block: call them in a thread."""

    def prepare(self, snapshots: Sequence[Snapshot]) -> None:
        """Encodes schemas ahead of the first question."""

    def rank(self, question: str, views: Sequence[tuple[Snapshot, ReadableColumns]]) -> tuple[Match, ...]:
        """The databases of which anything is readable, likeliest first."""


class Values(Protocol):
    """Values that stand in the databases, where the DBA allowed that."""

    async def links(self, question: str, route: Route, upstream: Upstream) -> tuple[ValueLink, ...]:
        """What parts of `question` mean in `route`'s database; only of columns that `route` shows."""

    async def prepare(self, databases: Sequence[Database]) -> None:
        """Loads values ahead of the first question."""


class Conditions(Protocol):
    """Says what kind of statement a question asks for. Blocks: call it in a thread."""

    def predict(self, question: str, snapshot: Snapshot) -> tuple[Condition, ...]:
        """Compositions that were seen in training, likeliest first."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well a candidate says what the question says.

    `score`: in log-odds, comparable among the candidates of one call. `first`, `second`: what the stages of ranking
    gave, None where one did not see it.
    """

    score: float
    first: float | None = None
    second: float | None = None


class Ranker(Protocol):
    """Scores candidates against a question. Blocks: call it in a thread."""

    def rank(self, question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """A ranking each, in the order given."""


class Calibration(Protocol):
    """What is known of the scores of right candidates."""

    async def find(self, function: str, width: int) -> Calibrated:
        """Of one scoring function, at one number of candidates looked for; raises `StoreUnavailableError`."""


class Memory(Protocol):
    """What was learned of users."""

    async def known(self, user: str, database: str) -> Known:
        """All that may count for `user` on `database`; raises `StoreUnavailableError`."""
