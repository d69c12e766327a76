"""A model that says given lines, and what the search makes of them over one schema."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.link.element_text import linked
from engine.question.question import Question
from engine.values.conditions import Condition, Hardness, Operator, StatementKind
from engine.values.deadline import Deadline
from engine.values.elements import SchemaLinks, ValueLink
from engine.values.errors import CancelledError
from engine.values.messages import Asker, AskRequest
from engine.values.model_profile import ModelProfile
from engine.values.model_settings import GrammarSupport
from engine.values.ports import Completion, Prompt, Token
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import Route, State
from engine.write.write import write
from schema_catalog.types import Snapshot
from tests.support.asking import DATABASE, PlanningUpstream
from tests.support.schemas import MUSIC
from tests.support.scripted import WordEncoder
from tests.support.tools import bare_tools


def condition(operator: Operator, hardness: Hardness, probability: float) -> Condition:
    return Condition(StatementKind(frozenset({operator}), hardness), probability)


CONDITIONS = (
    condition(Operator.ORDER, Hardness.EASY, 0.5),
    condition(Operator.ORDER, Hardness.MEDIUM, 0.3),
    condition(Operator.GROUP, Hardness.EASY, 0.25),
    condition(Operator.WHERE, Hardness.EASY, 0.05),
)


WITH_GRAMMARS = ModelProfile(grammar=GrammarSupport.STRUCTURED_OUTPUTS)


@dataclass
class Model:
    """Says what the first of `lines` says whose words are in the prompt, else the last."""

    lines: Sequence[tuple[str, str]]
    prompts: list[str] = field(default_factory=list)
    profile: ModelProfile = WITH_GRAMMARS
    stuck: bool = False
    nearly: tuple[str, float] | None = None
    """In place of each word, which itself has a probability of .8."""
    in_time: int | None = None
    """Calls after which the time is over."""

    async def complete(self, prompt: Prompt, grammar: str | None = None, **_: object) -> Completion:
        self.prompts.append(f"{prompt.user}\n{prompt.prefix}{prompt.begun}")
        if self.in_time is not None and len(self.prompts) > self.in_time:
            raise CancelledError("the language model did not answer in time")
        if self.stuck and grammar is not None:
            return Completion("SELECT DATE", 1, 0, 200, -0.1, finished=False)
        line = next((line for words, line in self.lines if words in self.prompts[-1]), self.lines[-1][1])
        others = () if self.nearly is None else (self.nearly,)
        tokens = tuple(Token(f" {word}", ((f" {word}", 0.8), *others)) for word in line.split())
        return Completion(f"{line}\n```", 1, 0, 9, -0.1, finished=True, tokens=tokens)


class Conditions:
    """Always says the same."""

    def predict(self, *_: object) -> tuple[Condition, ...]:
        return CONDITIONS


def generated(
    model: Model,
    k: int = 6,
    question: str = "artist name of each singer",
    values: tuple[ValueLink, ...] = (),
    settings: GenerationSettings | None = None,
    *,
    links: SchemaLinks | None = None,
    phrases: tuple[str, ...] = ("artist name", "singer"),
    schema: Snapshot = MUSIC,
) -> State:
    encoder: Any = WordEncoder()
    shown = linked(phrases, schema, encoder)
    tables = tuple(table.key for table in schema.tables)
    route = Route(DATABASE, schema, 1.0, tables, shown, values, links=links)
    given: dict[str, Any] = {"model": model, "upstream": PlanningUpstream(), "conditions": Conditions()}
    searching = replace(settings or GenerationSettings(), strategy=Strategy.SEARCH)
    tools = bare_tools(encoder=encoder, generation=searching, **given)
    state = State(
        AskRequest(Asker("ana", "music"), question),
        Question(question),
        k,
        6,
        Deadline(1e12),
        0.0,
        routes=(route,),
    )
    return asyncio.run(write(state, tools))
