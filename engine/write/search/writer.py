"""What the model is asked and what it wrote: prompts and grammars of one route, and attempts that are checked.

The model's calls for one route: prompt, grammar, and the limit of tokens.

Masks are applied by the grammar under an unchanged prompt; without grammars in the prompt, as in Odin (§5). Conditions
(MetaSQL §III) are a comment that the answer begins with, so that the prompt stays in the server's prefix cache.

One node of the search: a statement that is written, checked as the asker, and once more where that may help.

Owns when the model is asked a second time, and which of its statements stands first. Which nodes there are is
`engine.write.masks`'s, what the model is told `engine.write.search.writer`'s.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.findings.admit import Cause, Door, Rejection
from engine.findings.driver import said
from engine.findings.lint import Context
from engine.link.mentions import called_columns, terms_used
from engine.link.schema_linker import DOUBTFUL, LEAST, unlikely
from engine.link.source import relevance
from engine.llm.prompts import prompt
from engine.llm.redaction import put_back
from engine.llm.replies import FENCE, statement
from engine.statement.read import statement_of
from engine.statement.written import defined
from engine.values.candidate import AGAINST, Candidate, Origin
from engine.values.conditions import Condition, words
from engine.values.elements import elements_read, is_masked
from engine.values.ports import Completion, Prompt
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.known_text import asked_texts, known_text, today_text
from engine.write.masks import Mask, Node
from engine.write.schema_text import schema_text
from engine.write.search.sql_grammar import in_postgresql, sql_grammar
from schema_catalog.types import ColumnKey, Snapshot

ANSWER_TOKENS = 200
"""Tokens of one statement at most."""

SLACK_TOKENS = 24
"""Tokens of a masked statement at most: twice those of the unmasked one, and this many more. Where a mask leaves no
way to answer the question, a model does not end."""

CONDITIONS = 2
"""Conditions in use at most, the likeliest ones."""

NEAREST = 3
"""Elements that a phrase of the question may mean at least, whatever the schema linker says."""

LEAST_LIKELY = 0.2
"""Least probability of a condition."""

OTHER_TOKENS = 20
"""Tokens with their probabilities that the model gives for each that it wrote."""


class Writer:
    """One route's model calls.

    `shown`: the part of the schema that the prompt shows and the grammar names. `root`: what no statement may name.
    """

    def __init__(self, route: Route, state: State, tools: Tools) -> None:
        self.route = route
        self._state = state
        self._tools = tools
        self._text, self.shown = schema_text(route.snapshot, route.tables, _nearness(route))
        self.root: Mask = frozenset().union(*(each.forbidden for each in state.dialogue.turns))
        self._unlikely = self._never_meant() if tools.generation.links else frozenset[ColumnKey]()
        self._tokens = ANSWER_TOKENS

    @property
    def grammars(self) -> bool:
        """Whether the model writes under a grammar."""
        return self._tools.model.profile.grammars

    @property
    def forks(self) -> bool:
        """Whether an answer can be gone on with from where it might have become another one."""
        return self._tools.model.profile.goes_on and self._tools.generation.forks

    async def conditions(self) -> tuple[Condition, ...]:
        """The likeliest conditions."""
        predict = self._tools.conditions.predict
        found = await asyncio.to_thread(predict, self._state.question, self.route.snapshot)
        return tuple(each for each in found if each.probability >= LEAST_LIKELY)[:CONDITIONS]

    async def write(self, node: Node) -> Completion:
        """A statement for `node`."""
        written = await self._complete(self._prompt("generate_user", node), node.mask)
        if node.fork is not None:
            return node.fork.completed(written)
        if node.mask == self.root and written.finished:
            self._tokens = min(ANSWER_TOKENS, 2 * written.generated + SLACK_TOKENS)
        return written

    async def rewrite(self, node: Node, sql: str, reason: str) -> Completion:
        """A repair of `sql`, which the prompt shows with the `reason` of its rejection."""
        return await self._complete(self._prompt("repair_user", node, sql=sql, reason=reason), node.mask)

    async def _complete(self, asked: Prompt, mask: Mask) -> Completion:
        return await self._tools.model.complete(
            asked,
            deadline=self._state.deadline,
            max_tokens=self._tokens,
            grammar=self._grammar(mask) if self.grammars else None,
            others=OTHER_TOKENS if self._state.k > 1 and self.forks else 0,
        )

    def _grammar(self, mask: Mask) -> str:
        # What is compared with days is no list of texts.
        dated = {each.column for each in self.route.contents if each.date_form}
        lists = [each for each in self.route.lists if each.column not in dated]
        return sql_grammar(self.shown, mask | self._unlikely, lists, self.route.contents)

    def _prompt(self, name: str, node: Node, **values: str) -> Prompt:
        # Under a grammar the text is the same for every mask: the server has it in its prefix cache.
        unnamed = frozenset[ColumnKey]() if self.grammars else node.mask | self._unlikely
        text = schema_text(without(self.shown, unnamed), ())[0] if unnamed else self._text
        found = known_text(self.route, self._state.dialogue, self.shown, unnamed)
        found += today_text(self._state.question)
        user = prompt(name, schema=text, values=found, question=self._state.question.text, **values)
        comment = "" if node.condition is None else f"-- {words(node.condition)}\n"
        begun = "" if node.fork is None else node.fork.text
        texts = asked_texts(self._state)
        prefix = f"{FENCE}sql\n{comment}"
        return Prompt(prompt("generate_system"), user, prefix, begun, texts, self._state.local)

    def narrowed(self, used: frozenset[ColumnKey]) -> Mask:
        """What another statement is written without, where one that reads `used` left out what is linked.

        Nothing where all is read that is linked, or nothing of `used` is doubtful.
        """
        links = self.route.links
        if links is None or not self._tools.generation.links or links.linked <= used:
            return frozenset()
        said = (link.column for link in self.route.values if link.similarity >= 1)
        doubtful = self._not_meant(said, DOUBTFUL)
        return self.root | doubtful if any(is_masked(each, doubtful) for each in used) else frozenset()

    def _never_meant(self) -> Mask:
        called = {*called_columns(self._state.question, self.shown), *self._nearest()}
        return self._not_meant(called.union(link.column for link in self.route.values), LEAST)

    def _nearest(self) -> set[ColumnKey]:
        """What each phrase is nearest to: the linker knows little of names unlike those it learnt from."""
        return {
            element
            for each in self.route.entities
            for element in heapq.nlargest(NEAREST, each.similarities, key=each.similarities.__getitem__)
        }

    def _not_meant(self, known: Iterable[ColumnKey], least: float) -> Mask:
        answers = (each.option for each in self._state.dialogue.turns)
        wanted = {element for option in answers if option is not None for element in option.elements}
        return unlikely(self.route.links, self.shown, wanted.union(known), least)


def _nearness(route: Route) -> dict[ColumnKey, float]:
    """Of each column: to the phrases of the question, and surely of those that hold a value of it."""
    return relevance(route.entities) | {link.column: 1.0 for link in route.values}


def without(snapshot: Snapshot, mask: Mask) -> Snapshot:
    """The snapshot less the masked elements."""
    columns = frozenset((*table.key, column.name) for table, column in snapshot.columns())
    return snapshot.restricted_to(frozenset(key for key in columns if not is_masked(key, mask)))


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
            key=lambda each: (each.sql in self.fitting, each.origin.readings),
        )


class Attempts:
    """The statements of one route, by its `writer` and its `door`. Made off the event loop: it reads every name."""

    def __init__(self, writer: Writer, door: Door) -> None:
        self._writer = writer
        self._door = door

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
        ready = self._door.state.deadline.clock()
        return Attempt(node, tuple(calls), ready, tuple(candidates), tuple(readings), fitting, rejection)

    def _is_repairable(self, node: Node, first: Completion) -> bool:
        """Whether it is the question itself: another node is there by the time that it would be written again."""
        repair = self._door.tools.generation.repair
        return repair and first.finished and node == Node(self._writer.root, 1.0)

    async def _once_more(
        self, node: Node, first: Completion, outcome: Candidate | Rejection, reason: str
    ) -> tuple[Completion, Candidate | Rejection]:
        """Another statement by the reason. Under a grammar without them it names no strange names again."""
        if isinstance(outcome, Rejection):
            node, sql = replace(node, mask=node.mask | outcome.stray), await self._said(first)
        else:
            sql = outcome.sql
        second = await self._writer.rewrite(node, sql, reason)
        return second, await self._checked(second, node)

    def _fitting(self, candidates: Sequence[Candidate]) -> frozenset[str]:
        context, off = self._door.context, self._door.tools.generation.rules_off
        context = Context(context.snapshot, context.question, lists=context.lists)
        return frozenset(
            each.sql
            for each in candidates
            if not said(statement_of(each.sql, context.snapshot), context, AGAINST, off)
        )

    async def _said(self, written: Completion) -> str:
        """The statement of an answer, with what the model was not told in its place."""
        snapshot = self._door.route.snapshot
        return await asyncio.to_thread(put_back, statement(written.text), written.marks, snapshot)

    async def _checked(self, written: Completion, node: Node) -> Candidate | Rejection:
        if not written.finished:
            return Rejection(Cause.LENGTH, f"the statement had not ended after {written.generated} tokens")
        sql = await self._said(written)
        if self._writer.grammars:
            sql = in_postgresql(sql, self._writer.shown)
        if node.mask and await self._door.misplaces_literal(sql):
            return Rejection(Cause.MASK, "a literal stands beside another column than the one that holds it")
        candidate = Candidate(
            database=self._door.route.database.name,
            sql=sql,
            origin=Origin(node.mask, node.schema_score, written.logprob, node.fork is not None),
        )
        outcome = await self._door.admitted(candidate)
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
        found = await self._door.readings(outcome)
        return [
            each for each in found if not elements_read(each.columns, each.tables) & outcome.origin.masked
        ]

    def _reason(self, outcome: Candidate | Rejection) -> str | None:
        """Why the model is asked again, in words for it: a refusal, or a DBA's term that the statement does not use."""
        if isinstance(outcome, Rejection):
            return outcome.message
        used = terms_used(self._door.route.terms, outcome.tables, outcome.columns)
        left = [f"{each.name} means {defined(each)}" for each in self._door.route.terms if each not in used]
        return f"{'; '.join(left)}, which the statement does not say" if left else None
