"""Checks that the texts in statements occur in the columns that they are compared with, and finds those that do.

A model writes values as the question has them, or invents some: such a statement runs, and answers another question. A
sure respelling replaces the statement; one that only may be meant stands beside it, as all do beside a model's reading.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, product

from engine.findings.driver import changed
from engine.findings.lint import Context
from engine.link.legends import code_of
from engine.link.missing_values import check_literals
from engine.values.background import all_of
from engine.values.candidate import Candidate, RuleKind
from engine.values.elements import Literal, LiteralCheck, NearValues
from engine.values.errors import NLError
from engine.values.messages import TraceLine
from engine.values.ports import StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError

AT_ONCE = 4
"""Candidates looked at at the same time."""

CORRECTED = 3
"""Statements made of one at most, where several values are as near."""

Found = Mapping[Literal, NearValues]

_LINT = "literal_as_stored"
"""What near values are looked for."""


async def write_as_stored(state: State, tools: Tools) -> State:
    """Sets each candidate's `missing`, and replaces or follows it by statements with stored values.

    A statement none of whose values occur is `fruitless`. Corrected ones are not admitted yet. Raises as
    `check_literals`.
    """
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def checked(candidate: Candidate) -> tuple[Candidate, ...]:
        async with semaphore:
            route = state.route_of(candidate.database)
            check = await check_literals(candidate, route, state, tools)
            near = {} if _LINT in tools.generation.rules_off else await _near(check, route, state, tools)
            return await asyncio.to_thread(_corrected, candidate, check, near, route, tools)

    outcomes = await all_of(map(checked, state.candidates))
    candidates: dict[tuple[str, str], Candidate] = {}
    for each in (one for outcome in outcomes for one in outcome):
        same = candidates.get((each.database, each.sql))
        candidates[each.database, each.sql] = each if same is None else same.telling(each)
    lines = [
        line
        for before, after in zip(state.candidates, outcomes, strict=True)
        for each in after
        for line in _lines(before, each)
    ]
    return replace(state, candidates=tuple(candidates.values())).noted(*lines)


async def _near(check: LiteralCheck, route: Route, state: State, tools: Tools) -> Found:
    """Near stored values for missing literals, also where a column was read in part.

    Sure only if the literal is missing and all values of the column were read, or if the column's comment gives a code
    for it.
    """
    literals = [each for each in (*check.missing, *check.unknown) if not each.pattern]
    codes = {each: code_of(each.text, each.column, route.snapshot) for each in literals}
    coded = {
        literal: NearValues((code,), sure=literal in check.missing, whole=True)
        for literal, code in codes.items()
        if code is not None
    }
    literals = [each for each in literals if each not in coded]
    texts = [(each.column, each.text) for each in literals]
    try:
        found = await tools.values.near(texts, route, tools.upstream, tools.encoder)
    except (NLError, StatementError, StoreUnavailableError):
        state.deadline.remaining()
        return coded
    near = coded | {
        literal: replace(each, sure=each.sure and each.whole and literal in check.missing)
        for literal, each in zip(literals, found, strict=True)
        if each.values and (each.whole or literal in check.missing)
    }
    # A case variant is not a near value.
    return {literal: each for literal, each in near.items() if each.sure or literal not in check.in_any_case}


def _corrected(
    candidate: Candidate, check: LiteralCheck, near: Found, route: Route, tools: Tools
) -> tuple[Candidate, ...]:
    """What becomes of the candidate: itself, corrected ones, or both. Parses: not for the event loop."""
    fruitless = candidate.fruitless or check.all_invented
    itself = replace(candidate, missing=check.missing, fruitless=fruitless)
    found = (*near, *check.in_any_case)
    left = tuple(each for each in check.missing if each not in found)
    still = replace(check, missing=left, present=(*check.present, *found))
    made = [
        replace(each, missing=left, fruitless=candidate.fruitless or still.all_invented)
        for each in _statements(candidate, check, near, route, tools)
    ]
    sure = bool(made and (near or check.in_any_case)) and all(each.sure for each in near.values())
    return tuple(made) if sure and candidate.meaning.place is None else (itself, *made)


def _statements(
    candidate: Candidate, check: LiteralCheck, near: Found, route: Route, tools: Tools
) -> Iterator[Candidate]:
    """The candidate with each choice of near values, the nearest first; other literals are looked up by references."""
    keys = [(literal.column, literal.text) for literal in near]
    any_case = frozenset((each.column, each.text) for each in check.in_any_case if each not in near)
    left = [each for each in check.missing if each not in (*near, *check.in_any_case)]
    missing = frozenset((each.column, each.text) for each in left)
    choices = product(*(each.values for each in near.values())) if near or left or any_case else ()
    for chosen in islice(choices, CORRECTED):
        stored = dict(zip(keys, chosen, strict=True))
        context = Context(
            route.snapshot, values=route.values, stored=stored, in_any_case=any_case, missing=missing
        )
        made = changed(RuleKind.CORRECTION, candidate, context, tools.generation.rules_off)
        if made is not candidate:
            yield made


def _lines(before: Candidate, after: Candidate) -> Iterator[TraceLine]:
    for literal in after.missing:
        yield TraceLine("admit", f"{literal.column[2]} '{literal.text}' does not occur", after.sql)
    yield from (change.line for change in after.changes[len(before.changes) :])
