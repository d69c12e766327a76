"""A statement that may answer, as the stages refine it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.types import BECOMES, TraceLine
from engine.understanding.types import Literal
from schema_catalog.types import ColumnKey, TableKey, Term


class RuleKind(StrEnum):
    """When a rule runs, and what becomes of the statement that it was given.

    A REPAIR runs on what names or EXPLAIN refused. A NORMALISE gives a statement with the same rows on any data, and
    replaces. A READING means something else: it adds a candidate beside the one that it was made of, a likelier one; so
    does what is BESIDE, a less likely one. A CORRECTION runs where a look at the data showed that a statement compares
    with what is not there, a REPETITION where its rows, run, repeat each other; it adds a candidate as a READING does.
    """

    REPAIR = "repair"
    NORMALISE = "normalise"
    READING = "reading"
    BESIDE = "beside"
    CORRECTION = "correction"
    REPETITION = "repetition"


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
class Candidate:
    """One statement that may answer.

    `tables`, `columns`, `cost`: read by it, and the planner's total cost (validate). `masked`: elements not allowed.
    `schema_score`: the weakest entity's best cosine in its masked schema (Odin §5.3). `logprob`: mean log-probability
    of its tokens, None where the model gives none or a rule changed the text. `forked`: it is no answer that the
    model gave by itself, but one of its forks. `confidence` in [0, 1].
    `fruitless`: it ran without a value in its rows; `preview`: of its rows, None where it did not run (deduplicate).
    `readings`: how many of its changes, or of those of a statement with its rows, say something likelier than what
    the model wrote, less those that say something less likely. `missing`: texts that its columns do not hold
    (check_values). `unsaid`: values, names, terms and numbers of the question that it says nothing of, `terms`:
    those of the question that it uses, `notes`: units, time zones and deprecations of what it reads (rank).
    `changes`: by rules, in order. `place`: from 0, among the readings that the model gave of the question, None
    where it was not asked for readings; `meaning`: of that reading, and `assumes`: what it takes for granted, in
    the model's words.
    """

    database: str
    sql: str
    tables: frozenset[TableKey] = frozenset()
    columns: frozenset[ColumnKey] = frozenset()
    masked: frozenset[ColumnKey] = frozenset()
    schema_score: float = 0.0
    logprob: float | None = None
    forked: bool = False
    cost: float | None = None
    confidence: float = 0.0
    explanation: str = ""
    fruitless: bool = False
    preview: Preview | None = None
    readings: int = 0
    missing: tuple[Literal, ...] = ()
    unsaid: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    terms: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()
    place: int | None = None
    meaning: str = ""
    assumes: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tables and columns that it reads."""
        return (*(table for _, table in self.tables), *(column for *_, column in self.columns))

    def rewritten(self, sql: str, changes: tuple[Change, ...]) -> Candidate:
        """It with what rules made of its statement: unchecked, and not the text that the model found so likely."""
        return replace(
            self, sql=sql, changes=changes, readings=readings_among(changes), logprob=None, cost=None
        )


def readings_among(changes: Iterable[Change]) -> int:
    """How many of a statement's changes made it mean something likelier, less those that made it less likely."""
    return sum(_LIKELIER.get(change.kind, 0) for change in changes)


def are_readings(candidates: Sequence[Candidate]) -> bool:
    """Whether a model gave them as readings of a question."""
    return any(each.place is not None for each in candidates)


def likelihoods(candidates: Sequence[Candidate]) -> list[float]:
    """The candidates' mean log-probabilities; for one that has none the mean of the others', 0 where none has any."""
    known = [each.logprob for each in candidates if each.logprob is not None]
    unknown = sum(known) / len(known) if known else 0.0
    return [unknown if each.logprob is None else each.logprob for each in candidates]
