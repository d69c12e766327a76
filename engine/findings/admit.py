"""Admit: the one door by which a statement becomes a candidate, whoever made it, and the stage that ends with them.

Owns the order of the checks (the guard, names, EXPLAIN as the asker, a repair by rule of what is refused) and the words
of a rejection. The checks themselves are `engine.guard`'s, `engine.statement.resolution`'s and the upstream's; what the
stage does about texts is `engine.findings.stored_literals`'.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.findings.driver import Rewritten, by_facts, changed, readings
from engine.findings.evidence import linted
from engine.findings.lint import Context
from engine.findings.rules.literals import misplaced_literal
from engine.findings.stored_literals import write_as_stored
from engine.guard import Refused, Rules, check
from engine.statement.read import normal_form, statement_of
from engine.statement.resolution import Resolution
from engine.values.background import all_of
from engine.values.candidate import Candidate, RuleKind
from engine.values.elements import WHOLE_TABLE, linked_dimensions
from engine.values.errors import CancelledError, UnsafeSQLError
from engine.values.messages import TraceLine
from engine.values.ports import StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.types import ColumnKey, Snapshot, TableKey

_SHOWN_PROBLEMS = 3
_EXCERPT = 40
"""Characters of the statement shown where the server says at which place it failed."""

_NAME_ERRORS = frozenset({"42703", "42P01", "42883"})
"""Their hints name columns that are close, readable or not."""


class Cause(StrEnum):
    """The check that refused a statement."""

    GUARD = "guard"
    NAMES = "names"
    SERVER = "server"
    TIME = "time"
    LENGTH = "length"
    MASK = "mask"


@dataclass(frozen=True, slots=True)
class Rejection:
    """A statement that will not be shown. `message`: why, in words fit for the model that repairs it.

    `stray`: elements that it names but cannot see: tables that are not in FROM, columns of other tables.
    """

    cause: Cause
    message: str
    stray: frozenset[ColumnKey] = frozenset()


async def admitted(candidate: Candidate, state: State, tools: Tools) -> Candidate | Rejection:
    """The candidate with trimmed SQL, `tables`, `columns` and `cost`, or its rejection; itself where it has a cost.

    Raises errors that concern more than this statement: `NotPermittedError` (the asker's role cannot be taken on
    this database), `DatabaseUnavailableError`, and `CancelledError` when the question's time is over.
    """
    if candidate.cost is not None:
        return candidate
    route = state.route_of(candidate.database)
    rules = await tools.upstream.rules(route.database)
    # Long statements take longer than the loop may stand.
    read = await asyncio.to_thread(_read, candidate.sql, rules, route.snapshot)
    if isinstance(read, Rejection):
        return read
    sql, resolution = read
    try:
        cost = await tools.upstream.explain(route.database, state.ask.asker, sql, state.deadline)
    except StatementError as error:
        return Rejection(Cause.SERVER, _spoken(error, sql))
    except UnsafeSQLError as error:
        return Rejection(Cause.GUARD, error.message)
    except CancelledError:
        state.deadline.remaining()
        return Rejection(Cause.TIME, "planning it took too long")
    tables, columns = resolution.tables, resolution.columns
    # What was found before was of another text, schema or question.
    return replace(candidate, sql=sql, tables=tables, columns=columns, cost=cost, findings=None)


async def those_admitted(candidates: Iterable[Candidate], state: State, tools: Tools) -> list[Candidate]:
    """Those of `candidates` that are admitted, in their order; raises as `admitted`."""
    outcomes = await all_of(admitted(each, state, tools) for each in candidates)
    return [each for each in outcomes if isinstance(each, Candidate)]


def _read(sql: str, rules: Rules, snapshot: Snapshot) -> tuple[str, Resolution] | Rejection:
    """The trimmed statement and what its names stand for."""
    verdict = check(sql, rules)
    if isinstance(verdict, Refused):
        return Rejection(Cause.GUARD, f"not allowed: {verdict.detail}")
    resolution = statement_of(verdict.analysis.body, snapshot).resolution
    if resolution.problems:
        messages = [problem.message for problem in resolution.problems[:_SHOWN_PROBLEMS]]
        return Rejection(Cause.NAMES, "; ".join(messages), _stray(resolution, snapshot))
    return verdict.analysis.body, resolution


def _stray(resolution: Resolution, snapshot: Snapshot) -> frozenset[ColumnKey]:
    tables = {each.table for each in resolution.problems}
    columns = {each.column for each in resolution.problems}
    whole = {(*table.key, WHOLE_TABLE) for table in snapshot.tables if table.name in tables}
    parts = {(*table.key, column.name) for table, column in snapshot.columns() if column.name in columns}
    return frozenset(whole | {key for key in parts if key[:2] not in resolution.tables})


def _spoken(error: StatementError, sql: str) -> str:
    """The server's error as a clause, without a hint that may name columns the asker cannot read."""
    text = error.message
    if error.position is not None and 0 < error.position <= len(sql):
        text += f", at `{sql[error.position - 1 :][:_EXCERPT]}`"
    if error.hint and error.sqlstate not in _NAME_ERRORS:
        text += f" ({error.hint})"
    return text


REPAIRED = frozenset({Cause.NAMES, Cause.SERVER})
"""Refusals that a repair may help with. What the guard or the clock refused stays refused."""


@dataclass(frozen=True, slots=True)
class Door:
    """The door of one route for what a model or a rule wrote. Rules parse, so they run in threads."""

    context: Context
    route: Route
    state: State
    tools: Tools

    @classmethod
    async def of(cls, route: Route, state: State, tools: Tools, shown: Snapshot | None = None) -> Door:
        """With what rules know of the question there. `shown`: of the schema what a prompt shows; None is all of it."""
        secured = await tools.upstream.row_secured(route.database)
        context = await asyncio.to_thread(_context, route, state, secured, shown or route.snapshot)
        return cls(context, route, state, tools)

    async def admitted(self, candidate: Candidate) -> Candidate | Rejection:
        """The candidate in normal form, repaired by rule only where it was refused. Raises as `admitted`.

        A model's reading is checked as it was written.
        """
        if candidate.meaning.place is None:
            candidate = await self._changed(RuleKind.NORMALISE, candidate)
        outcome = await admitted(candidate, self.state, self.tools)
        if isinstance(outcome, Candidate) or outcome.cause not in REPAIRED:
            return outcome
        repaired = await self._changed(RuleKind.REPAIR, candidate)
        if repaired is candidate:
            return outcome
        second = await admitted(repaired, self.state, self.tools)
        return second if isinstance(second, Candidate) else outcome

    async def readings(self, candidate: Candidate) -> list[Candidate]:
        """What else a candidate may be meant to say and would run, likeliest first.

        Of a model's reading by keys and NULL alone.
        """
        given = Rewritten(candidate.sql, candidate.changes)
        rules = readings if candidate.meaning.place is None else by_facts
        made = await asyncio.to_thread(rules, given, self.context, self.tools.generation.rules_off)
        return await those_admitted((each.of(candidate) for each in made), self.state, self.tools)

    async def misplaces_literal(self, sql: str) -> bool:
        """Whether a literal is compared with a column that does not hold it although one beside it does."""
        return bool(self.context.values) and await asyncio.to_thread(misplaced_literal, sql, self.context)

    async def _changed(self, kind: RuleKind, candidate: Candidate) -> Candidate:
        return await asyncio.to_thread(
            changed, kind, candidate, self.context, self.tools.generation.rules_off
        )


def _context(route: Route, state: State, secured: frozenset[TableKey], shown: Snapshot) -> Context:
    return Context(
        shown,
        state.question,
        route.values,
        secured,
        linked={} if route.links is None else route.links.probabilities,
        dimensions=linked_dimensions(state.question.dimensions, route.entities),
        lists=route.lists,
        told=route.told,
        contents=route.contents,
    )


async def shown_once(candidates: Sequence[Candidate], state: State, tools: Tools) -> list[Candidate]:
    """The new statements that show each row once, of `candidates` whose rows repeat each other, and that would run."""
    off = tools.generation.rules_off
    known = {(each.database, each.sql) for each in state.candidates}
    made: dict[tuple[str, str], Candidate] = {}
    for each in candidates:
        context = Context(state.route_of(each.database).snapshot)
        other = await asyncio.to_thread(changed, RuleKind.REPETITION, each, context, off)
        made[other.database, other.sql] = other
    return await those_admitted((each for key, each in made.items() if key not in known), state, tools)


async def admit(state: State, tools: Tools) -> State:
    """Keeps of the candidates, their texts as they are stored, those that would run; raises as `admitted`."""
    return await accept(await write_as_stored(state, tools), tools)


async def accept(state: State, tools: Tools) -> State:
    """Drops the candidates that would not run and merges those with the same normal form.

    Of equal ones the best-scored stays, in the first one's place. Raises as `admitted`.
    """
    outcomes = await all_of(admitted(each, state, tools) for each in state.candidates)
    return await asyncio.to_thread(_distinct, state, outcomes, tools.generation.rules_off)


def _distinct(state: State, outcomes: Sequence[Candidate | Rejection], off: Collection[str]) -> State:
    """The state with the candidates that passed, linted. Parses each statement: not for the event loop."""
    kept: dict[tuple[str, str], Candidate] = {}
    for candidate, outcome in zip(state.candidates, outcomes, strict=True):
        if isinstance(outcome, Rejection):
            line = TraceLine("admit", f"dropped by {outcome.cause}", f"{outcome.message}: {candidate.sql}")
            state = state.noted(line)
            continue
        key = normal_form(outcome.sql, state.route_of(outcome.database))
        other = kept.get(key)
        if other is None:
            kept[key] = outcome
            continue
        better, dropped = (other, outcome) if other.standing >= outcome.standing else (outcome, other)
        merged = better.merged | dropped.merged | {better.sql, dropped.sql}
        # What the model wrote as well needed no rule.
        changes = min(better.changes, dropped.changes, key=len)
        kept[key] = replace(better, changes=changes, merged=merged).telling(dropped)
        state = state.noted(TraceLine("admit", "merged with an equal one", dropped.sql))
    found = (linted(each, state.question, state.route_of(each.database), off) for each in kept.values())
    return replace(state, candidates=tuple(found))
