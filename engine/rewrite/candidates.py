"""A statement as candidates: itself, repaired where it was refused, and beside it what else it may be meant to say."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from engine.core.candidate import Candidate
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.rewrite.driver import Rewritten, normalise, readings, repair
from engine.rewrite.rule import Context
from engine.rewrite.rules.literals import misplaced_literal
from engine.sql.check import Cause, Rejection, check_candidate

REPAIRED = frozenset({Cause.NAMES, Cause.SERVER})
"""Refusals that a repair may help with. What the guard or the clock refused stays refused."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks statements of one route as the asker. Rules parse, so they run in threads."""

    context: Context
    route: Route
    state: State
    tools: Tools

    async def statement(self, candidate: Candidate) -> Candidate | Rejection:
        """The statement, in its normal form, and repaired by rule only where names or EXPLAIN refused it.

        Where the repaired one is refused as well, that is what the first refusal says. Raises as `check_candidate`.
        """
        written = Rewritten(candidate.sql, candidate.changes)
        normal = await asyncio.to_thread(normalise, written, self.context, self._off)
        outcome = await self._checked(candidate, normal)
        if isinstance(outcome, Candidate) or outcome.cause not in REPAIRED:
            return outcome
        repaired = await asyncio.to_thread(repair, normal, self.context, self._off)
        if repaired.changes == normal.changes:
            return outcome
        second = await self._checked(candidate, repaired)
        return second if isinstance(second, Candidate) else outcome

    async def readings(self, candidate: Candidate) -> list[Candidate]:
        """What else an accepted candidate may be meant to say and would run, likeliest first."""
        given = Rewritten(candidate.sql, candidate.changes)
        made = await asyncio.to_thread(readings, given, self.context, self._off)
        outcomes = await asyncio.gather(*(self._checked(candidate, each) for each in made))
        return [each for each in outcomes if isinstance(each, Candidate)]

    async def misplaces_literal(self, sql: str) -> bool:
        """Whether a literal is compared with a column that does not hold it although one beside it does."""
        return bool(self.context.values) and await asyncio.to_thread(misplaced_literal, sql, self.context)

    @property
    def _off(self) -> Collection[str]:
        return self.tools.generation.rules_off

    async def _checked(self, candidate: Candidate, rewritten: Rewritten) -> Candidate | Rejection:
        if rewritten.sql != candidate.sql:
            candidate = candidate.rewritten(rewritten.sql, rewritten.changes)
        return await check_candidate(candidate, self.route, self.state, self.tools)
