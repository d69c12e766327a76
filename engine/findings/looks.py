"""What the data says of statements that ran: that it holds nothing of their period, and which rows they leave out.

One look a statement at most for each, as the asker, read-only, within limits of time and cost (`engine.link.looking`).
What could not be looked at is not told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import TypeVar

import structlog

from engine.findings.admit import those_admitted
from engine.findings.driver import changed, said
from engine.findings.evidence import linted
from engine.findings.lint import Context
from engine.findings.rules.coverage import Covered, the_covered
from engine.findings.rules.left_out import Countable, countable
from engine.link.looking import looked
from engine.statement.read import statement_of
from engine.values.background import all_of
from engine.values.candidate import Candidate, On, RuleKind
from engine.values.errors import CancelledError, for_log
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import ColumnKey

T = TypeVar("T")

_LOG = structlog.get_logger()

SECONDS = 1.0
"""For a look at most, of what the question has left."""

_NEWEST, _LEFT_OUT = "newest_period", "left_out"
"""The lints that the looks are for: nobody looks for one that is switched off."""


async def of_newest_periods(
    candidates: Sequence[Candidate], state: State, tools: Tools
) -> tuple[dict[Candidate, Candidate], list[Candidate]]:
    """Those of `candidates`, which found nothing, of whose period the data holds nothing: what is told of each.

    And those with the same period of the newest year, admitted. Raises as `those_admitted`.
    """
    off, told, made = (
        tools.generation.rules_off,
        dict[Candidate, Candidate](),
        dict[tuple[str, str], Candidate](),
    )
    if _NEWEST in off:
        return told, []
    known = {(each.database, each.sql) for each in state.candidates}
    for each, context in (await _newest(candidates, state, tools)).items():
        route = state.route_of(each.database)
        told[each] = await asyncio.to_thread(_telling, each, context, route, state, off)
        other = await asyncio.to_thread(changed, RuleKind.CORRECTION, each, context, off)
        made |= {} if (other.database, other.sql) in known else {(other.database, other.sql): other}
    return told, await those_admitted(made.values(), state, tools)


async def with_left_out(state: State, tools: Tools) -> State:
    """The state, in which the first `k` candidates tell the rows that they leave out: once their order is known."""
    if _LEFT_OUT in tools.generation.rules_off:
        return state
    first = await all_of(_counted(each, state, tools) for each in state.candidates[: state.k])
    return replace(state, candidates=(*first, *state.candidates[state.k :]))


async def _counted(candidate: Candidate, state: State, tools: Tools) -> Candidate:
    route, off = state.route_of(candidate.database), tools.generation.rules_off
    found = await _unless_failing(_countable, candidate, route) if candidate.preview is not None else None
    row = await _looked(_together(found), route, state, tools) if found else None
    if not found or row is None:
        return candidate
    counted = tuple((each.words, int(number or 0)) for each, number in zip(found, row, strict=True))
    context = Context(route.snapshot, state.question, counted=counted)
    return await asyncio.to_thread(_telling, candidate, context, route, state, off)


async def _unless_failing(look: Callable[..., T], *given: object) -> T | None:
    """What it gives: None where it fails, as a lint that does costs no question."""
    try:
        return await asyncio.to_thread(look, *given)
    except Exception as error:  # noqa: BLE001 - as of lints
        _LOG.warning("look_failed", look=look.__name__, error=for_log(error))
        return None


async def _looked(sql: str, route: Route, state: State, tools: Tools) -> tuple[str | None, ...] | None:
    """As `looked`; nothing is known either where the question's time is over: what ran is not lost for it."""
    with suppress(CancelledError):
        return await looked(sql, route, state, tools, SECONDS)
    return None


def _countable(candidate: Candidate, route: Route) -> list[Countable]:
    apart = statement_of(candidate.sql, route.snapshot).apart
    total = None if candidate.preview is None else candidate.preview.total
    return [] if apart is None else countable(apart, Context(route.snapshot), total)


def _together(found: Sequence[Countable]) -> str:
    return f"SELECT {', '.join(f'({each.sql})' for each in found)}"


def _telling(
    candidate: Candidate, context: Context, route: Route, state: State, off: Collection[str]
) -> Candidate:
    """The candidate with what lints say of it by the data, beside what they said before."""
    before = linted(candidate, state.question, route, off)
    found = said(statement_of(candidate.sql, route.snapshot), context, {On.DATA}, off)
    findings = (*(before.findings or ()), *found)
    return replace(before, findings=findings, evidence=replace(before.evidence, findings=findings))


async def _newest(candidates: Sequence[Candidate], state: State, tools: Tools) -> dict[Candidate, Context]:
    """With the newest day of the one column of dates that a statement tests; without those with rows of the period.

    One look for all that test the same, and all looks at once.
    """
    tested = dict[Candidate, tuple[ColumnKey, str]]()
    for each in candidates:
        found = await _unless_failing(_tested, each, state.route_of(each.database), state)
        tested |= {} if found is None else {each: (found[0], _look(*found))}
    looks = tuple(dict.fromkeys((each.database, sql) for each, (_, sql) in tested.items()))
    rows = await all_of(_looked(sql, state.route_of(name), state, tools) for name, sql in looks)
    newest = {
        look: None if row is None or row[1] == "t" else _day(row[0])
        for look, row in zip(looks, rows, strict=True)
    }
    return {
        each: Context(state.route_of(each.database).snapshot, state.question, newest={key: day})
        for each, (key, sql) in tested.items()
        if (day := newest[each.database, sql]) is not None
    }


def _day(text: str | None) -> date | None:
    """None of what no calendar here has: infinity, a day before Christ."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        return None


def _tested(candidate: Candidate, route: Route, state: State) -> tuple[ColumnKey, Covered] | None:
    apart = statement_of(candidate.sql, route.snapshot).apart
    covered = None if apart is None else the_covered(apart, state.question.today)
    key = None if covered is None or apart is None else apart.scopes.key(covered.column)
    return None if covered is None or key is None else (key, covered)


def _look(key: ColumnKey, covered: Covered) -> str:
    column, rows = quote_ident(key[2]), ".".join(map(quote_ident, key[:2]))
    bounds = ((">=", covered.start), ("<", covered.end))
    tests = (f"{column} {how} {quote_literal(moment.isoformat(' '))}" for how, moment in bounds if moment)
    return (
        f"SELECT (SELECT max({column})::date::text FROM {rows}),"  # noqa: S608  all parts are quoted
        f" EXISTS (SELECT 1 FROM {rows} WHERE {' AND '.join(tests)})"
    )
