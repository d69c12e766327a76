"""The one value that the pipeline's stages refine, and what they may call while doing so.

A stage is `async def stage(state: State, tools: Tools) -> State`: it returns a copy with its own fields set
and trace lines added. Owns no behaviour beyond that.

Long because the state and what its stages may call are one contract, which is read as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.calibration.conformal import Calibrated
from engine.calibration.points import Score
from engine.calibration.selection import Selection
from engine.conditions.types import Condition
from engine.errors import CancelledError
from engine.guard.rules import Rules
from engine.learning.types import Known, Learned
from engine.settings import LearningSettings, Limits, SelectionSettings
from engine.types import Asker, AskRequest, StageTiming, TraceLine, Usage
from schema_catalog.types import Database, ReadableColumns, Snapshot

ColumnKey = tuple[str, str, str]
"""(schema, table, column)."""

TableKey = tuple[str, str]
"""(schema, table)."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The one time budget of a question; `at` in seconds of `clock`, which is monotonic."""

    at: float
    clock: Callable[[], float] = time.monotonic

    def remaining(self) -> float:
        """Seconds left; raises `CancelledError` (57014) where none are."""
        left = self.at - self.clock()
        if left <= 0:
            raise CancelledError(
                "the question ran out of time", hint="Raise nl.timeout or ask for fewer rows with k."
            )
        return left


@dataclass(frozen=True, slots=True)
class Entity:
    """A phrase of the question and its similarity to each element of a schema, a cosine in [-1, 1].

    An element is a column, or with the column `*` a table as a whole.
    """

    text: str
    similarities: dict[ColumnKey, float]


class Relation(StrEnum):
    """How a column and the values of a link go together."""

    EQUALS = "="
    SUCH_AS = "such as"
    ONE_OF = "one of"


@dataclass(frozen=True, slots=True)
class ValueLink:
    """A part of the question and what it means in the database: values of one column, as stored there.

    `span`: as the question has it; empty where the column is asked for and these are all its values.
    `similarity` in [0, 1].
    """

    span: str
    column: ColumnKey
    values: tuple[str, ...]
    similarity: float
    relation: Relation


@dataclass(frozen=True, slots=True)
class Route:
    """A database that may answer, its schema as the asker may see it, and its tables, likeliest first.

    `probability`: that this database is the one, among all that the asker may read, in [0, 1]. `entities` and
    `values`: set by the link stage. `learned`: by the recall stage, which also adjusts the entities' similarities.
    """

    database: Database
    snapshot: Snapshot
    probability: float
    tables: tuple[TableKey, ...]
    entities: tuple[Entity, ...] = ()
    values: tuple[ValueLink, ...] = ()
    learned: Learned = field(default_factory=Learned)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement that may answer.

    `tables` and `columns`: what it reads of the catalog (the validate stage fills them). `masked`: what it was not
    allowed to name. `schema_score`: the
    weakest entity's best similarity in its masked schema (Odin §5.3). `logprob`: mean log-probability of its
    tokens, None where the model gives none and where a rule made this text of what the model wrote. `cost`: the
    planner's total cost. `confidence` in [0, 1]. `scores`: how badly it fits, by function (the select stage).
    `preference`: how far it agrees with what the asker has meant before, below zero where it contradicts (the prefer
    stage). `fruitless`: it ran and found nothing (the merge stage).
    """

    database: str
    sql: str
    tables: frozenset[TableKey] = frozenset()
    columns: frozenset[ColumnKey] = frozenset()
    masked: frozenset[ColumnKey] = frozenset()
    schema_score: float = 0.0
    logprob: float | None = None
    cost: float | None = None
    confidence: float = 0.0
    explanation: str = ""
    scores: tuple[Score, ...] = ()
    preference: float = 0.0
    fruitless: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """A question on its way through the pipeline.

    `k`: candidates at most. `calls`: model calls at most, repairs apart. `started`: by the deadline's clock.
    `verified`: what a person has said to answer this very question, where it still does; it stands apart from the
    candidates, which are selected from.
    """

    ask: AskRequest
    k: int
    calls: int
    deadline: Deadline
    started: float
    routes: tuple[Route, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    trace: tuple[TraceLine, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    usage: Usage = field(default_factory=Usage)
    selection: Selection | None = None
    verified: Candidate | None = None

    def noted(self, *lines: TraceLine) -> State:
        """A copy with `lines` added to the trace."""
        return replace(self, trace=self.trace + lines)


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


class NoValues:
    """Knows none."""

    async def links(self, question: str, route: Route, upstream: Upstream) -> tuple[ValueLink, ...]:  # noqa: ARG002 - the protocol's
        """None."""
        return ()

    async def prepare(self, databases: Sequence[Database]) -> None:
        """Nothing to load."""


class Conditions(Protocol):
    """Says what kind of statement a question asks for. Blocks: call it in a thread."""

    def predict(self, question: str, snapshot: Snapshot) -> tuple[Condition, ...]:
        """Compositions that were seen in training, likeliest first."""


class NoConditions:
    """Says nothing."""

    def predict(self, _question: str, _snapshot: Snapshot) -> tuple[Condition, ...]:
        """None."""
        return ()


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


def likelihoods(candidates: Sequence[Candidate]) -> list[float]:
    """The candidates' mean log-probabilities; for one that has none the mean of the others', 0 where none has any."""
    known = [each.logprob for each in candidates if each.logprob is not None]
    unknown = sum(known) / len(known) if known else 0.0
    return [unknown if each.logprob is None else each.logprob for each in candidates]


class ByLikelihood:
    """How likely the model found the statement, and how well its masked schema still represents the question.

    `sharpness`: how much one nat of mean log-probability weighs against similarity.
    """

    sharpness = 6.0

    def rank(self, _question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """See `Ranker.rank`."""
        return tuple(
            Ranking(self.sharpness * likelihood + each.schema_score)
            for each, likelihood in zip(candidates, likelihoods(candidates), strict=True)
        )


class Calibration(Protocol):
    """What is known of the scores of right candidates."""

    async def find(self, function: str, width: int) -> Calibrated:
        """Of one scoring function, at one number of candidates looked for; raises `StoreUnavailableError`."""


class NoCalibration:
    """Nothing is known: everything is shown."""

    async def find(self, _function: str, _width: int) -> Calibrated:
        """No scores."""
        return Calibrated()


class Memory(Protocol):
    """What was learned of users."""

    async def known(self, user: str, database: str) -> Known:
        """All that may count for `user` on `database`; raises `StoreUnavailableError`."""


class NoMemory:
    """Remembers nothing."""

    async def known(self, _user: str, _database: str) -> Known:
        """Nothing."""
        return Known()


@dataclass(frozen=True, slots=True)
class Tools:
    """What stages may call, and the limits of what they may spend."""

    catalog: Catalog
    upstream: Upstream
    encoder: Encoder
    model: LanguageModel
    router: Router
    calibration: Calibration = field(default_factory=NoCalibration)
    selection: SelectionSettings = field(default_factory=SelectionSettings)
    values: Values = field(default_factory=NoValues)
    memory: Memory = field(default_factory=NoMemory)
    learning: LearningSettings = field(default_factory=LearningSettings)
    limits: Limits = field(default_factory=Limits)
    conditions: Conditions = field(default_factory=NoConditions)
    ranker: Ranker = field(default_factory=ByLikelihood)
