"""Checks one statement as the asker: the guard, its names, EXPLAIN.

Owns the order of the checks and the words of a rejection. The checks themselves are `engine.guard`'s,
`engine.statement.resolution`'s and the upstream's.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.guard import Refused, Rules, check
from engine.statement.resolution import Resolution, resolve
from engine.values.candidate import Candidate
from engine.values.elements import WHOLE_TABLE
from engine.values.errors import CancelledError, UnsafeSQLError
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


async def check_candidate(
    candidate: Candidate, route: Route, state: State, tools: Tools
) -> Candidate | Rejection:
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
