"""Generates candidates that really differ: best-first search over masked schemas (Odin §5), a model call a node.

Masks are applied in the decoder: the prompt holds the whole schema, the grammar forbids the masked names.
Against a server without grammars they are applied in the prompt, as in the paper. Each statement is checked as
the asker before its children are queued, with one repair from the server's own words.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace

from engine.generation.example_text import example_text
from engine.generation.grammar import WHOLE_TABLE, sql_grammar
from engine.generation.joins import complete_joins
from engine.generation.masks import Mask, MaskSearch, Node
from engine.generation.schema_text import schema_text
from engine.generation.value_text import value_text
from engine.prompts import prompt
from engine.stages.validate import Cause, Rejection, check_candidate
from engine.state import Candidate, ColumnKey, Completion, Prompt, Route, State, Tools
from engine.types import TraceLine, Usage
from schema_catalog.types import Snapshot

ANSWER_TOKENS = 200
"""Tokens of one statement at most."""

SLACK_TOKENS = 24
"""A masked statement may have twice the tokens of the unmasked one and this many more. Where a mask leaves no way to
say what was asked, a model writes on for ever, and what says the same with other columns is about as long."""

CONCURRENT = 3
"""Nodes explored at once after the first: the embedded model serves them in one batch."""

FENCE = "```"

_LINE_BREAK = re.compile(r" *\n *(?=[A-Z(])")
"""Between clauses. Inside a literal the grammar allows none; without a grammar one before other text stays."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one node: a candidate, or why there is none, and what it cost. `ready`: by the deadline's clock."""

    node: Node
    outcome: Candidate | Rejection
    calls: tuple[Completion, ...]
    ready: float


async def generate(state: State, tools: Tools) -> State:
    """Sets `state.candidates`: valid statements, distinct as text, in the order found."""
    for route, calls in _budgets(state):
        state = await _explore(Writer(route, state, tools), calls, state)
    return state


def _budgets(state: State) -> list[tuple[Route, int]]:
    """Calls each route may spend: the budget shared by probability; a route that gets none is left out."""
    total = sum(route.probability for route in state.routes) or 1.0
    shares = [(route, round(state.calls * route.probability / total)) for route in state.routes]
    return [(route, calls) for route, calls in shares if calls > 0]


async def _explore(writer: Writer, calls: int, state: State) -> State:
    search = MaskSearch(writer.route.entities, writer.elements(), calls)
    found: dict[str, Candidate] = {}
    width = 1
    while len(found) < state.k and (nodes := search.take(width)):
        for attempt in await asyncio.gather(*map(writer.attempt, nodes)):
            state = _noted(state, attempt)
            if isinstance(attempt.outcome, Candidate):
                search.expand(attempt.node, _elements_used(attempt.outcome))
                found.setdefault(attempt.outcome.sql, attempt.outcome)
        width = CONCURRENT
    return replace(state, candidates=state.candidates + tuple(found.values()))


class Writer:
    """Turns nodes of one route's search into checked candidates."""

    def __init__(self, route: Route, state: State, tools: Tools) -> None:
        self.route = route
        self._state = state
        self._tools = tools
        self._text, self._shown = schema_text(route.snapshot, route.tables)
        self._tokens = ANSWER_TOKENS

    def elements(self) -> frozenset[ColumnKey]:
        """Everything of the schema that a statement may name: columns, and tables as a whole."""
        columns = {(*table.key, column.name) for table, column in self._shown.columns()}
        return frozenset(columns | {(*table.key, WHOLE_TABLE) for table in self._shown.tables})

    async def attempt(self, node: Node) -> Attempt:
        """One statement for `node`, repaired once where it was refused."""
        first = await self._complete(self._prompt("generate_user", node.mask), node.mask)
        if not node.mask and first.finished:
            self._tokens = min(ANSWER_TOKENS, 2 * first.generated + SLACK_TOKENS)
        outcome = await self._checked(first, node)
        calls = [first]
        if isinstance(outcome, Rejection) and first.finished:
            again = self._prompt("repair_user", node.mask, sql=_statement(first.text), reason=outcome.message)
            second = await self._complete(again, node.mask)
            repaired = await self._checked(second, node)
            outcome = repaired if isinstance(repaired, Candidate) else outcome
            calls.append(second)
        return Attempt(node, outcome, tuple(calls), self._state.deadline.clock())

    async def _complete(self, asked: Prompt, mask: Mask) -> Completion:
        grammar = sql_grammar(self._shown, mask) if self._tools.model.grammars else None
        return await self._tools.model.complete(
            asked, deadline=self._state.deadline, max_tokens=self._tokens, grammar=grammar
        )

    def _prompt(self, name: str, mask: Mask, **values: str) -> Prompt:
        # Under a grammar the text is the same whatever is masked: the server has it in its prefix cache.
        unnamed = frozenset[ColumnKey]() if self._tools.model.grammars else mask
        text = schema_text(without(self._shown, mask), ())[0] if unnamed else self._text
        found = value_text(self.route.values, self._shown, unnamed)
        found += example_text(self.route.learned, self._shown, unnamed)
        user = prompt(name, schema=text, values=found, question=self._state.ask.question, **values)
        return Prompt(prompt("generate_system"), user, f"{FENCE}sql\n")

    async def _checked(self, written: Completion, node: Node) -> Candidate | Rejection:
        if not written.finished:
            return Rejection(Cause.LENGTH, f"the statement had not ended after {written.generated} tokens")
        sql = complete_joins(_statement(written.text), self._shown)
        candidate = Candidate(
            database=self.route.database.name,
            sql=sql,
            masked=node.mask,
            schema_score=node.score,
            logprob=written.logprob,
        )
        outcome = await check_candidate(candidate, self.route, self._state, self._tools)
        # An alias that two tables share, or a server without grammars, lets a masked name through.
        if isinstance(outcome, Candidate) and (hidden := _elements_used(outcome) & node.mask):
            return Rejection(
                Cause.MASK, f"it reads what is masked: {', '.join(sorted(key[2] for key in hidden))}"
            )
        return outcome


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
    if isinstance(attempt.outcome, Rejection):
        line = TraceLine(
            "generate", f"refused with {masked} masked", attempt.outcome.message, attempt.node.score
        )
    else:
        line = TraceLine("generate", f"written with {masked} masked", attempt.outcome.sql, attempt.node.score)
        if usage.first_candidate_seconds is None:
            usage = replace(usage, first_candidate_seconds=attempt.ready - state.started)
    return replace(state, usage=usage).noted(line)
