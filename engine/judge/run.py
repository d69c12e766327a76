"""Run: every candidate once, as the asker, read-only, with a short timeout and a row cap, and what is equal merged.

Owns what runs, for how long, and what is kept of the rows; what is merged is `engine.judge.merge`'s. A candidate with
repeated rows gets a DISTINCT variant beside it. `[limits] run_candidates` turns all of it off.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from engine.findings.admit import shown_once
from engine.findings.looks import of_newest_periods
from engine.judge.merge import NotCompared, Rows, Shape, merged
from engine.link.standing import sensitive_columns
from engine.statement.read import normal_form, statement_of
from engine.statement.ties import showing_keys
from engine.statement.tree import Determinism
from engine.values import wording
from engine.values.candidate import Candidate, Preview, are_readings
from engine.values.deadline import Deadline
from engine.values.errors import NLError
from engine.values.ports import Result, StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.foreign_keys import foreign_key_graph

AT_ONCE = 4
"""Candidates that run at the same time."""

SHARE = 0.5
"""Share of the remaining time for running at most."""

_DATA_ERRORS = ("21", "22")
"""SQLSTATE classes of the statement on its data: cardinality violation, data exception."""

REPEATS = 3.0
"""From so many copies of each row on average, showing each once is likely meant."""

PREVIEWED = 3
"""Rows of a candidate's result that are kept, to be shown beside the choices of a question back."""

Keys = tuple[tuple[str | None, ...], ...]


async def run(state: State, tools: Tools) -> State:
    """As `compared`, without what the asker has seen before."""
    done = await compared(state, tools)
    return await asyncio.to_thread(_unseen, done, state.candidates) if state.ask.exclude else done


def _unseen(state: State, before: Sequence[Candidate]) -> State:
    """Without readings that `NL MORE` leaves out; those that gave their rows, among `before`, are told with the rest.

    Parses them: not for the event loop.
    """
    if not are_readings(state.candidates):
        return state
    excluded = {normal_form(sql, route) for route in state.routes for sql in state.ask.exclude}
    seen = [
        each for each in state.candidates if normal_form(each.sql, state.route_of(each.database)) in excluded
    ]
    notes = {note for each in seen for note in each.meaning.beside}
    same = [each for each in before if each.meaning.says and notes & {*each.same_rows}]
    told = [each.meaning.unshown(wording.SHOWN_BEFORE) for each in same]
    left = [each for each in state.candidates if each not in seen]
    left[:1] = [each.with_words(*told) for each in left[:1]]
    return replace(state, candidates=tuple(left))


async def compared(state: State, tools: Tools) -> State:
    """Sets every candidate's `preview` and `fruitless`, and merges them (`merged`); raises `CancelledError`.

    No DISTINCT variants are added after a question back: the asker may have said that repeated rows are meant.
    """
    if not tools.limits.run_candidates:
        return replace(state, candidates=tuple(each for each in state.candidates if not each.needs_proof))
    if max(len(state.candidates), state.k) < 2:  # noqa: PLR2004  nothing is beside one
        return state
    seconds = min(tools.limits.run_seconds, SHARE * state.deadline.remaining())
    until = Deadline(state.deadline.clock() + seconds, state.deadline.clock)
    outcomes = await _run_all(state.candidates, state, tools, until)
    if not state.dialogue.survivors:
        found = list(zip(state.candidates, outcomes, strict=True))
        empty = [each for each, rows in found if _is_empty(rows.preview)]
        told, newest = await of_newest_periods(empty, state, tools)
        added = [*await shown_once([each for each, rows in found if rows.repeated], state, tools), *newest]
        state = replace(state, candidates=tuple(told.get(each, each) for each in state.candidates))
        outcomes += await _run_all(added, state, tools, until)
        lines = (each.changes[-1].line for each in added)
        state = replace(state, candidates=(*state.candidates, *added)).noted(*lines)
    return await merged(state, outcomes, tools.generation.rules_off)


def _is_empty(preview: Preview | None) -> bool:
    """Whether a result has no row, or one alone that counts and adds up none."""
    rows = None if preview is None else preview.rows
    return rows is not None and (not rows or (len(rows) == 1 and set(rows[0]) <= {None, "0"}))


async def _run_all(
    candidates: Sequence[Candidate], state: State, tools: Tools, until: Deadline
) -> list[Rows | NotCompared]:
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def one(candidate: Candidate) -> Rows | NotCompared:
        async with semaphore:
            return await _outcome(candidate, state.route_of(candidate.database), state, tools, until)

    return await asyncio.gather(*map(one, candidates))


async def _outcome(
    candidate: Candidate, route: Route, state: State, tools: Tools, until: Deadline
) -> Rows | NotCompared:
    limits = tools.limits
    # A whole row shows a sensitive column as well.
    private = any(column[:2] in candidate.tables for column in sensitive_columns(route.snapshot))
    form = statement_of(candidate.sql, route.snapshot).determinism
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
        shape = await asyncio.to_thread(_shape, candidate, route, form)
        return NotCompared(error.message, shape=shape)
    if result.truncated or result.shortened:
        why = f"it gives more than {limits.run_rows} rows, or more bytes than are compared"
        outcome: Rows | NotCompared = NotCompared(why, preview=_preview(result))
    else:
        outcome = await asyncio.to_thread(_rows, result, keys, candidate, route, form)
    repeated = bool(result.rows) and len(result.rows) >= REPEATS * len(set(result.rows))
    repeated = repeated and not (result.shortened or candidate.is_twin)
    return replace(outcome, preview=None if private else outcome.preview, repeated=repeated)


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


def _rows(
    result: Result, keys: Keys | None, candidate: Candidate, route: Route, form: Determinism
) -> Rows | NotCompared:
    if all(value is None for row in result.rows for value in row):
        return NotCompared("it finds nothing", fruitless=True, preview=_preview(result))
    return Rows(
        fingerprint(result, ordered=form.ordered),
        _shape(candidate, route, form),
        _preview(result),
        single=len(result.rows) == 1,
        tied=None if keys is None else fingerprint(result, ordered=False) + _digest(keys),
    )


def _shape(candidate: Candidate, route: Route, form: Determinism) -> Shape:
    root = foreign_key_graph(route.snapshot).root
    return Shape(
        frozenset(map(root, candidate.columns)) | candidate.tables,
        frozenset(map(root, statement_of(candidate.sql, route.snapshot).shown)),
        form,
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
