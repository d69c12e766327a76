"""Merges what gives the same rows: same result, nested columns and functions, same literals; equal rows are no proof.

Two columns may hold the same data and two counts may agree by chance. So the columns shown, the elements read and the
functions called by one statement must be a subset of the other's; a foreign key counts as the column it refers to. Rows
in an order are the same where they differ in that of ties alone. One row proves least: of two that give the same the
conditions are the same as well. The plainest stays. Statements that fail on the data are dropped, those without a value
in their rows are marked, and so are those that might have been merged and were not compared in time.

Of two readings of a model that give the same rows today one is shown, and says so. What keys and NULL make of a reading
stays where its rows are known to differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from engine.findings.evidence import linted
from engine.link.mentions import mentioned_tables, tables_not_read
from engine.link.synonyms import interchangeable, keeps_column_of
from engine.question.question import Question
from engine.statement.read import statement_of
from engine.statement.tree import Determinism
from engine.values import wording
from engine.values.candidate import AGAINST, Candidate, Preview, RuleKind, telling_unshown
from engine.values.messages import TraceLine
from engine.values.state import Route, State
from schema_catalog.types import ColumnKey, Snapshot, TableKey

T = TypeVar("T")

Reads = frozenset[ColumnKey | TableKey]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a statement reads, the columns that it shows unchanged, and its literals, functions and conditions."""

    reads: Reads
    shown: Reads
    form: Determinism

    def like(self, other: Shape) -> bool:
        """Whether both are one statement if they give the same rows."""
        return (
            _nested(self.shown, other.shown)
            and self.form.literals == other.form.literals
            and _nested(self.form.functions, other.form.functions)
            and _nested(self.reads, other.reads)
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """A candidate's result as a digest of types and rows, and the statement's shape.

    `tied`: a digest that the order of ties does not change, where what the rows are sorted by is known. `single`: it is
    one row. `repeated`: whether its rows repeat each other.
    """

    digest: bytes
    shape: Shape
    preview: Preview | None
    single: bool = False
    repeated: bool = False
    tied: bytes | None = None

    def as_today(self, other: Rows) -> bool:
        """Whether both give the same rows."""
        return self.digest == other.digest or (self.tied is not None and self.tied == other.tied)

    def same(self, other: Rows) -> bool:
        """Whether both are taken for one statement."""
        tested, others = self.shape.form.conditions, other.shape.form.conditions
        return self.as_today(other) and self.shape.like(other.shape) and (not self.single or tested == others)


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Why a candidate has no rows to compare. `broken`: it fails on the data. `fruitless`: no row, or NULL alone.

    `shape`: of one for which there was no time, None of others.
    """

    why: str
    broken: bool = False
    fruitless: bool = False
    preview: Preview | None = None
    shape: Shape | None = None
    repeated: bool = False


def _nested(one: frozenset[T], other: frozenset[T]) -> bool:
    return one <= other or other <= one


async def merged(state: State, outcomes: Sequence[Rows | NotCompared], off: Collection[str] = ()) -> State:
    """Drops candidates that fail on the data and all but one of equivalent ones.

    `outcomes`: of each candidate. `off`: rules that are switched off. The one that stays has the likelihood of the
    likeliest, and the most `readings` among them but those that changed nothing.
    """
    lines: list[TraceLine] = []
    broken = list[Candidate]()
    kept: dict[int, tuple[Candidate, Rows | NotCompared]] = {}
    order = sorted(range(len(outcomes)), key=lambda n: state.candidates[n].standing, reverse=True)
    for place in order:
        candidate, outcome = state.candidates[place], outcomes[place]
        if candidate.needs_proof and not _differs(candidate, outcome, kept.values()):
            lines.append(TraceLine("run", "not known to give other rows", candidate.sql))
            continue
        if isinstance(outcome, NotCompared):
            event = "dropped by running it" if outcome.broken else "not compared by its rows"
            lines.append(TraceLine("run", event, f"{outcome.why}: {candidate.sql}"))
            if outcome.broken:
                broken.append(candidate)
                continue
            candidate = replace(candidate, fruitless=candidate.fruitless or outcome.fruitless)
        candidate = replace(candidate, preview=outcome.preview)
        equal = _equivalent(candidate, outcome, kept)
        if equal is None:
            perhaps = _perhaps(candidate, outcome, kept)
            if perhaps:
                lines.append(
                    TraceLine("run", "not compared in time", f"{candidate.sql}; perhaps: {perhaps[0]}")
                )
            kept[place] = (replace(candidate, perhaps=frozenset(perhaps)), outcome)
            continue
        stays, rows = kept[equal]
        route = state.route_of(candidate.database)
        one = stays.origin
        origin = replace(
            one, forked=one.forked and candidate.origin.forked, readings=stays.readings_with(candidate)
        )
        merged_in = stays.merged | candidate.merged | {stays.sql, candidate.sql}
        candidate, stays = replace(candidate, merged=merged_in), replace(stays, merged=merged_in)
        if candidate.meaning.place is None and await asyncio.to_thread(
            _better, candidate, stays, state, route, off
        ):
            kept[equal] = (replace(candidate, origin=origin), outcome)
            candidate, stays = stays, candidate
        else:
            kept[equal] = (replace(stays, origin=origin).telling(candidate), rows)
        lines.append(TraceLine("run", "gives the same rows", f"{candidate.sql}; kept: {stays.sql}"))
    left = telling_unshown([kept[place][0] for place in sorted(kept)], broken, wording.FAILS)
    return replace(state, candidates=tuple(left)).noted(*lines)


def _differs(
    twin: Candidate,
    outcome: Rows | NotCompared,
    kept: Collection[tuple[Candidate, Rows | NotCompared]],
) -> bool:
    """Whether a twin's rows are known to differ from its reading's; an empty result counts as known."""
    own = [
        rows
        for each, rows in kept
        if (each.database, each.meaning.place) == (twin.database, twin.meaning.place) and not each.is_twin
    ]
    known = [each for each in (outcome, *own) if isinstance(each, Rows) or each.fruitless]
    found = [each for each in known if isinstance(each, Rows)]
    if len(known) < 2 or not found:  # noqa: PLR2004 - a twin and its reading
        return False
    return len(found) == 1 or not found[0].as_today(found[1])


def _equivalent(
    candidate: Candidate,
    outcome: Rows | NotCompared,
    kept: Mapping[int, tuple[Candidate, Rows | NotCompared]],
) -> int | None:
    """The place of a kept candidate that counts as the same statement."""
    if isinstance(outcome, NotCompared):
        return None
    for place, (other, rows) in kept.items():
        if other.database != candidate.database or not isinstance(rows, Rows):
            continue
        # Of two readings that give the same rows now, the asker needs one.
        if rows.same(outcome) or (candidate.meaning.place is not None and rows.as_today(outcome)):
            return place
    return None


def _perhaps(
    candidate: Candidate,
    outcome: Rows | NotCompared,
    kept: Mapping[int, tuple[Candidate, Rows | NotCompared]],
) -> list[str]:
    """The kept statements that might give the same rows, of it or of which there was no time to know."""
    shape = outcome.shape
    return [
        each.sql
        for each, rows in kept.values()
        if each.database == candidate.database and shape is not None and rows.shape is not None
        if isinstance(outcome, NotCompared) or isinstance(rows, NotCompared)
        if shape.like(rows.shape)
    ]


def _better(candidate: Candidate, other: Candidate, state: State, route: Route, off: Collection[str]) -> bool:
    """Whether `candidate` replaces `other`, a likelier one with the same rows: less speaks against it, it is plainer.

    Never if a rule made it as a less likely statement.
    """
    if any(change.kind is RuleKind.BESIDE for change in candidate.changes):
        return False
    if _omits_lookups(candidate, other, route.snapshot):
        return True
    one, two = (_objections(each, state.question, route, off) for each in (candidate, other))
    return one < two or (one == two and _drops_synonyms(candidate, other, route.snapshot))


def _objections(
    candidate: Candidate, question: Question, route: Route, off: Collection[str]
) -> tuple[int, int, int, int]:
    """The gravest first: it contradicts the question, leaves out tables that it names; what it reads and tests."""
    said = linted(candidate, question, route, off).findings or ()
    asked = mentioned_tables(question, route.snapshot)
    left = tables_not_read(asked, candidate.tables, route.snapshot)
    tested = statement_of(candidate.sql, route.snapshot).determinism.conditions
    return any(each.on in AGAINST for each in said), len(left), len(candidate.tables), len(tested)


def _omits_lookups(candidate: Candidate, other: Candidate, snapshot: Snapshot) -> bool:
    """Whether the tables that it omits are only lookups of columns that it reads already."""
    left = other.tables - candidate.tables
    kept = [table for table in snapshot.tables if table.key in candidate.tables]
    known = [table for table in snapshot.tables if table.key in left]
    return (
        candidate.tables < other.tables
        and len(known) == len(left)
        and all(any(keeps_column_of(table, each) for each in kept) for table in known)
    )


def _drops_synonyms(candidate: Candidate, other: Candidate, snapshot: Snapshot) -> bool:
    """Whether it only drops synonyms of columns that it reads.

    It shows `id` and joins by `id`, where the other one shows `id` and joins by `student_id`.
    """
    return candidate.columns < other.columns and all(
        any(kept[:2] == left[:2] and interchangeable(left, kept, snapshot) for kept in candidate.columns)
        for left in other.columns - candidate.columns
    )
