"""One node of the search: a statement that is written, checked as the asker, and once more where that may help.

Owns when the model is asked a second time, and which of its statements stands first. Which nodes there are is
`engine.decoding.mask_search`'s, what the model is told `engine.decoding.writer`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.core.candidate import Candidate
from engine.core.elements import elements_read
from engine.core.ports import Completion
from engine.decoding.mask_search import Node
from engine.decoding.writer import Writer, statement
from engine.linking.mentions import terms_used
from engine.prompting.term_text import defined
from engine.ranking.contradictions import contradictions
from engine.rewrite.candidates import Checker
from engine.sql.check import Cause, Rejection


@dataclass(frozen=True, slots=True)
class Attempt:
    """Result of one search node. `ready`: finish time by the deadline's clock, s.

    `candidates`: the model's statements that stood the checks, the better one first; none where `rejection` says why.
    `readings`: of the candidates, likeliest first. `fitting`: the
    texts of the readings and of the first candidate that contradict nothing of the question; none without readings.
    """

    node: Node
    calls: tuple[Completion, ...]
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
            key=lambda each: (each.sql in self.fitting, each.readings),
        )


class Attempts:
    """The statements of one route, by its `writer` and its `checker`. Made off the event loop: it reads every name."""

    def __init__(self, writer: Writer, checker: Checker) -> None:
        self._writer = writer
        self._checker = checker

    async def at(self, node: Node) -> Attempt:
        """What `node` gives, written once more where it is refused or leaves out a term; and its readings."""
        first = await self._writer.write(node)
        outcome = await self._checked(first, node)
        readings = await self._readings(outcome)
        candidates = [outcome] if isinstance(outcome, Candidate) else []
        calls = [first]
        if self._is_repairable(node, first) and (reason := self._reason(outcome)) is not None:
            second, again = await self._once_more(node, first, outcome, reason)
            calls.append(second)
            if isinstance(again, Candidate) and all(again.sql != each.sql for each in candidates):
                better = not candidates or self._reason(again) is None
                candidates = [again, *candidates] if better else [*candidates, again]
                readings = [*await self._readings(again), *readings]
        rejection = outcome if isinstance(outcome, Rejection) and not candidates else None
        fitting = frozenset[str]()
        if readings:
            fitting = await asyncio.to_thread(self._fitting, (candidates[0], *readings))
        ready = self._checker.state.deadline.clock()
        return Attempt(node, tuple(calls), ready, tuple(candidates), tuple(readings), fitting, rejection)

    def _is_repairable(self, node: Node, first: Completion) -> bool:
        """Whether it is the question itself: another node is there by the time that it would be written again."""
        repair = self._checker.tools.generation.repair
        return repair and first.finished and node == Node(self._writer.root, 1.0)

    async def _once_more(
        self, node: Node, first: Completion, outcome: Candidate | Rejection, reason: str
    ) -> tuple[Completion, Candidate | Rejection]:
        """Another statement by the reason. Under a grammar without them it names no strange names again."""
        if isinstance(outcome, Rejection):
            node, sql = replace(node, mask=node.mask | outcome.stray), statement(first.text)
        else:
            sql = outcome.sql
        second = await self._writer.rewrite(node, sql, reason)
        return second, await self._checked(second, node)

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
