"""Admit: the one door by which a statement becomes a candidate, whoever made it, and the stage that ends with them.

Owns the order of the checks (the guard, names, EXPLAIN as the asker, a repair by rule of what is refused) and the words
of a rejection. The checks themselves are `engine.guard`'s, `engine.statement.resolution`'s and the upstream's; what the
stage does about texts is `engine.findings.stored_literals`'.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.findings.driver import Rewritten, by_facts, changed, readings
from engine.findings.rule import Context
from engine.findings.rules.literals import misplaced_literal
from engine.findings.stored_literals import write_as_stored
from engine.guard import Refused, Rules, check
from engine.statement.canonical import canonical
from engine.statement.resolution import Resolution, resolve
from engine.values.candidate import Candidate, RuleKind
from engine.values.elements import WHOLE_TABLE
from engine.values.errors import CancelledError, UnsafeSQLError
from engine.values.messages import TraceLine
from engine.values.ports import StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.types import ColumnKey, Snapshot

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


async def admitted(candidate: Candidate, route: Route, state: State, tools: Tools) -> Candidate | Rejection:
    """The candidate with trimmed SQL, `tables`, `columns` and `cost`, or its rejection.

    Raises errors that concern more than this statement: `NotPermittedError` (the asker's role cannot be taken on
    this database), `DatabaseUnavailableError`, and `CancelledError` when the question's time is over.
    """
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
    return replace(candidate, sql=sql, tables=resolution.tables, columns=resolution.columns, cost=cost)


def _read(sql: str, rules: Rules, snapshot: Snapshot) -> tuple[str, Resolution] | Rejection:
    """The trimmed statement and what its names stand for."""
    verdict = check(sql, rules)
    if isinstance(verdict, Refused):
        return Rejection(Cause.GUARD, f"not allowed: {verdict.detail}")
    resolution = resolve(verdict.analysis.body, snapshot)
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

    async def admitted(self, candidate: Candidate) -> Candidate | Rejection:
        """The candidate in normal form, repaired by rule only where it was refused. Raises as `admitted`.

        A model's reading is checked as it was written.
        """
        if candidate.meaning.place is None:
            candidate = await self._changed(RuleKind.NORMALISE, candidate)
        outcome = await self._checked(candidate)
        if isinstance(outcome, Candidate) or outcome.cause not in REPAIRED:
            return outcome
        repaired = await self._changed(RuleKind.REPAIR, candidate)
        if repaired is candidate:
            return outcome
        second = await self._checked(repaired)
        return second if isinstance(second, Candidate) else outcome

    async def readings(self, candidate: Candidate) -> list[Candidate]:
        """What else a candidate may be meant to say and would run, likeliest first.

        Of a model's reading by keys and NULL alone.
        """
        given = Rewritten(candidate.sql, candidate.changes)
        rules = readings if candidate.meaning.place is None else by_facts
        made = await asyncio.to_thread(rules, given, self.context, self._off)
        outcomes = await asyncio.gather(*(self._checked(each.of(candidate)) for each in made))
        return [each for each in outcomes if isinstance(each, Candidate)]

    async def misplaces_literal(self, sql: str) -> bool:
        """Whether a literal is compared with a column that does not hold it although one beside it does."""
        return bool(self.context.values) and await asyncio.to_thread(misplaced_literal, sql, self.context)

    @property
    def _off(self) -> Collection[str]:
        return self.tools.generation.rules_off

    async def _changed(self, kind: RuleKind, candidate: Candidate) -> Candidate:
        return await asyncio.to_thread(changed, kind, candidate, self.context, self._off)

    async def _checked(self, candidate: Candidate) -> Candidate | Rejection:
        return await admitted(candidate, self.route, self.state, self.tools)


async def shown_once(candidates: Sequence[Candidate], state: State, tools: Tools) -> list[Candidate]:
    """The new statements that show each row once, of `candidates` whose rows repeat each other, and that would run."""
    routes = {route.database.name: route for route in state.routes}
    off = tools.generation.rules_off
    known = {(each.database, each.sql) for each in state.candidates}
    made: dict[tuple[str, str], Candidate] = {}
    for each in candidates:
        context = Context(routes[each.database].snapshot)
        other = await asyncio.to_thread(changed, RuleKind.REPETITION, each, context, off)
        made[other.database, other.sql] = other
    new = (each for key, each in made.items() if key not in known)
    outcomes = await asyncio.gather(*(admitted(each, routes[each.database], state, tools) for each in new))
    return [each for each in outcomes if isinstance(each, Candidate)]


async def admit(state: State, tools: Tools) -> State:
    """Keeps of the candidates, their texts as they are stored, those that would run; raises as `admitted`."""
    return await accept(await write_as_stored(state, tools), tools)


async def accept(state: State, tools: Tools) -> State:
    """Drops the candidates that would not run and merges those with the same normal form.

    A candidate with a cost has been checked. Of equal ones the best-scored stays, in the first one's place. Raises as
    `admitted`.
    """
    routes = {route.database.name: route for route in state.routes}
    outcomes = await asyncio.gather(
        *(_checked(candidate, routes[candidate.database], state, tools) for candidate in state.candidates)
    )
    return await asyncio.to_thread(_distinct, state, outcomes, routes)


def _distinct(state: State, outcomes: Sequence[Candidate | Rejection], routes: Mapping[str, Route]) -> State:
    """The state with the candidates that passed. Parses each statement: not for the event loop."""
    kept: dict[tuple[str, str], Candidate] = {}
    for candidate, outcome in zip(state.candidates, outcomes, strict=True):
        if isinstance(outcome, Rejection):
            line = TraceLine("admit", f"dropped by {outcome.cause}", f"{outcome.message}: {candidate.sql}")
            state = state.noted(line)
            continue
        key = (outcome.database, canonical(outcome.sql, routes[outcome.database].snapshot))
        other = kept.get(key)
        if other is None:
            kept[key] = outcome
            continue
        dropped = min(outcome, other, key=_score)
        kept[key] = max(other, outcome, key=_score).telling(dropped)
        state = state.noted(TraceLine("admit", "merged with an equal one", dropped.sql))
    return replace(state, candidates=tuple(kept.values()))


async def _checked(candidate: Candidate, route: Route, state: State, tools: Tools) -> Candidate | Rejection:
    return candidate if candidate.cost is not None else await admitted(candidate, route, state, tools)


def _score(candidate: Candidate) -> tuple[float, bool, float, float]:
    return (candidate.confidence, not candidate.is_twin, *candidate.origin.likelihood)
