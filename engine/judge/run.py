"""Deduplicates by execution: same result, nested columns and functions, same literals; equal rows are no proof.

Every candidate runs as the asker, read-only, with a short timeout and a row cap (`[limits] run_candidates` turns that
off). Two columns may hold the same data and two counts may agree by chance. So the columns shown, the elements read and
the functions called by one statement must be a subset of the other's; a foreign key counts as the column it refers to.
Rows in an order are the same where they differ in that of ties alone. Statements that fail on the data are dropped,
those without a value in their rows are marked. Beside one whose rows repeat each other stands the one that shows each
once.

Of two readings of a model that give the same rows today one is shown, and says so. What keys and NULL make of a reading
stays where its rows are known to differ.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from engine.findings.admit import check_candidate
from engine.findings.contradictions import contradictions
from engine.findings.driver import Rewritten, in_turn
from engine.findings.rule import Context
from engine.link.mentions import mentioned_tables, tables_not_read
from engine.link.standing import sensitive_columns
from engine.link.synonyms import interchangeable, keeps_column_of
from engine.statement.scope import Scopes
from engine.statement.ties import showing_keys
from engine.statement.tree import Determinism, determinism, parsed
from engine.values.candidate import Candidate, Preview, RuleKind
from engine.values.deadline import Deadline
from engine.values.errors import NLError
from engine.values.messages import TraceLine
from engine.values.ports import Result, StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import ColumnKey, Snapshot, Table, TableKey

AT_ONCE = 4
"""Candidates that run at the same time."""

SHARE = 0.5
"""Share of the remaining time for running at most."""

_DATA_ERRORS = ("21", "22")
"""SQLSTATE classes of the statement on its data: cardinality violation, data exception."""

REPEATS = 3.0
"""Times that each row stands there, in the mean, from which showing it once is likely meant."""

PREVIEWED = 3
"""Rows of a candidate's result that are kept, to be shown beside the choices of a question back."""

T = TypeVar("T")

Reads = frozenset[ColumnKey | TableKey]
Keys = tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A candidate's result as a digest of types and rows; the elements it reads, and the columns it shows unchanged.

    `tied`: a digest that the order of ties does not change, where what the rows are sorted by is known. `once`: what
    shows each row once, where they repeat each other.
    """

    digest: bytes
    reads: Reads
    shown: Reads
    form: Determinism
    preview: Preview | None
    once: Candidate | None = None
    tied: bytes | None = None

    def as_today(self, other: Rows) -> bool:
        """Whether both give the same rows."""
        return self.digest == other.digest or (self.tied is not None and self.tied == other.tied)

    def same(self, other: Rows) -> bool:
        """Whether both are taken for one statement."""
        return (
            self.as_today(other)
            and _nested(self.shown, other.shown)
            and self.form.literals == other.form.literals
            and _nested(self.form.functions, other.form.functions)
            and _nested(self.reads, other.reads)
        )


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Why a candidate has no rows to compare. `broken`: it fails on the data. `fruitless`: no row, or NULL alone."""

    why: str
    broken: bool = False
    fruitless: bool = False
    preview: Preview | None = None
    once: Candidate | None = None


def _nested(one: frozenset[T], other: frozenset[T]) -> bool:
    return one <= other or other <= one


async def deduplicate(state: State, tools: Tools) -> State:
    """Drops candidates that fail on the data and all but one of equivalent ones; raises `CancelledError`.

    One stays with the likelihood of the likeliest, and with most readings among them (`_objections`).
    """
    if not tools.limits.run_candidates:
        return replace(state, candidates=tuple(each for each in state.candidates if not each.needs_proof))
    if max(len(state.candidates), state.k) < 2:  # noqa: PLR2004  nothing is beside one
        return state
    routes = {route.database.name: route for route in state.routes}
    seconds = min(tools.limits.run_seconds, SHARE * state.deadline.remaining())
    until = Deadline(state.deadline.clock() + seconds, state.deadline.clock)
    outcomes = await _run_all(state.candidates, state, tools, routes, until)
    added = await _shown_once(state, outcomes, tools, routes)
    outcomes += await _run_all(added, state, tools, routes, until)
    state = replace(state, candidates=(*state.candidates, *added))
    lines = [each.changes[-1].line for each in added]
    kept: dict[int, tuple[Candidate, Rows | NotCompared]] = {}
    order = sorted(range(len(outcomes)), key=lambda n: _first(state.candidates[n]), reverse=True)
    for place in order:
        candidate, outcome = state.candidates[place], outcomes[place]
        if candidate.needs_proof and not _differs(candidate, outcome, kept.values()):
            lines.append(TraceLine("deduplicate", "not known to give other rows", candidate.sql))
            continue
        if isinstance(outcome, NotCompared):
            event = "dropped by running it" if outcome.broken else "not compared by its rows"
            lines.append(TraceLine("deduplicate", event, f"{outcome.why}: {candidate.sql}"))
            if outcome.broken:
                continue
            candidate = replace(candidate, fruitless=candidate.fruitless or outcome.fruitless)
        candidate = replace(candidate, preview=outcome.preview)
        equal = _equivalent(candidate, outcome, kept)
        if equal is None:
            kept[place] = (candidate, outcome)
            continue
        stays, rows = kept[equal]
        route = routes[candidate.database]
        one, other = stays.origin, candidate.origin
        readings = max(one.readings, other.readings)
        origin = replace(one, forked=one.forked and other.forked, readings=readings)
        if candidate.meaning.place is None and await asyncio.to_thread(
            _better, candidate, stays, state, route
        ):
            kept[equal] = (replace(candidate, origin=origin), outcome)
            candidate, stays = stays, candidate
        else:
            kept[equal] = (replace(stays, origin=origin).telling(candidate), rows)
        lines.append(TraceLine("deduplicate", "gives the same rows", f"{candidate.sql}; kept: {stays.sql}"))
    return replace(state, candidates=tuple(kept[place][0] for place in sorted(kept))).noted(*lines)


def _first(candidate: Candidate) -> tuple[bool, tuple[float, float]]:
    """The key by which candidates are looked at, the greatest first: what a rule made of a reading behind them all."""
    return not candidate.is_twin, candidate.origin.likelihood


def _differs(
    twin: Candidate,
    outcome: Rows | NotCompared,
    kept: Collection[tuple[Candidate, Rows | NotCompared]],
) -> bool:
    """Whether a twin gives other rows than its reading, as far as both are known; no row is known as well."""
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
    """The place of the one that is taken for the same statement."""
    if isinstance(outcome, NotCompared):
        return None
    for place, (other, rows) in kept.items():
        if other.database != candidate.database or not isinstance(rows, Rows):
            continue
        # Of two readings that give the same rows now, the asker needs one.
        if rows.same(outcome) or (candidate.meaning.place is not None and rows.as_today(outcome)):
            return place
    return None


def _better(candidate: Candidate, other: Candidate, state: State, route: Route) -> bool:
    """Whether less is to be said against `candidate`, which gives the same rows as a likelier one.

    Not where a rule made it as what is less likely.
    """
    if any(change.kind is RuleKind.BESIDE for change in candidate.changes):
        return False
    if _does_without(candidate, other, route.snapshot):
        return True
    asked = mentioned_tables(state.ask.question, route.snapshot)
    one, two = (_objections(each, state, asked, route) for each in (candidate, other))
    return one < two or (one == two and _says_one_thing_once(candidate, other, route.snapshot))


def _objections(
    candidate: Candidate, state: State, asked: Sequence[Table], route: Route
) -> tuple[int, int, int]:
    """The gravest first: it contradicts the question, leaves out tables that it names, reads tables for nothing."""
    question, sql = state.ask.question, candidate.sql
    said = contradictions(question, sql, route.snapshot, asked, route.lists, today=state.today)
    left = tables_not_read(asked, candidate.tables, route.snapshot)
    return bool(said), len(left), len(candidate.tables)


def _does_without(candidate: Candidate, other: Candidate, snapshot: Snapshot) -> bool:
    """Whether all that `candidate` reads less than `other` are tables that hold a column of those that it reads."""
    left = other.tables - candidate.tables
    kept = [table for table in snapshot.tables if table.key in candidate.tables]
    known = [table for table in snapshot.tables if table.key in left]
    return (
        candidate.tables < other.tables
        and len(known) == len(left)
        and all(any(keeps_column_of(table, each) for each in kept) for table in known)
    )


def _says_one_thing_once(candidate: Candidate, other: Candidate, snapshot: Snapshot) -> bool:
    """Whether all that `candidate` reads less are columns that could stand for another one that it reads.

    It shows `id` and joins by `id`, where the other one shows `id` and joins by `student_id`.
    """
    return candidate.columns < other.columns and all(
        any(kept[:2] == left[:2] and interchangeable(left, kept, snapshot) for kept in candidate.columns)
        for left in other.columns - candidate.columns
    )


async def _run_all(
    candidates: Sequence[Candidate], state: State, tools: Tools, routes: Mapping[str, Route], until: Deadline
) -> list[Rows | NotCompared]:
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def one(candidate: Candidate) -> Rows | NotCompared:
        async with semaphore:
            return await _outcome(candidate, routes[candidate.database], state, tools, until)

    return await asyncio.gather(*map(one, candidates))


async def _outcome(
    candidate: Candidate, route: Route, state: State, tools: Tools, until: Deadline
) -> Rows | NotCompared:
    limits, private = tools.limits, _reads_sensitive(candidate, route)
    form = determinism(candidate.sql)
    if candidate.cost is None or candidate.cost > limits.run_cost:
        return NotCompared(f"the planner puts it above {limits.run_cost:g}")
    if not form.repeatable:
        return NotCompared("it may give other rows the next time")
    try:
        result, keys = await _ran(candidate, route, state, tools, until)
    except StatementError as error:
        # The trace is stored, and the server's words may hold a row's value.
        why = f"it fails with SQLSTATE {error.sqlstate}"
        return NotCompared(why, broken=error.sqlstate.startswith(_DATA_ERRORS))
    except NLError as error:
        return NotCompared(error.message)
    if result.truncated or result.shortened:
        why = f"it gives more than {limits.run_rows} rows, or more bytes than are compared"
        outcome: Rows | NotCompared = NotCompared(why, preview=_preview(result))
    else:
        outcome = await asyncio.to_thread(_evidence, result, keys, candidate, route, form)
    once = await asyncio.to_thread(_once, result, candidate, route, tools)
    return replace(outcome, preview=None if private else outcome.preview, once=once)


async def _ran(
    candidate: Candidate, route: Route, state: State, tools: Tools, until: Deadline
) -> tuple[Result, Keys | None]:
    """The rows, and what they are sorted by where it is known. Raises as `Upstream.run`."""

    async def rows(sql: str) -> Result:
        return await tools.upstream.run(route.database, state.ask.asker, sql, tools.limits.run_rows, until)

    by = await asyncio.to_thread(showing_keys, candidate.sql)
    if by is not None:
        with suppress(StatementError, NLError, ValueError, IndexError):
            return by.apart(await rows(by.sql))
    return await rows(candidate.sql), None


def _once(result: Result, candidate: Candidate, route: Route, tools: Tools) -> Candidate | None:
    """The statement that shows each row once, unchecked; None where they do not repeat each other."""
    if (
        candidate.is_twin
        or result.shortened
        or not result.rows
        or len(result.rows) < REPEATS * len(set(result.rows))
    ):
        return None
    given = Rewritten(candidate.sql, candidate.changes)
    made = in_turn(RuleKind.REPETITION, given, Context(route.snapshot), tools.generation.rules_off)
    if made.sql == given.sql:
        return None
    return candidate.rewritten(made.sql, made.changes)


async def _shown_once(
    state: State, outcomes: Sequence[Rows | NotCompared], tools: Tools, routes: Mapping[str, Route]
) -> tuple[Candidate, ...]:
    """The new statements that show each row once, of those whose rows repeat each other, and that would run.

    None where a dialogue has left some: the asker may have said that the rows are meant.
    """
    if state.dialogue.survivors:
        return ()
    known = {(each.database, each.sql) for each in state.candidates}
    made = {(each.once.database, each.once.sql): each.once for each in outcomes if each.once is not None}
    checked = await asyncio.gather(
        *(
            check_candidate(each, routes[each.database], state, tools)
            for key, each in made.items()
            if key not in known
        )
    )
    return tuple(each for each in checked if isinstance(each, Candidate))


def _reads_sensitive(candidate: Candidate, route: Route) -> bool:
    """Whether it reads a table with a sensitive column: a whole row shows that one as well."""
    return any(column[:2] in candidate.tables for column in sensitive_columns(route.snapshot))


def _evidence(
    result: Result, keys: Keys | None, candidate: Candidate, route: Route, form: Determinism
) -> Rows | NotCompared:
    if all(value is None for row in result.rows for value in row):
        return NotCompared("it finds nothing", fruitless=True, preview=_preview(result))
    root = foreign_key_graph(route.snapshot).root
    tree = parsed(candidate.sql)
    shown = frozenset[ColumnKey]() if tree is None else Scopes(tree, route.snapshot).shown(tree)
    return Rows(
        fingerprint(result, ordered=form.ordered),
        frozenset(map(root, candidate.columns)) | candidate.tables,
        frozenset(map(root, shown)),
        form,
        _preview(result),
        tied=None if keys is None else fingerprint(result, ordered=False) + _digest(keys),
    )


def _preview(result: Result) -> Preview:
    names = tuple(name for name, _ in result.columns)
    more = result.truncated or len(result.rows) > PREVIEWED
    return Preview(names, result.rows[:PREVIEWED], more, None if result.truncated else len(result.rows))


def fingerprint(result: Result, *, ordered: bool) -> bytes:
    """SHA-256 of column types and rows; of sorted rows where the statement has no order."""
    rows: Sequence[tuple[str | None, ...]] = result.rows
    ordered = ordered and len(rows) > 1
    if not ordered:
        rows = sorted(rows, key=lambda row: tuple((value is None, value or "") for value in row))
    types = [type_ for _, type_ in result.columns]
    return _digest([ordered, types, rows])


def _digest(of: object) -> bytes:
    return hashlib.sha256(msgspec.json.encode(of)).digest()
