"""A statement that may answer, as the stages refine it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from engine.values import wording
from engine.values.elements import Literal
from engine.values.messages import BECOMES, TraceLine
from schema_catalog.types import ColumnKey, TableKey, Term


class RuleKind(StrEnum):
    """When a rule runs, and whether its statement replaces the given one or stands beside it.

    REPAIR replaces a statement that names or EXPLAIN refused. NORMALISE replaces one by an equivalent (NULL order
    aside). READING adds a likelier statement, BESIDE a less likely one. CORRECTION runs when a value that is compared
    with is not stored. REPETITION adds a likelier statement when the result has repeated rows. TAUGHT is no rule's: the
    statement was made of one that an asker wrote.
    """

    REPAIR = "repair"
    NORMALISE = "normalise"
    READING = "reading"
    BESIDE = "beside"
    CORRECTION = "correction"
    REPETITION = "repetition"
    TAUGHT = "taught"


_BY_ROWS = frozenset({RuleKind.CORRECTION, RuleKind.REPETITION})
"""What a look at the data gave rise to."""

_LIKELIER = {RuleKind.READING: 1, RuleKind.REPETITION: 1, RuleKind.BESIDE: -1}


@dataclass(frozen=True, slots=True)
class Change:
    """A rule's change of a statement. `how`: in words for the asker."""

    rule: str
    kind: RuleKind
    how: str
    before: str
    after: str

    @property
    def line(self) -> TraceLine:
        """What the trace says of it."""
        return TraceLine(
            "rewrite", f"{self.kind} {self.rule}: {self.how}", f"{self.before}{BECOMES}{self.after}"
        )


class On(StrEnum):
    """What a finding rests on, in the order in which findings are told.

    CATALOG: what a DBA says of what a statement reads, or has not said; it is told, and speaks against nothing.
    QUESTION: the question's own words. CALENDAR: the days that they mean. SCHEMA: keys, types and NULL. DATA: stored
    values. SERVER: that it refuses the statement.
    """

    CATALOG = "catalog"
    QUESTION = "question"
    CALENDAR = "calendar"
    SCHEMA = "schema"
    DATA = "data"
    SERVER = "server"


DEPRECATED = "deprecated"
"""The lint that says what a statement reads and should not."""

PAIRS_ROWS = "pairs_rows"
"""The lint that says which tables are joined by no key: seldom what was asked, and at times all that a schema has."""

AGAINST = frozenset({On.SCHEMA, On.CALENDAR, On.QUESTION})
"""What a finding speaks against a statement by."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a lint finds in a statement: what it `says` of it, in words, or the `fix` that it makes."""

    lint: str
    on: On
    says: str = ""
    fix: Change | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """The first rows of a statement's result as PostgreSQL writes them; `more`: there are others.

    `total`: rows in all, None where that is not known.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool = False
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """How a model came to a statement, and how likely it found it.

    `masked`: elements not allowed. `schema_score`: the weakest entity's best cosine in its masked schema (Odin §5.3).
    `logprob`: mean log-probability of its tokens, None where the model gives none or a rule changed the text. `forked`:
    the model did not write it as its answer but was near to it. `readings`: rule changes that make it likelier minus
    those that make it less likely, its own or a merged twin's.
    """

    masked: frozenset[ColumnKey] = frozenset()
    schema_score: float = 0.0
    logprob: float | None = None
    forked: bool = False
    readings: int = 0

    @property
    def likelihood(self) -> tuple[float, float]:
        """By what statements are sorted before more is known of them."""
        return self.schema_score, -math.inf if self.logprob is None else self.logprob


@dataclass(frozen=True, slots=True)
class Meaning:
    """A model's reading of a question, in its words: what it `says` and `assumes`.

    `place`: from 0 among the readings; None if a model gave no reading. `beside`: what became of the other readings.
    """

    place: int | None = None
    says: str = ""
    assumes: str = ""
    beside: tuple[str, ...] = ()

    def unshown(self, why: str) -> str:
        """What is said of it where it has no row."""
        return wording.NOT_SHOWN.format(self.says.rstrip("."), why)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against a statement, and what the asker is told of it.

    `tables`, `words`: tables, and values, names, terms and numbers of the question that it does not use; `used`: terms
    that it does. `findings`: what lints say of it. `linked`: linked columns that it does not read; `needless`: the
    probability that none of these is asked for. `unsaid`: for a reading, how many names and values it does not use.
    """

    tables: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    used: tuple[Term, ...] = ()
    findings: tuple[Finding, ...] = ()
    linked: tuple[str, ...] = ()
    needless: float = 1.0
    unsaid: int = 0

    @property
    def features(self) -> dict[str, float]:
        """What of it is weighed."""
        on = {each.on for each in self.findings}
        return {
            "needless": math.log(self.needless),
            "outdated": float(any(each.lint == DEPRECATED for each in self.findings)),
            "paired": float(any(each.lint == PAIRS_ROWS for each in self.findings)),
            "contradicted": float(On.QUESTION in on),
            "doubted": float(bool(on & {On.SCHEMA, On.CALENDAR})),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What the asker is told of the statement."""
        return tuple(dict.fromkeys(each.says for each in self.findings))

    @property
    def against(self) -> tuple[str, ...]:
        """All that speaks against it, for the trace."""
        unsaid, unread = ", ".join(self.tables + self.words), ", ".join(self.linked)
        return (
            *([wording.SAYS_NOTHING.format(unsaid)] if unsaid else []),
            *([f"leaves {unread} unread"] if unread else []),
            *(each.says for each in self.findings if each.on in AGAINST or each.lint == DEPRECATED),
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement that may answer.

    `tables`, `columns`, `cost`: read by it, and the planner's total cost (admit). `changes`: by rules, in order.
    `fruitless`: it ran without a value in its rows; `preview`: of its rows, None where it did not run (run).
    `missing`: texts that its columns do not hold (admit). `findings`: of the lints, None where they did not look yet
    (admit). `evidence`: what the question and the schema say of it
    (judge). `merged`: the statements that count as this one; `perhaps`: those that might give the same rows, not
    compared in time (run). `confidence` in [0, 1].
    """

    database: str
    sql: str
    tables: frozenset[TableKey] = frozenset()
    columns: frozenset[ColumnKey] = frozenset()
    cost: float | None = None
    origin: Origin = field(default_factory=Origin)
    meaning: Meaning = field(default_factory=Meaning)
    changes: tuple[Change, ...] = ()
    missing: tuple[Literal, ...] = ()
    fruitless: bool = False
    preview: Preview | None = None
    findings: tuple[Finding, ...] | None = None
    evidence: Evidence = field(default_factory=Evidence)
    merged: frozenset[str] = frozenset()
    perhaps: frozenset[str] = frozenset()
    confidence: float = 0.0
    explanation: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tables and columns that it reads."""
        return (*(table for _, table in self.tables), *(column for *_, column in self.columns))

    @property
    def standing(self) -> tuple[bool, float, float]:
        """The order before judging: what a rule made of a model's reading comes last."""
        return not self.is_twin, *self.origin.likelihood

    @property
    def is_twin(self) -> bool:
        """Whether a rule made it from a model's reading; it is shown behind that."""
        return self.meaning.place is not None and any(
            each.kind is not RuleKind.REPAIR for each in self.changes
        )

    @property
    def may_run_instead(self) -> bool:
        """Whether it could be meant instead of the first: then none of them runs unread."""
        likelier = (RuleKind.READING, RuleKind.CORRECTION)
        return not self.is_twin or any(each.kind in likelier for each in self.changes)

    @property
    def needs_proof(self) -> bool:
        """Whether it is a twin by keys or NULL, which is kept only if its rows differ from its reading's."""
        return self.is_twin and not any(each.kind in _BY_ROWS for each in self.changes)

    def telling(self, other: Candidate) -> Candidate:
        """It, with a note that `other` gives the same rows today; unchanged if that says the same."""
        says = other.meaning.says.rstrip(".")
        same = says and says.casefold() == self.meaning.says.rstrip(".").casefold()
        if same or not other.same_rows:
            return self
        return self.with_words(*other.same_rows, *other.meaning.beside)

    @property
    def same_rows(self) -> tuple[str, ...]:
        """What is said of it beside another reading that gives its rows; nothing of what a rule made."""
        says = self.meaning.says.rstrip(".")
        if self.meaning.place is None or self.is_twin:
            return ()
        return (wording.SAME_ROWS.format(says) if says else wording.SAME_ROWS_UNSAID,)

    def readings_with(self, other: Candidate) -> int:
        """The `readings` of both as one statement: none that changed nothing, else those of the likelier."""
        own = (self.origin.readings, other.origin.readings)
        return min(own, key=abs) if self._is_made_of(other) or other._is_made_of(self) else max(own)

    def _is_made_of(self, other: Candidate) -> bool:
        return not other.merged.union({other.sql}).isdisjoint(each.before for each in self.changes)

    def with_words(self, *told: str) -> Candidate:
        """It, with notes on other readings."""
        beside = tuple(dict.fromkeys((*self.meaning.beside, *told)))
        return replace(self, meaning=replace(self.meaning, beside=beside))

    def rewritten(self, sql: str, changes: tuple[Change, ...]) -> Candidate:
        """It with what rules made of its statement, unchecked: as likely as before only where it means the same."""
        same = all(change.kind is RuleKind.NORMALISE for change in changes)
        logprob = self.origin.logprob if same else None
        origin = replace(self.origin, readings=readings_among(changes), logprob=logprob)
        return replace(self, sql=sql, changes=changes, origin=origin, cost=None)


def change_lines(candidates: Iterable[Candidate]) -> list[TraceLine]:
    """What the trace says of what rules changed, each change once."""
    changes = dict.fromkeys(change for each in candidates for change in each.changes)
    return [each.line for each in changes]


def readings_among(changes: Iterable[Change]) -> int:
    """How many of a statement's changes made it mean something likelier, less those that made it less likely."""
    return sum(_LIKELIER.get(change.kind, 0) for change in changes)


def are_readings(candidates: Sequence[Candidate]) -> bool:
    """Whether a model gave them as readings of a question."""
    return any(each.meaning.place is not None for each in candidates)


def telling_unshown(shown: Sequence[Candidate], left: Iterable[Candidate], why: str) -> list[Candidate]:
    """Those `shown`; the first of a model's readings notes which readings were left out, and why."""
    said = [
        each.meaning.unshown(why)
        for each in left
        if each.meaning.place is not None and each.meaning.says and not each.is_twin
    ]
    first = next((each for each in shown if each.meaning.place is not None), None)
    return [each.with_words(*said) if said and each is first else each for each in shown]


def likelihoods(candidates: Sequence[Candidate]) -> list[float]:
    """The candidates' mean log-probabilities; for one that has none the mean of the others', 0 where none has any."""
    found = [each.origin.logprob for each in candidates]
    known = [each for each in found if each is not None]
    unknown = sum(known) / len(known) if known else 0.0
    return [unknown if each is None else each for each in found]
