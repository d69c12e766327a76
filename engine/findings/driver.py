"""Runs the rules over a statement: each can be switched off, each leaves a trace, and one that fails is skipped.

Owns which changes replace a statement and which stand beside it. A reading is made of the statement and of the readings
already made; those of most changes are the likeliest. What a model gave as its reading is replaced only where it was
refused, and only keys and NULL give rise to others behind it.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import structlog

from engine.findings.admit import Cause, Rejection, check_candidate
from engine.findings.rule import Context, Rule, Statement
from engine.findings.rules import RULES
from engine.findings.rules.literals import misplaced_literal
from engine.statement.tree import parsed
from engine.values.candidate import Candidate, Change, RuleKind, readings_among
from engine.values.errors import InvalidSettingError, for_log
from engine.values.state import Route, State
from engine.values.tools import Tools

READINGS = 4
"""Readings made of one statement at most, the likeliest ones."""

KEPT = 8
"""Readings that further readings are made of at most, beside the statement itself."""

_LOG = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A statement and what the rules did to it, in order; no changes where it is as it was."""

    sql: str
    changes: tuple[Change, ...] = ()


def check_names(off: Collection[str]) -> None:
    """Raises `InvalidSettingError` where a rule that is switched off does not exist."""
    known = {rule.name for rule in RULES}
    for name in off:
        if name not in known:
            near = ", ".join(difflib.get_close_matches(name, known)) or ", ".join(sorted(known))
            raise InvalidSettingError(
                f'invalid value for [generation] rules_off: "{name}"', hint=f"Rules are called: {near}."
            )


def in_turn(kind: RuleKind, given: Rewritten, context: Context, off: Collection[str] = ()) -> Rewritten:
    """`given` after the rules of a kind, one after the other: of any but READING and BESIDE."""
    work = _Working(given, context)
    for rule in _rules(kind, off):
        changed = work.apply(rule)
        if changed is not None:
            work = _Working(changed, context)
    return work.given


def readings(accepted: Rewritten, context: Context, off: Collection[str] = ()) -> list[Rewritten]:
    """At most `READINGS` other statements that the question may mean by `accepted`, likeliest first."""
    made = {accepted.sql: _Working(accepted, context)}
    for rule in (each for kind in (RuleKind.READING, RuleKind.BESIDE) for each in _rules(kind, off)):
        # What is less likely anyway is made of the statement alone.
        given = [made[accepted.sql]] if rule.kind is RuleKind.BESIDE else list(made.values())
        for each in given:
            other = each.apply(rule)
            if other is not None and other.sql not in made:
                made[other.sql] = _Working(other, context)
        likeliest = _likeliest(made, accepted)[:KEPT]
        made = {work.given.sql: work for work in (made[accepted.sql], *likeliest)}
    return [work.given for work in _likeliest(made, accepted)[:READINGS]]


def by_facts(accepted: Rewritten, context: Context, off: Collection[str] = ()) -> list[Rewritten]:
    """At most `READINGS` statements, each made of `accepted` alone by a rule that rests on keys or NULL."""
    work = _Working(accepted, context)
    made = (work.apply(rule) for rule in RULES if rule.by_facts and rule.name not in off)
    return list({each.sql: each for each in made if each is not None}.values())[:READINGS]


def _rules(kind: RuleKind, off: Collection[str]) -> list[Rule]:
    return [rule for rule in RULES if rule.kind is kind and rule.name not in off]


def _likeliest(made: Mapping[str, _Working], accepted: Rewritten) -> list[_Working]:
    """The readings among `made`, likeliest first."""
    others = [work for work in made.values() if work.given is not accepted]
    return sorted(others, key=lambda work: readings_among(work.given.changes), reverse=True)


class _Working:
    """A statement, and a copy of its tree for the next rule to try itself on."""

    def __init__(self, given: Rewritten, context: Context) -> None:
        self.given = given
        self._context = context
        self._copy: Statement | None = None

    def apply(self, rule: Rule) -> Rewritten | None:
        """What `rule` makes of the statement; None where it changes nothing, fails, or there is no tree."""
        tree = parsed(self.given.sql)
        if tree is None:
            return None
        changes = self.given.changes
        try:
            if self._copy is None:
                self._copy = Statement(tree.copy(), self._context.snapshot)
            how = rule.apply(self._copy, self._context)
            if how is None:
                return None
            sql = self._copy.sql
        except Exception as error:  # noqa: BLE001 - a rule that fails costs its own change, never the question
            _LOG.warning("rule_failed", rule=rule.name, error=for_log(error))
            self._copy = None
            return None
        self._copy = None
        if sql == self.given.sql:
            return None
        return Rewritten(sql, (*changes, Change(rule.name, rule.kind, how, self.given.sql, sql)))


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
        """The statement in normal form, repaired by rule only where it was refused. Raises as `check_candidate`.

        A model's reading is checked as it was written.
        """
        normal = Rewritten(candidate.sql, candidate.changes)
        if candidate.meaning.place is None:
            normal = await asyncio.to_thread(in_turn, RuleKind.NORMALISE, normal, self.context, self._off)
        outcome = await self._checked(candidate, normal)
        if isinstance(outcome, Candidate) or outcome.cause not in REPAIRED:
            return outcome
        repaired = await asyncio.to_thread(in_turn, RuleKind.REPAIR, normal, self.context, self._off)
        if repaired.changes == normal.changes:
            return outcome
        second = await self._checked(candidate, repaired)
        return second if isinstance(second, Candidate) else outcome

    async def readings(self, candidate: Candidate) -> list[Candidate]:
        """What else an accepted candidate may be meant to say and would run, likeliest first.

        Of a model's reading by keys and NULL alone.
        """
        given = Rewritten(candidate.sql, candidate.changes)
        rules = readings if candidate.meaning.place is None else by_facts
        made = await asyncio.to_thread(rules, given, self.context, self._off)
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
