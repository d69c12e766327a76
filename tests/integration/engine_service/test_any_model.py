"""Five questions to a model of each service: by address, key and name alone, in one or two calls each."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from engine.app.service import Service
from engine.llm.client import ChatModel
from engine.values.deadline import Deadline
from engine.values.messages import Asker, AskRequest, RowKind
from engine.values.model_settings import ModelSettings, Provider
from engine.values.settings import GenerationSettings, Limits
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving
from tests.support.providers import PROVIDERS, serve
from tests.support.providers import Service as Stand

ASKED = {
    "How many singers are there?": "SELECT count(*) FROM singer",
    "Who is the oldest singer?": "SELECT name FROM singer ORDER BY age DESC NULLS LAST LIMIT 1",
    "What is the average age of singers?": "SELECT avg(age) FROM singer",
    "List the names of singers over 40.": "SELECT name FROM singer WHERE age > 40",
    "What are the family names of singers in order?": "SELECT family_name FROM singer ORDER BY family_name",
}
WRAPPED = {
    "anthropic": "Here is what the question may mean:\n```json\n{}\n```",
    "deepseek-reasoner": "{}",
    "ollama-older": "<think>It asks about singers, so SELECT something.</think>\n{}",
    "lm-studio": "```\n{}\n```",
}
"""How a service's models wrap what they are asked for, where they do."""


def instructed(name: str) -> Any:
    """What a model says that follows instructions; to what is no question about data, yes."""

    def says(body: dict[str, Any]) -> str:
        user = body["messages"][-1]["content"]
        question = next((each for each in ASKED if each in user), None)
        if question is None:
            return '{"answer": "yes"}' if "response_format" in body else "yes"
        reading = {"meaning": question.rstrip("?."), "sql": ASKED[question], "assumes": ""}
        said = json.dumps({"readings": [reading], "cannot": None})
        return WRAPPED.get(name, "{}").replace("{}", said)

    return says


@asynccontextmanager
async def served(name: str, tools: Tools, pool: Any) -> AsyncIterator[tuple[Stand, Service]]:
    async with serve(PROVIDERS[name], instructed(name)) as stand:
        azure = stand.provider.path == "/openai"
        settings = ModelSettings(
            base_url=stand.base_url,
            api_key=stand.key,
            model=stand.model,
            provider=Provider.AZURE if azure else Provider.OPENAI,
        )
        model = ChatModel(settings, stand.base_url)
        await model.find_out(Deadline(time.monotonic() + 20))
        built = replace(tools, model=model, generation=GenerationSettings())
        try:
            yield stand, serving(built, pool, Limits(k=3))
        finally:
            await model.aclose()


async def test_five_questions_are_answered_by_a_model_of_every_service(tools: Tools, pool: Any) -> None:
    for name in PROVIDERS:
        async with served(name, tools, pool) as (stand, service):
            stand.refused.clear()
            for question, sql in ASKED.items():
                before = len(stand.requests)
                reply = await service.ask(AskRequest(Asker("ana", "music"), question, db="music"))
                assert [(row.kind, row.sql) for row in reply.rows] == [(RowKind.CANDIDATE, sql)], name
                assert reply.rows[0].explanation.startswith(question.rstrip("?.")), name
                assert len(stand.requests) - before <= 2, name
            assert max(stand.refused.values(), default=0) <= 1, (name, stand.refused)
