"""The prompt for the readings of a question: instructions, the schema, what is known beside it, the day, the question.

Owns what is said, in which order and room; what stays the same for every question stands first. Who asks, and what
becomes of the reply, is `engine.write.readings.generator`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.link.withheld import for_service
from engine.llm.prompts import prompt
from engine.statement.written import as_literal
from engine.values.deadline import Deadline
from engine.values.dialogue import Dialogue, FollowUp
from engine.values.errors import NLError
from engine.values.ports import Prompt, StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.known_text import asked_texts, known_text, rules_text, turns_text
from engine.write.readings.schema import Described, described
from schema_catalog.types import TableKey

ROOM = 100_000
"""Characters of schema in a prompt where the model's context is not known: some 30,000 tokens."""

CHARACTERS = 3
"""Characters a token has at least, in schemas and questions."""

BESIDE = 6_000
"""Tokens of the context that are kept for the rest of the prompt and the answer."""

LEAST_ROOM = 3_000
"""Characters of schema at least, however small the context is said to be."""

ZONE_SECONDS = 5.0
"""For asking the asker's session for its time zone."""


def room(context: int | None) -> int:
    """Characters of schema for a model that takes so many tokens."""
    return ROOM if context is None else max(LEAST_ROOM, (context - BESIDE) * CHARACTERS)


@dataclass(frozen=True, slots=True)
class Server:
    """What a prompt says of one database's server. `zone`: of the asker's session, empty where it is not known."""

    version: int
    zone: str = ""

    @classmethod
    async def of(cls, route: Route, state: State, tools: Tools) -> Server:
        """Asks for them as the asker; raises what `Upstream.rules` does."""
        rules = await tools.upstream.rules(route.database)
        clock = state.deadline.clock
        soon = Deadline(clock() + min(ZONE_SECONDS, state.deadline.remaining()), clock)
        sql = "SELECT current_setting('TimeZone') AS zone"
        try:
            result = await tools.upstream.run(route.database, state.ask.asker, sql, 1, soon)
        except (StatementError, NLError):
            state.deadline.remaining()
            return cls(rules.version)
        said = (result.rows[0][0] or "") if result.columns[0][0] == "zone" and result.rows else ""
        return cls(rules.version, said)

    @property
    def words(self) -> str:
        """In a line of the prompt."""
        zone = f", time zone of the session: {self.zone}" if self.zone else ""
        return f"PostgreSQL {self.version}{zone}"


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the prompts for one question. `schemas`: of its routes, in their order."""

    servers: tuple[Server, ...]
    schemas: tuple[Described, ...]

    @classmethod
    async def of(cls, state: State, tools: Tools, characters: int) -> Writer:
        """With the schemas in so many characters together."""
        servers = await asyncio.gather(*(Server.of(each, state, tools) for each in state.routes))
        return await cls(tuple(servers), ()).showing(state, characters)

    async def showing(self, state: State, characters: int, seen: frozenset[TableKey] = frozenset()) -> Writer:
        """With the schemas in so many characters, less the tables in full that were `seen`."""
        each_room = characters // len(state.routes)
        schemas = [await asyncio.to_thread(described, each, each_room, seen) for each in state.routes]
        return replace(self, schemas=tuple(schemas))

    def prompt(self, state: State, unread: FollowUp | None, more: str = "") -> Prompt:
        """For the question of `state`, with `more` behind it. `unread`: what it goes on from. Blocks: in a thread."""
        user = self._user(state, unread)
        text = "\n\n".join(filter(None, (user, more)))
        return Prompt(prompt("readings_system"), text, asked=asked_texts(state), local=state.local)

    def _user(self, state: State, unread: FollowUp | None) -> str:
        question, before = state.question.text, ""
        if unread is not None:
            question = unread.then
            before = prompt("readings_before", turns=turns_text(unread, as_literal)) + "\n\n"
        # By name, so that the same databases begin a prompt in the same order.
        order = sorted(range(len(state.routes)), key=lambda number: state.routes[number].database.name)
        return prompt(
            "readings_user",
            schema="\n\n".join(self._schema(state.routes, number) for number in order),
            known="".join(self._known(state, number) for number in order),
            before=before,
            today=f"{state.question.today:%A}, {state.question.today}",
            question=question,
        )

    def _schema(self, routes: Sequence[Route], number: int) -> str:
        name = f"database {routes[number].database.name}, " if len(routes) > 1 else ""
        schema = self.schemas[number]
        return f"{name}{self.servers[number].words}\n{schema.text}{rules_text(schema.shown)}"

    def _known(self, state: State, number: int) -> str:
        """What is known beside the schema; values and codes that stand in it are not told again."""
        schema = self.schemas[number]
        route = for_service(state.routes[number])
        values = tuple(
            each
            for each in route.values
            if each.column not in schema.listed and not (each.coded and each.column[:2] in schema.full)
        )
        contents = tuple(each for each in route.contents if each.column[:2] not in schema.full)
        route = replace(route, values=values, contents=contents)
        dialogue = state.dialogue if number == 0 else Dialogue()
        return known_text(route, dialogue, schema.shown, quote=as_literal)
