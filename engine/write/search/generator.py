"""The search strategy: candidates that really differ, a model call each: a statement, its forks, a search over masks.

Owns the order and the budget: the statement, then its forks (`engine.write.search.forks`), then, if switched on, a
best-first search over conditions (MetaSQL §III, `engine.write.conditions`) and masked schemas (Odin §5,
`engine.write.masks`). Each statement is admitted before its children are queued. If the first answer uses a column that
the linker doubts, and not what it links, a second is written with that column masked. If the model was sure of its
answer, nothing more is asked. Readings by rule (`engine.findings`), exchanged names (`engine.write.exchanges`) and what
is made of the corrections of near questions (`engine.write.near_questions`) cost no call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from engine.findings.admit import Door
from engine.llm.replies import statement
from engine.values.candidate import Candidate, change_lines
from engine.values.conditions import words
from engine.values.elements import elements_read
from engine.values.errors import CancelledError
from engine.values.messages import TraceLine
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.exchanges import ExchangedStatements, find_exchanges
from engine.write.masks import MaskSearch, Node
from engine.write.near_questions import of_near_questions
from engine.write.search.forks import Fork, forks
from engine.write.search.writer import Attempt, Attempts, Writer
from schema_catalog.types import ColumnKey

STAGE = "write"

NAMED = 4
"""Masked elements that a line of the trace names."""

CONCURRENT = 3
"""Nodes explored at once: the embedded model serves them in one batch. The first goes alone: it is sooner done, and the
model's server guesses most of the others from it. The masked second answer comes on top, and starts when one ends."""

FORKS = 2
"""Forks of the first answer that are written."""

SURE = 0.3
"""Chance of a fork below which the model was sure of its answer: it is not written beside one that stands."""

EXCHANGED = 2
"""One in so many of the remaining places, and at least one, goes to name exchanges of the first statement: if they took
all, no statement of another structure would be written. Each further statement gets one at most. They fill what the
search leaves empty."""

BEGINNING = 40
"""Tokens of an answer without an end in which forks are looked for: it goes astray early, listing column after column,
and what it nearly wrote in its place ended the list."""


@dataclass(slots=True)
class _Found:
    """What the search has found, by text, in order; and what can be made of it without a call.

    That is of the `first` statement, of its `forks`, and `doubly`, with two names exchanged.
    """

    statements: dict[str, Candidate] = field(default_factory=dict)
    readings: dict[str, Candidate] = field(default_factory=dict)
    first: ExchangedStatements | None = None
    forks: list[ExchangedStatements] = field(default_factory=list)
    doubly: list[ExchangedStatements] = field(default_factory=list)

    def take(self, attempt: Attempt) -> bool:
        """Adds what an attempt gave; whether one of its statements is new."""
        if not self.add(attempt.candidates):
            return False
        self.readings.update((each.sql, each) for each in attempt.readings)
        return True

    def add(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Those of `candidates` that are new."""
        new = [each for each in candidates if each.sql not in self.statements]
        self.statements.update((each.sql, each) for each in new)
        return new

    def kept(self) -> list[Candidate]:
        """The statements, and the readings that are none of them."""
        return [
            *self.statements.values(),
            *(each for each in self.readings.values() if each.sql not in self.statements),
        ]


async def search(state: State, tools: Tools) -> State:
    """`state` with the statements of each route, in the order found; readings behind the others.

    Raises `CancelledError` where the time is over before there is one.
    """
    for route, calls in _budgets(state):
        # A large schema as text takes tenths of a second.
        writer = await asyncio.to_thread(Writer, route, state, tools)
        door = await Door.of(route, state, tools, writer.shown)
        state = await Explorer(writer, door).explore(calls, state)
    return state


def _budgets(state: State) -> list[tuple[Route, int]]:
    """Calls each route may spend: the budget shared by probability; a route that gets none is left out."""
    total = sum(route.probability for route in state.routes) or 1.0
    shares = [(route, round(state.calls * route.probability / total)) for route in state.routes]
    return [(route, calls) for route, calls in shares if calls > 0]


class Explorer:
    """The search over one route's masked schemas. `door`: of its statements."""

    def __init__(self, writer: Writer, door: Door) -> None:
        self.door = door
        self._state = self._told = door.state
        self._tools = door.tools
        self._writer = writer
        self._shown = writer.shown
        self._attempts = Attempts(writer, door)

    async def explore(self, calls: int, state: State) -> State:
        """`state` with what the search found, until there are `k` statements beside readings or no calls are left.

        What was found when the time is over is kept; without anything it raises `CancelledError`.
        """
        self._told, found = state, _Found()
        try:
            await self._search(calls, found)
        except CancelledError:
            if not (found.statements or state.candidates or state.verified):
                raise
            self._told = replace(self._told, late=True)
        kept = found.kept()
        told = replace(self._told, candidates=(*state.candidates, *kept)).noted(*change_lines(kept))
        return told.out_of_time(STAGE) if told.late else told

    async def _search(self, calls: int, found: _Found) -> None:
        conditions = await self._writer.conditions() if self._state.k > 1 else ()
        search = MaskSearch(
            self.door.route.entities, self._elements(), calls, conditions, root=self._writer.root
        )
        references = self._references()
        nodes = whole = search.take(1)
        while nodes:
            attempts = await self._attempted(nodes, found)
            for attempt in attempts:
                self._told = _noted(self._told, attempt)
                if not found.take(attempt):
                    continue
                statements = await self._exchanged(attempt, search)
                if attempt.node.fork is not None:
                    found.forks.append(statements)
                    continue
                k = self._state.k
                most = 1 if found.first else max(1, (k - 1) // EXCHANGED)
                made = await self._made(statements, min(k - 1, most), found)
                if found.first is None:
                    found.first = statements
                    found.doubly = [statements.beside(*each) for each in made]
                if self._tools.generation.masks and not self._writer.forks:
                    names = {used for _, used in made}
                    search.expand(attempt.node, _elements_used(attempt.candidates[0]), references | names)
            first = nodes is whole
            if first and self._state.k > 1:
                found.add(await of_near_questions(self.door, self._writer.root, search.score))
            others = self._forks(attempts[0]) if first else []
            doubtful = self._doubtful_elements(attempts[0]) if first else frozenset[ColumnKey]()
            if first and not doubtful and not others and self._writer.forks and _stands(attempts[0]):
                break
            branches = search.branch(nodes[0], others)
            most = min(CONCURRENT - len(branches), self._state.k - len(found.statements))
            nodes = [*branches, *search.take(most), *search.without(doubtful)]
        await self._filled(found)

    async def _attempted(self, nodes: Sequence[Node], found: _Found) -> list[Attempt]:
        """An attempt at each node. Where the time is over before all have ended, keeps what the others found."""
        outcomes = await asyncio.gather(*map(self._attempts.at, nodes), return_exceptions=True)
        attempts = [each for each in outcomes if not isinstance(each, BaseException)]
        problems = [each for each in outcomes if isinstance(each, BaseException)]
        if problems and all(isinstance(each, CancelledError) for each in problems):
            for attempt in attempts:
                self._told = _noted(self._told, attempt)
                found.take(attempt)
        for problem in sorted(problems, key=lambda each: isinstance(each, CancelledError)):
            raise problem
        return attempts

    async def _filled(self, found: _Found) -> None:
        """Adds one statement made of each fork, and what the first one gives as long as there are fewer than `k`."""
        k = self._state.k
        if found.first is not None:
            await self._made(found.first, k - len(found.statements), found)
        for statements in found.forks:
            await self._made(statements, 1, found)
        for statements in found.doubly:
            await self._made(statements, min(1, k - len(found.statements)), found)

    async def _made(
        self, statements: ExchangedStatements, most: int, found: _Found
    ) -> list[tuple[Candidate, ColumnKey]]:
        """At most so many further ones of `statements`, added to what is found."""
        made = await statements.take(most)
        new = found.add(each for each, _ in made)
        self._told = self._told.noted(
            *(TraceLine(STAGE, "made by exchanging a name", each.sql) for each in new)
        )
        return made

    def _doubtful_elements(self, attempt: Attempt) -> frozenset[ColumnKey]:
        """What the first attempt read in doubt: another is written without it."""
        if not attempt.candidates or self._state.k == 1:
            return frozenset()
        leading = attempt.leading
        return self._writer.narrowed(elements_read(leading.columns, leading.tables))

    def _forks(self, attempt: Attempt) -> list[Fork]:
        """What is worth writing again of the attempt's first answer; of its beginning where it has no end."""
        written = attempt.calls[0]
        if self._state.k == 1 or not self._writer.forks:
            return []
        found = forks(written.tokens if written.finished else written.tokens[:BEGINNING])[:FORKS]
        return [each for each in found if each.chance >= SURE or not _stands(attempt)]

    async def _exchanged(self, attempt: Attempt, search: MaskSearch) -> ExchangedStatements:
        """What differs in one name from the attempt's leading statement; none where one statement is asked for."""
        wanted = self._state.k > 1 and self._tools.generation.exchanges
        leading, context, encoder = attempt.leading, self.door.context, self._tools.encoder
        found = await find_exchanges(leading, context, encoder) if wanted else []
        return ExchangedStatements(leading, found, search.score, self.door)

    def _elements(self) -> frozenset[ColumnKey]:
        """Everything of the schema that a statement may name."""
        columns = ((*table.key, column.name) for table, column in self._shown.columns())
        return elements_read(columns, (table.key for table in self._shown.tables))

    def _references(self) -> frozenset[ColumnKey]:
        """The columns that refer to others: a mask on one brings a wrong join, or none."""
        return frozenset(
            (*table.key, column)
            for table in self._shown.tables
            for key in table.foreign_keys
            for column in key.columns
        )


def _stands(attempt: Attempt) -> bool:
    """Whether the answer needed no second call."""
    return len(attempt.calls) == 1 and bool(attempt.candidates)


def _elements_used(candidate: Candidate) -> frozenset[ColumnKey]:
    """The columns a statement reads, and each table of which it reads none."""
    read = {key[:2] for key in candidate.columns}
    return elements_read(candidate.columns, candidate.tables - read)


def _masked(node: Node) -> str:
    names = sorted(".".join(key[1:]) for key in node.mask)
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more]) or "nothing"


def _noted(state: State, attempt: Attempt) -> State:
    """The state with the attempt's cost and trace."""
    usage = state.usage
    for call in attempt.calls:
        usage = usage.plus(call.usage)
    how = f"with {_masked(attempt.node)} masked"
    if attempt.node.fork is not None:
        how += f", begun: {attempt.node.fork.text}"
    if attempt.node.condition is not None:
        how += f", told: {words(attempt.node.condition)}"
    if attempt.rejection is not None:
        refused = f"{attempt.rejection.message}: {' '.join(statement(attempt.calls[-1].text).split())}"
        line = TraceLine(STAGE, f"refused {how}", refused, attempt.node.score)
        return replace(state, usage=usage).noted(line)
    if usage.first_candidate_seconds is None:
        usage = replace(usage, first_candidate_seconds=attempt.ready - state.started)
    lines = [
        TraceLine(
            STAGE,
            f"written {how}",
            each.changes[0].before if each.changes else each.sql,
            attempt.node.score,
        )
        for each in attempt.candidates
    ]
    return replace(state, usage=usage).noted(*lines)
