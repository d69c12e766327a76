"""A question about the schema `MUSIC` through stages of the engine: a model of one line, a server that plans."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from engine.link.element_text import linked
from engine.question.question import Question
from engine.values.deadline import Deadline
from engine.values.guard_rules import BUILT_IN, Rules
from engine.values.messages import Asker, AskRequest
from engine.values.ports import Result, StatementError
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.write import write
from schema_catalog.types import Database, Snapshot, TableKey
from tests.support.schemas import MUSIC
from tests.support.scripted import ScriptedLLM, WordEncoder
from tests.support.tools import bare_tools

Stage = Callable[[State, Tools], Awaitable[State]]

DATABASE = Database("music", "", "music", ("public",), ("public",))


@dataclass
class PlanningUpstream:
    """Plans everything but what holds a text of `refused`, which says why; gives the statement itself as its row."""

    refused: Mapping[str, str] = field(default_factory=dict)
    planned: list[str] = field(default_factory=list)

    async def rules(self, *_: object) -> Rules:
        """Of a server of which nothing is known."""
        return BUILT_IN

    async def row_secured(self, *_: object) -> frozenset[TableKey]:
        """No table."""
        return frozenset()

    async def explain(self, _database: Database, _asker: Asker, sql: str, _deadline: Deadline) -> float:
        """Raises `StatementError` for what is refused."""
        self.planned.append(sql)
        for part, message in self.refused.items():
            if part in sql:
                raise StatementError("42883", message, None, None, None)
        return 1.0

    async def run(self, _database: Database, _asker: Asker, sql: str, *_: object) -> Result:
        """One row; raises `StatementError` for a look at the data, of which there are none."""
        if sql.startswith("SELECT (SELECT"):
            raise StatementError("42P01", "there are no data", None, None, None)
        return Result((("sql", "text"),), ((sql,),), truncated=False)


def route(question: str, snapshot: Snapshot = MUSIC) -> Route:
    """To the schema, with all of it shown."""
    tables = tuple(table.key for table in snapshot.tables)
    return Route(DATABASE, snapshot, 1.0, tables, linked((question,), snapshot, cast("Any", WordEncoder())))


def asked(question: str, to: Route, k: int = 3) -> State:
    """A question at its beginning, with a single call of the model."""
    return State(
        AskRequest(Asker("ana", "music"), question),
        Question(question),
        k,
        1,
        Deadline(1e12),
        0.0,
        routes=(to,),
    )


def tools(
    sql: str, upstream: PlanningUpstream | None = None, settings: GenerationSettings | None = None
) -> Tools:
    """A model that writes `sql` whatever it is asked."""
    nothing = cast("Any", None)
    server = cast("Any", upstream or PlanningUpstream())
    model = cast("Any", ScriptedLLM([sql]))
    encoder = cast("Any", WordEncoder())
    generation = replace(settings or GenerationSettings(), strategy=Strategy.SEARCH)
    return bare_tools(nothing, server, encoder, model, nothing, generation=generation)


def answered(
    question: str,
    sql: str,
    upstream: PlanningUpstream | None = None,
    stages: Sequence[Stage] = (write,),
    settings: GenerationSettings | None = None,
) -> State:
    """The question after the stages."""

    async def through() -> State:
        state, given = asked(question, route(question)), tools(sql, upstream, settings)
        for stage in stages:
            state = await stage(state, given)
        return state

    return asyncio.run(through())
