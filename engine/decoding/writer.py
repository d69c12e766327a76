"""The model's calls for one route: prompt, grammar, and the limit of tokens.

Masks are applied by the grammar under an unchanged prompt; without grammars in the prompt, as in Odin (§5). Conditions
(MetaSQL §III) are a comment that the answer begins with, so that the prompt stays in the server's prefix cache.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

from engine.conditions.types import Condition
from engine.conditions.words import words
from engine.core.elements import is_masked
from engine.core.ports import Completion, Prompt
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.decoding.mask_search import Mask, Node
from engine.decoding.sql_grammar import sql_grammar
from engine.dialogue.answering import chosen, forbidden
from engine.prompting.known_text import known_text
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from engine.schema_linking.unlikely import DOUBTFUL, LEAST, unlikely
from schema_catalog.types import ColumnKey, Snapshot

ANSWER_TOKENS = 200
"""Tokens of one statement at most."""

SLACK_TOKENS = 24
"""Tokens of a masked statement at most: twice those of the unmasked one, and this many more. Where a mask leaves no
way to answer the question, a model does not end."""

CONDITIONS = 2
"""Conditions in use at most, the likeliest ones."""

LEAST_LIKELY = 0.2
"""Least probability of a condition."""

OTHER_TOKENS = 20
"""Tokens with their probabilities that the model gives for each that it wrote."""

FENCE = "```"

_LINE_BREAK = re.compile(r" *\n *(?=[A-Z(])")
"""Between clauses. Inside a literal the grammar allows none; without a grammar one before other text stays."""


class Writer:
    """One route's model calls.

    `shown`: the part of the schema that the prompt shows and the grammar names. `root`: what no statement may name.
    """

    def __init__(self, route: Route, state: State, tools: Tools) -> None:
        self.route = route
        self._state = state
        self._tools = tools
        self._text, self.shown = schema_text(route.snapshot, route.tables)
        self.root: Mask = frozenset().union(*map(forbidden, state.dialogue.turns))
        self._unlikely = self._never_meant() if tools.generation.links else frozenset[ColumnKey]()
        self._tokens = ANSWER_TOKENS

    @property
    def grammars(self) -> bool:
        """Whether the model writes under a grammar."""
        return self._tools.model.grammars

    @property
    def forks(self) -> bool:
        """Whether an answer can be gone on with from where it might have become another one."""
        return self._tools.model.goes_on and self._tools.generation.forks

    async def conditions(self) -> tuple[Condition, ...]:
        """The likeliest conditions."""
        predict = self._tools.conditions.predict
        found = await asyncio.to_thread(predict, self._state.ask.question, self.route.snapshot)
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
        return sql_grammar(self.shown, mask | self._unlikely, self.route.lists)

    def _prompt(self, name: str, node: Node, **values: str) -> Prompt:
        # Under a grammar the text is the same for every mask: the server has it in its prefix cache.
        unnamed = frozenset[ColumnKey]() if self.grammars else node.mask | self._unlikely
        text = schema_text(without(self.shown, unnamed), ())[0] if unnamed else self._text
        found = known_text(self.route, self._state.dialogue, self.shown, unnamed)
        user = prompt(name, schema=text, values=found, question=self._state.ask.question, **values)
        comment = "" if node.condition is None else f"-- {words(node.condition)}\n"
        begun = "" if node.fork is None else node.fork.text
        return Prompt(prompt("generate_system"), user, f"{FENCE}sql\n{comment}", begun)

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
        return self._not_meant((link.column for link in self.route.values), LEAST)

    def _not_meant(self, known: Iterable[ColumnKey], least: float) -> Mask:
        answers = filter(None, map(chosen, self._state.dialogue.turns))
        wanted = {element for option in answers for element in option.elements}
        return unlikely(self.route.links, self.shown, wanted.union(known), least)


def statement(text: str) -> str:
    """The SQL of an answer on one line, up to the closing fence, without the semicolon."""
    return _LINE_BREAK.sub(" ", text.split(FENCE, maxsplit=1)[0].strip().rstrip(";").strip())


def without(snapshot: Snapshot, mask: Mask) -> Snapshot:
    """The snapshot less the masked elements."""
    columns = frozenset((*table.key, column.name) for table, column in snapshot.columns())
    return snapshot.restricted_to(frozenset(key for key in columns if not is_masked(key, mask)))
