"""Merge: of statements that say the same in other words only one stays, told by the rows that they give.

Owns when rows are evidence. Every candidate runs as the asker, read-only, with a short timeout and a row cap, before
one is chosen (`[limits] run_candidates` turns that off). Equal rows alone are none: two columns may hold the same
data, and two counts may agree by chance, which are the very readings that an asker has to choose between. So two
statements are one only where the one shows, reads and calls nothing that the other does not, and both compare with the
same literals; key columns that refer to each other count as one. What fails on the data it would run on goes, as what
fails in planning does; what finds nothing is marked.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from engine.errors import NLError
from engine.generation.scopes import Scopes, parsed
from engine.sql.settled import Settled, settled
from engine.state import Candidate, ColumnKey, Deadline, Result, Route, State, StatementError, TableKey, Tools
from engine.types import TraceLine
from schema_catalog.foreign_keys import foreign_key_graph

AT_ONCE = 4
"""Candidates that run at the same time."""

SHARE = 0.5
"""Of the question's remaining time that running may take at most."""

_DATA_ERRORS = ("21", "22")
"""Classes of SQLSTATE that mean the statement and its data: cardinality violation, data exception."""

T = TypeVar("T")

Reads = frozenset[ColumnKey | TableKey]


@dataclass(frozen=True, slots=True)
class Rows:
    """What a candidate gave, as a digest of types and rows, and what it read and compared with to get there.

    `shown`: the columns that it gives as they are.
    """

    digest: bytes
    reads: Reads
    shown: Reads
    form: Settled

    def same(self, other: Rows) -> bool:
        """Whether both say the same in other words."""
        return (
            self.digest == other.digest
            and _nested(self.shown, other.shown)
            and self.form.literals == other.form.literals
            and _nested(self.form.functions, other.form.functions)
            and _nested(self.reads, other.reads)
        )


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Why a candidate's rows are no evidence.

    `broken`: it cannot run on this data at all. `fruitless`: it finds nothing, or NULL alone.
    """

    why: str
    broken: bool = False
    fruitless: bool = False


def _nested(one: frozenset[T], other: frozenset[T]) -> bool:
    return one <= other or other <= one


async def merge(state: State, tools: Tools) -> State:
    """Drops candidates that fail when they run, and all but the best-scored of those that give the same rows."""
    if not tools.limits.run_candidates or len(state.candidates) < 2:  # noqa: PLR2004  one has nothing to be compared with
        return state
    routes = {route.database.name: route for route in state.routes}
    outcomes = await _run_all(state, tools, routes)
    lines: list[TraceLine] = []
    kept: dict[int, tuple[Candidate, Rows | NotCompared]] = {}
    for place in sorted(range(len(outcomes)), key=lambda n: _score(state.candidates[n]), reverse=True):
        candidate, outcome = state.candidates[place], outcomes[place]
        if isinstance(outcome, NotCompared):
            event = "dropped by running it" if outcome.broken else "not compared by its rows"
            lines.append(TraceLine("merge", event, f"{outcome.why}: {candidate.sql}"))
            if outcome.broken:
                continue
            candidate = replace(candidate, fruitless=outcome.fruitless)
        twin = _twin(candidate, outcome, kept.values())
        if twin is not None:
            lines.append(TraceLine("merge", "gives the same rows", f"{candidate.sql}; kept: {twin.sql}"))
            continue
        kept[place] = (candidate, outcome)
    return replace(state, candidates=tuple(kept[place][0] for place in sorted(kept))).noted(*lines)


def _twin(
    candidate: Candidate, outcome: Rows | NotCompared, kept: Iterable[tuple[Candidate, Rows | NotCompared]]
) -> Candidate | None:
    if isinstance(outcome, NotCompared):
        return None
    for other, rows in kept:
        if other.database == candidate.database and isinstance(rows, Rows) and rows.same(outcome):
            return other
    return None


async def _run_all(state: State, tools: Tools, routes: Mapping[str, Route]) -> Sequence[Rows | NotCompared]:
    deadline = state.deadline
    seconds = min(tools.limits.run_seconds, SHARE * deadline.remaining())
    until = Deadline(deadline.clock() + seconds, deadline.clock)
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(candidate: Candidate) -> Rows | NotCompared:
        async with gate:
            return await _outcome(candidate, routes[candidate.database], state, tools, until)

    return await asyncio.gather(*map(one, state.candidates))


async def _outcome(
    candidate: Candidate, route: Route, state: State, tools: Tools, until: Deadline
) -> Rows | NotCompared:
    limits = tools.limits
    form = settled(candidate.sql)
    if candidate.cost is None or candidate.cost > limits.run_cost:
        return NotCompared(f"the planner puts it above {limits.run_cost:g}")
    if not form.repeatable:
        return NotCompared("it may give other rows the next time")
    try:
        result = await tools.upstream.run(
            route.database, state.ask.asker, candidate.sql, limits.run_rows, until
        )
    except StatementError as error:
        return NotCompared(error.message, broken=error.sqlstate.startswith(_DATA_ERRORS))
    except NLError as error:
        return NotCompared(error.message)
    if result.truncated or result.shortened:
        return NotCompared(f"it gives more than {limits.run_rows} rows, or more bytes than are compared")
    return await asyncio.to_thread(_evidence, result, candidate, route, form)


def _evidence(result: Result, candidate: Candidate, route: Route, form: Settled) -> Rows | NotCompared:
    if all(value is None for row in result.rows for value in row):
        return NotCompared("it finds nothing", fruitless=True)
    root = foreign_key_graph(route.snapshot).root
    tree = parsed(candidate.sql)
    shown = frozenset[ColumnKey]() if tree is None else Scopes(tree, route.snapshot).shown(tree)
    return Rows(
        fingerprint(result, ordered=form.ordered),
        frozenset(map(root, candidate.columns)) | candidate.tables,
        frozenset(map(root, shown)),
        form,
    )


def fingerprint(result: Result, *, ordered: bool) -> bytes:
    """A digest, equal where column types and rows are; the order of rows counts where the statement sets one."""
    rows: Sequence[tuple[str | None, ...]] = result.rows
    ordered = ordered and len(rows) > 1
    if not ordered:
        rows = sorted(rows, key=lambda row: tuple((value is None, value or "") for value in row))
    types = [type_ for _, type_ in result.columns]
    return hashlib.sha256(msgspec.json.encode([ordered, types, rows])).digest()


def _score(candidate: Candidate) -> tuple[float, float]:
    return (candidate.schema_score, -math.inf if candidate.logprob is None else candidate.logprob)
