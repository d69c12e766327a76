"""Which services answer: five recorded questions to a strict stand-in of each, by address, key and name alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.harness.drawing import Item
from benchmarks.harness.questions import Question
from benchmarks.harness.site import Site
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.recorded import asked, asking_for_readings
from engine.app import pipeline
from engine.llm.client import ChatModel
from engine.values.model_settings import ModelSettings, Provider
from tests.support.providers import PROVIDERS, serve

QUESTIONS = 5
MOST_CALLS = 2
"""Of the model for one question, once it is known what its service can do."""


async def answering(place: Site, items: Sequence[Item], said: Mapping[str, str]) -> dict[str, bool]:
    """For each service whether all five are answered, in at most two calls each, and no field is refused twice."""

    def says(body: dict[str, Any]) -> str:
        reply = said.get(asked(body["messages"][-1]["content"]))
        return reply or ('{"answer": "yes"}' if "response_format" in body else "yes")

    found = {}
    for name, provider in PROVIDERS.items():
        async with serve(provider, says) as stand:
            azure = provider.path == "/openai"
            settings = ModelSettings(
                base_url=stand.base_url,
                api_key=stand.key,
                model=stand.model,
                provider=Provider.AZURE if azure else Provider.OPENAI,
            )
            model = ChatModel(settings, stand.base_url)
            tools = asking_for_readings(place.tools, model)
            states = [
                await pipeline.run(asked_now(Question(each["id"], each["question"], each["db"]), 3), tools)
                for each in items[:QUESTIONS]
            ]
            await model.aclose()
            found[name] = (
                all(each.candidates and each.usage.calls <= MOST_CALLS for each in states)
                and max(stand.refused.values(), default=0) <= 1
            )
    return found
