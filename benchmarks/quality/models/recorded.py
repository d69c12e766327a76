"""A server of OpenAI's protocol that answers with a strong model's recorded readings, found by the question.

Owns the matching, and the form of a reply. What was recorded is never the gold: some of it is wrong.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from benchmarks.harness.drawing import Item, read_items
from benchmarks.harness.processes import HOST
from engine.core.tools import Tools
from engine.llm.client import ChatModel
from engine.llm.settings import GrammarSupport, ModelSettings
from engine.settings import Strategy

FILE = "strong/answers.jsonl"
MODEL = "recorded"
_QUESTION = "### Question\n"


def recorded(bench: Path) -> list[Item]:
    """What was recorded: a question, and its readings or why there is none."""
    return list(read_items(bench / FILE))


def reply(item: Item) -> str:
    """The reply to a question, in JSON."""
    found = [{**reading, "assumes": ""} for reading in item["readings"]]
    return json.dumps({"readings": found, "cannot": item["why_not"]})


def asked(user: str) -> str:
    """The question that a prompt ends with."""
    return user.rpartition(_QUESTION)[2].partition("\n\n")[0].strip()


def asking_for_readings(tools: Tools, model: ChatModel) -> Tools:
    """The tools of a site, which are the embedded model's, with another model that follows instructions."""
    return replace(tools, model=model, generation=replace(tools.generation, strategy=Strategy.READINGS))


@asynccontextmanager
async def serving_recorded(by_question: Mapping[str, str]) -> AsyncIterator[str]:
    """The base URL of a server that says `by_question`; a question that was not recorded is answered with 404."""

    async def complete(http: web.Request) -> web.Response:
        body = await http.json()
        user = body["messages"][-1]["content"]
        # What a client asks to find out what the server can do is no question about data.
        said = by_question.get(asked(user)) if _QUESTION in user else '{"answer": "yes"}'
        if said is None:
            problem = {"message": "not recorded", "type": "invalid_request_error", "code": "not_recorded"}
            return web.json_response({"error": problem}, status=404)
        message = {"role": "assistant", "content": said, "refusal": None}
        usage = {"prompt_tokens": len(user) // 4, "completion_tokens": len(said) // 4, "total_tokens": 0}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        reply = {"id": "r", "object": "chat.completion", "created": 0, "model": MODEL}
        return web.json_response({**reply, "choices": [choice], "usage": usage})

    app = web.Application(client_max_size=8 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}/v1"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def answering_with(tools: Tools, said: Mapping[str, str]) -> AsyncIterator[Tools]:
    """The tools over a model that answers each question of `said` with that reply, in readings."""
    async with serving_recorded(said) as url:
        model = ChatModel(ModelSettings(base_url=url, model=MODEL, grammar=GrammarSupport.NONE), url)
        try:
            yield asking_for_readings(tools, model)
        finally:
            await model.aclose()
