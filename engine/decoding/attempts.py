"""One node of the search: a statement that is written, checked as the asker, and written again where that may help.

Owns when the model is asked a second time, and which of its statements stands first. Which nodes there are is
`engine.decoding.mask_search`'s, what the model is told `engine.decoding.writer`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.core.candidate import Candidate
from engine.core.elements import elements_read
from engine.core.ports import Completion
from engine.decoding.forks import Fork
from engine.decoding.joining import begun_join
from engine.decoding.mask_search import Node
from engine.decoding.writer import Writer, statement
from engine.linking.mentions import terms_used
from engine.linking.short_names import ShortName, short_names, short_names_not_used
from engine.prompting.term_text import defined
from engine.ranking.contradictions import contradictions
from engine.rewrite.candidates import Checker
from engine.rewrite.worth import worth
from engine.sql.check import Cause, Rejection
from engine.sql.tree import parsed
from schema_catalog.types import ColumnKey


@dataclass(frozen=True, slots=True)
class Attempt:
    """Result of one search node. `ready`: finish time by the deadline's clock, s.

    `candidates`: the model's statements that stood the checks, the better one first; none where `rejection` says why.
    `written`: the call that the first candidate came of. `readings`: of the candidates, likeliest first. `fitting`: the
    texts of the readings and of the first candidate that contradict nothing of the question; none without readings.
    """

    node: Node
    calls: tuple[Completion, ...]
    written: Completion
    ready: float
    candidates: tuple[Candidate, ...] = ()
    readings: tuple[Candidate, ...] = ()
    fitting: frozenset[str] = frozenset()
    rejection: Rejection | None = None

    @property
    def leading(self) -> Candidate:
        """The likeliest reading of the first candidate, which may be the candidate itself; of those that fit, if any.

        What is made of a statement that contradicts the question contradicts it as well.
        """
        return max(
            (self.candidates[0], *self.readings),
            key=lambda each: (each.sql in self.fitting, worth(each.changes)),
        )


_Again = tuple[Node, Completion]
"""Under what the model was asked again, and what it wrote."""

_SecondCall = Callable[[Node, Candidate | Rejection, Completion], Awaitable[_Again | None]]
"""Asks again under a node, by what became of the first statement and how it was written; None where nothing is left."""


class Attempts:
    """The statements of one route, by its `writer` and its `checker`. Made off the event loop: it reads every name."""

    def __init__(self, writer: Writer, checker: Checker) -> None:
        self._writer = writer
        self._checker = checker
        self._short = short_names(checker.state.ask.question, writer.shown)

    async def at(self, node: Node) -> Attempt:
        """What `node` gives: what is refused, or leaves out what the question says, is written again; its readings."""
        first = await self._writer.write(node)
        outcome = await self._checked(first, node)
        readings = await self._readings(outcome)
        # Another one is there by the time that it would be written again.
        repairable = (
            first.finished and node == Node(self._writer.root, 1.0) and self._checker.tools.generation.repair
        )
        candidates = [outcome] if isinstance(outcome, Candidate) else []
        calls, written = [first], first
        # Under a grammar without them it cannot name again what it went astray with.
        stray = outcome.stray if isinstance(outcome, Rejection) else frozenset[ColumnKey]()
        left = replace(node, mask=node.mask | stray)
        for write in self._second_calls() if repairable else ():
            made = await write(left, outcome, written)
            if made is None:
                continue
            under, second = made
            calls.append(second)
            again = await self._checked(second, under)
            if isinstance(again, Candidate) and all(again.sql != each.sql for each in candidates):
                better = not candidates or not (self._reason(again) or self._short_left(again, second))
                candidates = [again, *candidates] if better else [*candidates, again]
                readings = [*await self._readings(again), *readings]
                if better:
                    outcome, written = again, second
        rejection = outcome if isinstance(outcome, Rejection) else None
        ready = self._checker.state.deadline.clock()
        fitting = frozenset[str]()
        if readings:
            fitting = await asyncio.to_thread(self._fitting, (candidates[0], *readings))
        return Attempt(
            node, tuple(calls), written, ready, tuple(candidates), tuple(readings), fitting, rejection
        )

    def _second_calls(self) -> tuple[_SecondCall, ...]:
        """What may be written where a first statement is refused or leaves something out, in order."""
        further = (self._joined, self._told) if self._checker.tools.generation.further_calls else ()
        return (self._rewritten, *further)

    async def _rewritten(
        self, node: Node, outcome: Candidate | Rejection, written: Completion
    ) -> _Again | None:
        """Another one by the reason for which the model is asked again; None without one."""
        reason = self._reason(outcome)
        sql = outcome.sql if isinstance(outcome, Candidate) else statement(written.text)
        return None if reason is None else (node, await self._writer.rewrite(node, sql, reason))

    async def _joined(self, _: Node, outcome: Candidate | Rejection, written: Completion) -> _Again | None:
        """The one that is refused, gone on with from the join of a table that its FROM misses; None where none is."""
        if not isinstance(outcome, Rejection) or outcome.cause is not Cause.NAMES or not self._writer.forks:
            return None
        context = self._checker.context
        begun = await asyncio.to_thread(begun_join, statement(written.text), context.snapshot, context.linked)
        if begun is None:
            return None
        node = Node(self._writer.root, 1.0, fork=Fork(begun, chance=1.0, logprob=0.0, tokens=0))
        return node, await self._writer.write(node)

    async def _told(self, node: Node, outcome: Candidate | Rejection, written: Completion) -> _Again | None:
        """Another one of which the model is told what names are short for; None where it says all of that."""
        short = self._short_left(outcome, written)
        return (node, await self._writer.write_told(node, short)) if short else None

    async def freely(self) -> Attempt:
        """One without a grammar, for a model that did not end under it."""
        node = Node(frozenset(), 1.0)
        written = await self._writer.write_freely(node)
        outcome = await self._checked(written, node)
        readings = await self._readings(outcome)
        ready = self._checker.state.deadline.clock()
        if isinstance(outcome, Rejection):
            return Attempt(node, (written,), written, ready, rejection=outcome)
        return Attempt(node, (written,), written, ready, (outcome,), tuple(readings))

    def _fitting(self, candidates: Sequence[Candidate]) -> frozenset[str]:
        context = self._checker.context
        return frozenset(
            each.sql
            for each in candidates
            if not contradictions(
                context.question, each.sql, context.snapshot, context.mentioned, context.lists
            )
        )

    async def _checked(self, written: Completion, node: Node) -> Candidate | Rejection:
        if not written.finished:
            return Rejection(Cause.LENGTH, f"the statement had not ended after {written.generated} tokens")
        sql = statement(written.text)
        if node.mask and await self._checker.misplaces_literal(sql):
            return Rejection(Cause.MASK, "a literal stands beside another column than the one that holds it")
        candidate = Candidate(
            database=self._checker.route.database.name,
            sql=sql,
            masked=node.mask,
            schema_score=node.schema_score,
            logprob=written.logprob,
            forked=node.fork is not None,
        )
        outcome = await self._checker.statement(candidate)
        # An alias that two tables share, or a server without grammars, lets a masked name through.
        if isinstance(outcome, Candidate) and (
            hidden := elements_read(outcome.columns, outcome.tables) & node.mask
        ):
            return Rejection(
                Cause.MASK, f"it reads what is masked: {', '.join(sorted(key[2] for key in hidden))}"
            )
        return outcome

    async def _readings(self, outcome: Candidate | Rejection) -> list[Candidate]:
        if isinstance(outcome, Rejection):
            return []
        found = await self._checker.readings(outcome)
        return [each for each in found if not elements_read(each.columns, each.tables) & outcome.masked]

    def _reason(self, outcome: Candidate | Rejection) -> str | None:
        """Why the model is asked again, in words for it: a refusal, or a DBA's term that the statement does not use."""
        if isinstance(outcome, Rejection):
            return outcome.message
        used = terms_used(self._checker.route.terms, outcome.tables, outcome.columns)
        left = [
            f"{each.name} means {defined(each)}" for each in self._checker.route.terms if each not in used
        ]
        return f"{'; '.join(left)}, which the statement does not say" if left else None

    def _short_left(self, outcome: Candidate | Rejection, written: Completion) -> tuple[ShortName, ...]:
        """What names are short for that the statement reads nothing of, by words of the question."""
        if isinstance(outcome, Candidate):
            return short_names_not_used(self._short, outcome.names)
        tree = parsed(statement(written.text))
        names = [] if tree is None else [each.name for each in tree.find_all(exp.Column, exp.Table)]
        return short_names_not_used(self._short, names) if names else ()
