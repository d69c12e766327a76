"""A statement that may answer, as the stages refine it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.calibration.records import Score
from engine.types import BECOMES, TraceLine
from engine.understanding.types import Literal
from schema_catalog.types import ColumnKey, TableKey, Term


@dataclass(frozen=True, slots=True)
class Change:
    """A rule's change of a statement. `kind`: an `engine.rewrite.rule.RuleKind`. `how`: in words for the asker."""

    rule: str
    kind: str
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
    """The first rows of a statement's result as PostgreSQL writes them; `more`: there are others."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement that may answer.

    `tables`, `columns`, `cost`: read by it, and the planner's total cost (validate). `masked`: elements not allowed.
    `schema_score`: the weakest entity's best cosine in its masked schema (Odin §5.3). `logprob`: mean log-probability
    of its tokens, None where the model gives none or a rule changed the text. `forked`: it is no answer that the
    model gave by itself, but one of its forks. `confidence` in [0, 1]. `scores`: nonconformity by function (select).
    `preference`: agreement with the asker's preferences, negative where it contradicts them (apply_preferences).
    `fruitless`: it ran without a value in its rows; `preview`: of its rows, None where it did not run; `ones`: of the
    groups that count most each is one row; `repeated`: its rows repeat each other, and could each be shown once;
    `merged`: the most that the changes of those with its rows are worth, log-odds, None where it is the only one
    (deduplicate). `missing`: texts that its columns do not hold (check_values). `unsaid`: values, names, terms and
    numbers of the question that it says nothing of, `terms`: those of the question that it uses, `notes`: units, time
    zones and deprecations of what it reads (rank). `changes`: by rules, in order.
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
    scores: tuple[Score, ...] = ()
    preference: float = 0.0
    fruitless: bool = False
    preview: Preview | None = None
    ones: bool = False
    repeated: bool = False
    merged: float | None = None
    missing: tuple[Literal, ...] = ()
    unsaid: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    terms: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tables and columns that it reads."""
        return (*(table for _, table in self.tables), *(column for *_, column in self.columns))

    def rewritten(self, sql: str, changes: tuple[Change, ...]) -> Candidate:
        """It with what rules made of its statement: unchecked, and not the text that the model found so likely."""
        return replace(self, sql=sql, changes=changes, logprob=None, cost=None)


def likelihoods(candidates: Sequence[Candidate]) -> list[float]:
    """The candidates' mean log-probabilities; for one that has none the mean of the others', 0 where none has any."""
    known = [each.logprob for each in candidates if each.logprob is not None]
    unknown = sum(known) / len(known) if known else 0.0
    return [unknown if each.logprob is None else each.logprob for each in candidates]
