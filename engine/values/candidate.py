"""A statement that may answer, as the stages refine it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from engine.values.elements import Literal
from engine.values.messages import BECOMES, TraceLine
from schema_catalog.types import ColumnKey, TableKey, Term


class RuleKind(StrEnum):
    """When a rule runs, and what becomes of the statement that it was given.

    A REPAIR runs on what names or EXPLAIN refused. A NORMALISE gives a statement with the same rows, but for what
    no question means, and replaces. A READING means something else: it adds a candidate beside the one that it was
    made of, a likelier one; so does what is BESIDE, a less likely one. A CORRECTION runs where a look at the data
    showed that a statement compares with what is not there, a REPETITION where its rows, run, repeat each other; it
    adds a candidate as a READING does.
    """

    REPAIR = "repair"
    NORMALISE = "normalise"
    READING = "reading"
    BESIDE = "beside"
    CORRECTION = "correction"
    REPETITION = "repetition"


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
    it is no answer that the model gave by itself, but one of its forks. `readings`: how many of its changes, or of
    those of a statement with its rows, say something likelier than what the model wrote, less those that say something
    less likely.
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
    """Of one of the readings that a model gave of a question, in its words: what it `says`, what it takes for granted.

    `place`: from 0, among these; None of what is no such reading. `beside`: what became of other readings, in words.
    """

    place: int | None = None
    says: str = ""
    assumes: str = ""
    beside: tuple[str, ...] = ()

    def unshown(self, why: str) -> str:
        """What is said of it where it has no row."""
        return f"not shown: \u201c{self.says.rstrip('.')}\u201d, since {why}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What of the question a statement says nothing of: tables, and values, names, terms and numbers; the terms `used`.

    `findings`: what lints say of it. `linked`: columns that the schema linker has linked, and that it leaves unread;
    `needless`: the probability that none of these is asked for. `unsaid`: of a reading, how many of the
    question's names and values it says nothing of.
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
            "unsaid": float(bool(self.tables or self.words)),
            "outdated": float(any(each.lint == DEPRECATED for each in self.findings)),
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
            *([f"says nothing of {unsaid}"] if unsaid else []),
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
    (judge). `confidence` in [0, 1].
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
    confidence: float = 0.0
    explanation: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tables and columns that it reads."""
        return (*(table for _, table in self.tables), *(column for *_, column in self.columns))

    @property
    def standing(self) -> tuple[bool, float, float]:
        """By what it is placed before it is judged: what a rule made of a reading stands behind them all."""
        return not self.is_twin, *self.origin.likelihood

    @property
    def is_twin(self) -> bool:
        """Whether a rule made it of a model's reading, behind which it stands."""
        return self.meaning.place is not None and any(
            each.kind is not RuleKind.REPAIR for each in self.changes
        )

    @property
    def may_run_instead(self) -> bool:
        """Whether it is a reading of its own, or a twin likelier to be meant: nothing runs unread beside it."""
        likelier = (RuleKind.READING, RuleKind.CORRECTION)
        return not self.is_twin or any(each.kind in likelier for each in self.changes)

    @property
    def needs_proof(self) -> bool:
        """Whether it is a twin that takes from its reading, by keys or NULL: only where their rows differ."""
        return self.is_twin and not any(each.kind in _BY_ROWS for each in self.changes)

    def telling(self, other: Candidate) -> Candidate:
        """It, with the word that another reading gives the same rows today; as it is where that is no other."""
        says = other.meaning.says.rstrip(".")
        same = says and says.casefold() == self.meaning.says.rstrip(".").casefold()
        if other.meaning.place is None or other.is_twin or same:
            return self
        where = f"where it means \u201c{says}\u201d" if says else "by another reading"
        return self.with_words(f"the same today {where}", *other.meaning.beside)

    def with_words(self, *told: str) -> Candidate:
        """It, with what became of other readings."""
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
    """Those `shown`, of which the first of a model's readings says which of the model's are left out, and `why`."""
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
