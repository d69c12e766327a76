"""A server of OpenAI's protocol that answers with a strong model's recorded readings, found by the question.

Owns the matching, and the form of a reply. What was recorded is never the gold: some of it is wrong.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from benchmarks.harness.drawing import Item, read_items
from benchmarks.harness.processes import HOST
from engine.llm.client import ChatModel
from engine.values.candidate import Candidate
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.settings import Strategy
from engine.values.state import State
from engine.values.tools import Tools

FILE = "strong/answers.jsonl"
MODEL = "recorded"
_QUESTION = "### Question\n"

Messages = Sequence[Mapping[str, str]]
"""Of one call, by role and content."""


def recorded(bench: Path) -> list[Item]:
    """What was recorded: a question, and its readings or why there is none."""
    return list(read_items(bench / FILE))


def reply(*readings: tuple[str, str], cannot: str | None = None, **more: str) -> str:
    """A model's reply in JSON. `readings`: a meaning and its statement each."""
    found = [{"meaning": meaning, "sql": sql, "assumes": ""} for meaning, sql in readings]
    return json.dumps({**more, "readings": found, "cannot": cannot})


def asked(user: str) -> str:
    """The question that a prompt ends with."""
    return user.rpartition(_QUESTION)[2].partition("\n\n")[0].strip()


def asking_for_readings(tools: Tools, model: ChatModel) -> Tools:
    """The tools of a site, which are the embedded model's, with another model that follows instructions."""
    return replace(tools, model=model, generation=replace(tools.generation, strategy=Strategy.READINGS))


def shown(state: State) -> tuple[Candidate, ...]:
    """What the asker sees, before a threshold that would be the embedded model's."""
    return state.candidates or (() if state.refusal else state.considered)


@asynccontextmanager
async def answering_with(tools: Tools, said: Mapping[str, str]) -> AsyncIterator[Tools]:
    """The tools over a model that answers each question of `said` with that reply, in readings; others with 404."""
    async with answering_by(tools, lambda messages: said.get(asked(messages[-1]["content"]))) as made:
        yield made


@asynccontextmanager
async def answering_by(tools: Tools, answers: Callable[[Messages], str | None]) -> AsyncIterator[Tools]:
    """The tools over a model that gives what `answers` says to the messages of a call; 404 for None."""

    async def complete(http: web.Request) -> web.Response:
        body = await http.json()
        user = body["messages"][-1]["content"]
        # What a client asks to find out what the server can do is no question about data.
        answer = answers(body["messages"]) if _QUESTION in user else '{"answer": "yes"}'
        if answer is None:
            problem = {"message": "not recorded", "type": "invalid_request_error", "code": "not_recorded"}
            return web.json_response({"error": problem}, status=404)
        message = {"role": "assistant", "content": answer, "refusal": None}
        usage = {"prompt_tokens": len(user) // 4, "completion_tokens": len(answer) // 4, "total_tokens": 0}
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
        url = f"http://{host}:{port}/v1"
        model = ChatModel(ModelSettings(base_url=url, model=MODEL, grammar=GrammarSupport.NONE), url)
        try:
            yield asking_for_readings(tools, model)
        finally:
            await model.aclose()
    finally:
        await runner.cleanup()
