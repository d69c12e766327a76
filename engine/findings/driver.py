"""Runs the lints over a statement: each can be switched off, each leaves a trace, and one that fails is skipped.

Owns which changes replace a statement and which stand beside it. A reading is made of the statement and of the readings
already made; those of most changes are the likeliest. What a model gave as its reading is replaced only where it was
refused, and only keys and NULL give rise to others behind it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import structlog

from engine.findings.lint import Context, Lint
from engine.findings.rules import LINTS
from engine.statement.read import Draft, Statement, statement_of
from engine.values.candidate import Candidate, Change, Finding, On, RuleKind, readings_among
from engine.values.errors import InvalidSettingError, for_log

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

    def after(self, change: Change) -> Rewritten:
        """As a rule changed it."""
        return Rewritten(change.after, (*self.changes, change))

    def of(self, candidate: Candidate) -> Candidate:
        """The candidate with this statement, not admitted yet; itself where it says so already."""
        return candidate if self.sql == candidate.sql else candidate.rewritten(self.sql, self.changes)


def changed(kind: RuleKind, candidate: Candidate, context: Context, off: Collection[str] = ()) -> Candidate:
    """The candidate after the rules of a kind (`in_turn`), not admitted yet; itself where they change nothing."""
    return in_turn(kind, Rewritten(candidate.sql, candidate.changes), context, off).of(candidate)


def check_names(off: Collection[str]) -> None:
    """Raises `InvalidSettingError` where a rule that is switched off does not exist."""
    known = {lint.name for lint in LINTS}
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
        if (changed := work.apply(rule)) is not None:
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
    made = (work.apply(rule) for rule in _on(off) if rule.by_facts)
    return list({each.sql: each for each in made if each is not None}.values())[:READINGS]


def said(
    statement: Statement, context: Context, on: Collection[On], off: Collection[str] = ()
) -> tuple[Finding, ...]:
    """What lints say of a statement; nothing where it has no tree, or cannot be taken apart."""
    return tuple(each for lint in _on(off) if lint.on in on for each in _said(lint, statement, context))


def _said(lint: Lint, statement: Statement, context: Context) -> list[Finding]:
    if lint.says is None:
        return []
    try:
        found = () if statement.apart is None else lint.says(statement.apart, context)
        return [Finding(lint.name, lint.on, each) for each in dict.fromkeys(found)]
    except Exception as error:  # noqa: BLE001 - a lint that fails says nothing, and costs no question
        _LOG.warning("rule_failed", rule=lint.name, error=for_log(error))
        return []


def _on(off: Collection[str]) -> Iterator[Lint]:
    return (lint for lint in LINTS if lint.name not in off)


def _rules(kind: RuleKind, off: Collection[str]) -> list[Lint]:
    return [rule for rule in _on(off) if rule.kind is kind]


def _likeliest(made: Mapping[str, _Working], accepted: Rewritten) -> list[_Working]:
    """The readings among `made`, likeliest first."""
    others = [work for work in made.values() if work.given is not accepted]
    return sorted(others, key=lambda work: readings_among(work.given.changes), reverse=True)


class _Working:
    """A statement, and a copy of its tree for the next rule to try itself on."""

    def __init__(self, given: Rewritten, context: Context) -> None:
        self.given = given
        self._context = context
        self._copy: Draft | None = None

    def apply(self, rule: Lint) -> Rewritten | None:
        """What `rule` makes of the statement; None where it changes nothing, fails, or there is no tree."""
        found = self._found(rule)
        return None if found is None or found.fix is None else self.given.after(found.fix)

    def _found(self, rule: Lint) -> Finding | None:
        before = self.given.sql
        if rule.fix is None or rule.kind is None:
            return None
        try:
            if self._copy is None:
                self._copy = statement_of(before, self._context.snapshot).draft()
            how = None if self._copy is None else rule.fix(self._copy, self._context)
            if self._copy is None or how is None:
                return None
            sql = self._copy.sql
        except Exception as error:  # noqa: BLE001 - a rule that fails costs its own change, never the question
            _LOG.warning("rule_failed", rule=rule.name, error=for_log(error))
            self._copy = None
            return None
        self._copy = None
        if sql == before:
            return None
        return Finding(rule.name, rule.on, fix=Change(rule.name, rule.kind, how, before, sql))
