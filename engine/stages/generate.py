"""Generates candidates that really differ: best-first search over masked schemas and conditions, a model call a node.

Masks (Odin §5) are applied in the decoder: the prompt holds the whole schema, the grammar forbids the masked names.
Against a server without grammars they are applied in the prompt, as in the paper. Conditions (MetaSQL §III) are a
comment that the answer begins with. Each statement is checked as the asker before its children are queued, after what
the catalog knows better was put right by rule, with one repair from the server's own words. What a mask would only have
exchanged one name for is exchanged by rule (`engine.alternatives.synonyms`) and costs no call.

Long because budget, prompt, check and trace of one node belong together.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace

from engine.alternatives.substitute import substituted
from engine.alternatives.synonyms import Exchange, exchanges, interchangeable, phrases
from engine.alternatives.token_alternatives import token_alternatives
from engine.conditions.types import Condition
from engine.conditions.words import words
from engine.core.candidate import Candidate
from engine.core.elements import WHOLE_TABLE
from engine.core.ports import Completion, Prompt
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.decoding.mask_search import Mask, MaskSearch, Node
from engine.decoding.sql_grammar import sql_grammar
from engine.linking.mentions import mentioned_tables, tables_not_read, values_not_used
from engine.prompting.example_text import example_text
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from engine.prompting.value_text import value_text
from engine.rewrite.rules.literals import moved
from engine.rewrite.rules.mending import mended, unknown_apart
from engine.rewrite.rules.sense import senseless, with_what_refers
from engine.rewrite.rules.wording import reworded
from engine.sql.check import Cause, Rejection, check_candidate
from engine.types import TraceLine, Usage
from schema_catalog.types import ColumnKey, Snapshot, TableKey

ANSWER_TOKENS = 200
"""Tokens of one statement at most."""

SLACK_TOKENS = 24
"""A masked statement may have twice the tokens of the unmasked one and this many more. Where a mask leaves no way to
say what was asked, a model writes on for ever, and what says the same with other columns is about as long."""

CONCURRENT = 3
"""Nodes explored at once: the embedded model serves them in one batch. The first one goes alone: it is there sooner,
and what it says lets the model guess most of what the others will."""

CONDITIONS = 2
"""Conditions told at most, the likeliest ones."""

LEAST_LIKELY = 0.2
"""The probability that a condition has at least, to be told."""

TWINS = 3
"""Statements at most that are made of the first one by exchanging a name; of each of the others one at most."""

OTHERS = 20
"""Tokens of which the model tells, for each that it wrote, how likely they were."""

DOUBT = 0.01
"""The probability with which the model would have named another column, for that to be a reading of its own. Of the
synonyms of AmbiQT's columns it gives about three in four as much, and few others."""

FENCE = "```"

_LINE_BREAK = re.compile(r" *\n *(?=[A-Z(])")
"""Between clauses. Inside a literal the grammar allows none; without a grammar one before other text stays."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one node: a candidate, or why there is none, and what it cost. `ready`: by the deadline's clock.

    `written`: the call that the outcome came of.
    """

    node: Node
    outcome: Candidate | Rejection
    written: Completion
    calls: tuple[Completion, ...]
    ready: float


async def generate(state: State, tools: Tools) -> State:
    """Sets `state.candidates`: valid statements, distinct as text, in the order found."""
    for route, calls in _budgets(state):
        # A large schema as text takes tenths of a second.
        writer = await asyncio.to_thread(Writer, route, state, tools)
        state = await _explore(writer, calls, state)
    return state


def _budgets(state: State) -> list[tuple[Route, int]]:
    """Calls each route may spend: the budget shared by probability; a route that gets none is left out."""
    total = sum(route.probability for route in state.routes) or 1.0
    shares = [(route, round(state.calls * route.probability / total)) for route in state.routes]
    return [(route, calls) for route, calls in shares if calls > 0]


async def _explore(writer: Writer, calls: int, state: State) -> State:
    conditions = await writer.conditions() if state.k > 1 else ()
    search = MaskSearch(writer.route.entities, writer.elements(), calls, conditions)
    references = writer.references()
    found: dict[str, Candidate] = {}
    at_once = 1
    while len(found) < state.k and (nodes := search.take(at_once)):
        at_once = CONCURRENT
        for attempt in await asyncio.gather(*map(writer.attempt, nodes)):
            state = _noted(state, attempt)
            candidate = attempt.outcome
            if isinstance(candidate, Rejection) or candidate.sql in found:
                continue
            most = min(1 if found else TWINS, state.k - 1)
            found[candidate.sql] = candidate
            others, names = await writer.substituted(candidate, attempt.written, search, most)
            for other in others:
                if found.setdefault(other.sql, other) is other:
                    state = state.noted(TraceLine("generate", "made by exchanging a name", other.sql))
            search.expand(attempt.node, _elements_used(candidate), names | references)
    if not found and writer.grammars:
        attempt = await writer.freely()
        state = _noted(state, attempt)
        if isinstance(attempt.outcome, Candidate):
            found[attempt.outcome.sql] = attempt.outcome
    return replace(state, candidates=state.candidates + tuple(found.values()))


class Writer:
    """Turns nodes of one route's search into checked candidates."""

    def __init__(self, route: Route, state: State, tools: Tools) -> None:
        self.route = route
        self._state = state
        self._tools = tools
        self._text, self._shown = schema_text(route.snapshot, route.tables)
        self._named = mentioned_tables(state.ask.question, self._shown)
        self._tokens = ANSWER_TOKENS

    def elements(self) -> frozenset[ColumnKey]:
        """Everything of the schema that a statement may name: columns, and tables as a whole."""
        columns = {(*table.key, column.name) for table, column in self._shown.columns()}
        return frozenset(columns | {(*table.key, WHOLE_TABLE) for table in self._shown.tables})

    def references(self) -> frozenset[ColumnKey]:
        """The columns that refer to others: a mask on one brings a wrong join, or none."""
        return frozenset(
            (*table.key, column)
            for table in self._shown.tables
            for key in table.foreign_keys
            for column in key.columns
        )

    async def conditions(self) -> tuple[Condition, ...]:
        """The likeliest kinds of statement, as a network reads the question; those told in the same words once."""
        snapshot = self.route.snapshot
        found = await asyncio.to_thread(self._tools.conditions.predict, self._state.ask.question, snapshot)
        told: dict[str, Condition] = {}
        for each in found:
            if each.probability >= LEAST_LIKELY and len(told) < CONDITIONS:
                told.setdefault(words(each), each)
        return tuple(told.values())

    async def substituted(
        self, candidate: Candidate, written: Completion, search: MaskSearch, most: int
    ) -> tuple[list[Candidate], frozenset[ColumnKey]]:
        """At most `most` statements that differ from `candidate` in one name, and the elements that were exchanged.

        First, and beside one name at least, the statement whose literal moves to a column that holds it.
        """
        made: list[Candidate] = []
        names: set[ColumnKey] = set()
        if most and (sql := moved(candidate.sql, self.route.values, self._shown)) is not None:
            other = await self._checked_again(replace(candidate, sql=sql, logprob=None, cost=None))
            made += [other] if other is not None else []
        for twin in await self._twins(candidate, written) if most else ():
            sql = substituted(candidate.sql, twin, self._shown)
            if sql is None or sql == candidate.sql or self._misplaced(sql):
                continue
            mask = candidate.masked | {twin.used}
            score = search.score(mask) * twin.likeness
            other = await self._checked_again(
                replace(candidate, sql=sql, masked=mask, schema_score=score, logprob=None, cost=None)
            )
            if other is not None:
                made.append(other)
                names.add(twin.used)
            if len(made) >= most:
                break
        return made, frozenset(names)

    async def _checked_again(self, candidate: Candidate) -> Candidate | None:
        outcome = await check_candidate(candidate, self.route, self._state, self._tools)
        return outcome if isinstance(outcome, Candidate) else None

    async def _twins(self, candidate: Candidate, written: Completion) -> list[Exchange]:
        """Tables of the same columns, what the model nearly named, and what has nearly the same name, in this order."""
        nearly = [
            Exchange(each.used, each.other, 1.0)
            for each in token_alternatives(candidate, written.tokens, self._shown)
            if each.probability >= DOUBT and interchangeable(each.used, each.other, self._shown)
        ]
        known = {(twin.used, twin.other) for twin in nearly}
        alike = [twin for twin in await self._alike(candidate) if (twin.used, twin.other) not in known]
        return sorted((*nearly, *alike), key=lambda twin: twin.used[2] != WHOLE_TABLE)

    async def _alike(self, candidate: Candidate) -> list[Exchange]:
        texts = phrases(table for table in self._shown.tables if table.key in candidate.tables)
        vectors = await asyncio.to_thread(self._tools.encoder.encode, texts) if texts else ()
        known = dict(zip(texts, vectors, strict=True))
        return exchanges(
            candidate.columns,
            candidate.tables,
            self._shown,
            lambda one, other: float(known[one] @ known[other]),
        )

    @property
    def grammars(self) -> bool:
        """Whether the model writes under a grammar."""
        return self._tools.model.grammars

    async def freely(self) -> Attempt:
        """One statement without a grammar, under which a model that found no way on may write for ever."""
        node = Node(frozenset(), 1.0)
        asked = self._prompt("generate_user", node)
        written = await self._tools.model.complete(
            asked, deadline=self._state.deadline, max_tokens=ANSWER_TOKENS
        )
        outcome = await self._checked(await self._ruled(written), written, node)
        return Attempt(node, outcome, written, (written,), self._state.deadline.clock())

    async def attempt(self, node: Node) -> Attempt:
        """One statement for `node`, repaired once where it was refused with nothing masked."""
        first = await self._complete(self._prompt("generate_user", node), node.mask)
        if not node.mask and first.finished:
            self._tokens = min(ANSWER_TOKENS, 2 * first.generated + SLACK_TOKENS)
        sql = await self._ruled(first)
        outcome = await self._checked(sql, first, node)
        written, calls = first, [first]
        reason = outcome.message if isinstance(outcome, Rejection) else self._unsaid(outcome)
        # What a mask made wrong is rarely put right under the same mask, and costs as much as another statement.
        if reason is not None and first.finished and not node.mask:
            # Under a grammar without them it cannot name again what it went astray with.
            left = replace(node, mask=node.mask | self._stray(outcome))
            again = self._prompt("repair_user", left, sql=sql, reason=reason)
            second = await self._complete(again, left.mask)
            repaired = await self._checked(await self._ruled(second), second, left)
            if isinstance(repaired, Candidate) and (
                isinstance(outcome, Rejection) or not self._unsaid(repaired)
            ):
                outcome, written = repaired, second
            calls.append(second)
        return Attempt(node, outcome, written, tuple(calls), self._state.deadline.clock())

    def _stray(self, outcome: Candidate | Rejection) -> Mask:
        """What is not to be named again: what nothing joins, or the only table where another is asked for."""
        if isinstance(outcome, Rejection):
            return outcome.stray
        asked = {table.key for table in self._named}
        alone = len(outcome.tables) == 1 and not outcome.tables & asked
        return frozenset((*table, WHOLE_TABLE) for table in outcome.tables) if alone else frozenset()

    def _misplaced(self, sql: str) -> bool:
        """Whether a literal is compared with a column that does not hold it although one beside it does."""
        return moved(sql, self.route.values, self._shown) is not None

    def _nearness(self, table: TableKey) -> float:
        """How near a table's name is to any phrase of the question."""
        return max(
            (each.similarities.get((*table, WHOLE_TABLE), -1.0) for each in self.route.entities), default=-1.0
        )

    def _unsaid(self, candidate: Candidate) -> str | None:
        """What the question speaks of and the statement does not, in words for the model; None where it says all."""
        question = self._state.ask.question
        tables = ", ".join(
            table.name for table in tables_not_read(self._named, candidate.tables, self._shown)
        )
        values = ", ".join(values_not_used(question, candidate.sql, self.route.values))
        said = (
            [f"the question is about {tables}, which the statement does not read: join it"] if tables else []
        )
        said += [f"the question is about {values}, which the statement does not filter by"] if values else []
        return "; ".join(said) or None

    async def _complete(self, asked: Prompt, mask: Mask) -> Completion:
        grammar = sql_grammar(self._shown, mask) if self._tools.model.grammars else None
        return await self._tools.model.complete(
            asked,
            deadline=self._state.deadline,
            max_tokens=self._tokens,
            grammar=grammar,
            others=OTHERS if self._state.k > 1 else 0,
        )

    def _prompt(self, name: str, node: Node, **values: str) -> Prompt:
        # Under a grammar the text is the same whatever is masked: the server has it in its prefix cache.
        unnamed = frozenset[ColumnKey]() if self._tools.model.grammars else node.mask
        text = schema_text(without(self._shown, node.mask), ())[0] if unnamed else self._text
        found = value_text(self.route.values, self._shown, unnamed)
        found += example_text(self.route.learned, self._shown, unnamed)
        user = prompt(name, schema=text, values=found, question=self._state.ask.question, **values)
        # As a comment of the answer a condition costs its own tokens alone: what is before it stays the same.
        told = "" if node.condition is None else f"-- {words(node.condition)}\n"
        return Prompt(prompt("generate_system"), user, f"{FENCE}sql\n{told}")

    async def _ruled(self, written: Completion) -> str:
        """What was written, as the rules have it: what is checked, and shown to the model where it is refused."""
        return await asyncio.to_thread(self._put_right, _statement(written.text))

    async def _checked(self, sql: str, written: Completion, node: Node) -> Candidate | Rejection:
        if not written.finished:
            return Rejection(Cause.LENGTH, f"the statement had not ended after {written.generated} tokens")
        candidate = Candidate(
            database=self.route.database.name,
            sql=sql,
            masked=node.mask,
            schema_score=node.schema_score,
            logprob=written.logprob if sql == _statement(written.text) else None,
        )
        if (reason := senseless(sql, self._shown)) is not None:
            return Rejection(Cause.SENSE, reason)
        if node.mask and self._misplaced(sql):
            return Rejection(Cause.SENSE, "a literal stands beside another column than the one that holds it")
        outcome = await check_candidate(candidate, self.route, self._state, self._tools)
        # An alias that two tables share, or a server without grammars, lets a masked name through.
        if isinstance(outcome, Candidate) and (hidden := _elements_used(outcome) & node.mask):
            return Rejection(
                Cause.MASK, f"it reads what is masked: {', '.join(sorted(key[2] for key in hidden))}"
            )
        return outcome

    def _put_right(self, sql: str) -> str:
        """The statement as the rules have it. Parses it once for each: not for the event loop."""
        sql = mended(sql, self._shown, self.route.values)
        sql = with_what_refers(sql, self._shown, self._nearness)
        sql = reworded(sql, self._state.ask.question, self._shown, self._named) or sql
        return unknown_apart(sql, self._shown)


def without(snapshot: Snapshot, mask: Mask) -> Snapshot:
    """The snapshot less the masked elements."""
    tables = {key[:2] for key in mask if key[2] == WHOLE_TABLE}
    left = frozenset(
        (*table.key, column.name)
        for table, column in snapshot.columns()
        if table.key not in tables and (*table.key, column.name) not in mask
    )
    return snapshot.restricted_to(left)


def _statement(text: str) -> str:
    """The SQL of an answer on one line: what stands before the fence that closes it, without the semicolon."""
    return _LINE_BREAK.sub(" ", text.split(FENCE, maxsplit=1)[0].strip().rstrip(";").strip())


def _elements_used(candidate: Candidate) -> frozenset[ColumnKey]:
    """The columns a statement reads, and each table of which it reads none."""
    read = {key[:2] for key in candidate.columns}
    return candidate.columns | {(*table, WHOLE_TABLE) for table in candidate.tables if table not in read}


def _noted(state: State, attempt: Attempt) -> State:
    """The state with the attempt's cost and trace."""
    usage = state.usage
    for call in attempt.calls:
        usage = Usage(
            usage.calls + 1,
            usage.prefilled + call.prefilled,
            usage.cached + call.cached,
            usage.generated + call.generated,
            usage.first_candidate_seconds,
        )
    masked = ", ".join(sorted(".".join(key[1:]) for key in attempt.node.mask)) or "nothing"
    how = f"with {masked} masked"
    if attempt.node.condition is not None:
        how += f", told: {words(attempt.node.condition)}"
    if isinstance(attempt.outcome, Rejection):
        line = TraceLine("generate", f"refused {how}", attempt.outcome.message, attempt.node.score)
    else:
        line = TraceLine("generate", f"written {how}", attempt.outcome.sql, attempt.node.score)
        if usage.first_candidate_seconds is None:
            usage = replace(usage, first_candidate_seconds=attempt.ready - state.started)
    return replace(state, usage=usage).noted(line)
