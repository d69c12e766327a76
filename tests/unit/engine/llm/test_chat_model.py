"""The client of model servers: each kind is asked in its own words, and understood."""

from __future__ import annotations

import time
from typing import Any

import pytest
from aiohttp import web

from engine.llm.client import ChatModel
from engine.values.deadline import Deadline
from engine.values.model_profile import ModelProfile
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.ports import Completion, Prompt
from tests.chat_server import USAGE, chat_server
from tests.support.profiles import KeptProfiles

GRAMMAR = 'start: "SELECT 1"'
PROMPT = Prompt("You write SQL.", "One.", "```sql\n")

ASKED = {
    GrammarSupport.EMBEDDED: {"structured_outputs": {"grammar": GRAMMAR}},
    GrammarSupport.STRUCTURED_OUTPUTS: {"structured_outputs": {"grammar": GRAMMAR}},
    GrammarSupport.GUIDED_GRAMMAR: {"guided_grammar": GRAMMAR},
    GrammarSupport.LLGUIDANCE: {"grammar": f"%llguidance {{}}\n{GRAMMAR}"},
    GrammarSupport.NONE: {},
}


def token(text: str, logprob: float, likely: dict[str, float], **more: Any) -> dict[str, Any]:
    """One token as servers tell of it; vLLM and llama-server give its bytes, the embedded server none."""
    top = [{"token": each, "logprob": value, "bytes": list(each.encode())} for each, value in likely.items()]
    return {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": top} | more


async def complete(
    support: GrammarSupport, text: str, tokens: list[Any]
) -> tuple[dict[str, Any], Completion]:
    """What a server that answers `text` was asked, and what the client made of the answer."""
    asked: list[dict[str, Any]] = []

    async def chat(http: web.Request) -> web.Response:
        asked.append(await http.json())
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": tokens},
        }
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        return web.json_response(reply | {"usage": USAGE})

    async with chat_server(chat) as address:
        known = ModelProfile(grammar=support, continuation=True, logprobs=True, top_logprobs=True)
        model = ChatModel(ModelSettings(), f"{address}/v1", profiles=KeptProfiles(known))
        await model.remember()
        assert model.profile.grammars == (support is not GrammarSupport.NONE)
        assert model.profile.goes_on == (support is GrammarSupport.EMBEDDED)
        deadline = Deadline(time.monotonic() + 10)
        written = await model.complete(PROMPT, deadline=deadline, max_tokens=9, grammar=GRAMMAR, others=2)
        await model.aclose()
    return asked[0], written


@pytest.mark.parametrize("support", GrammarSupport)
async def test_a_grammar_is_asked_for_as_the_server_takes_it(support: GrammarSupport) -> None:
    asked, written = await complete(support, "SELECT 1", [])
    about = {"structured_outputs", "guided_grammar", "grammar"}
    assert {name: value for name, value in asked.items() if name in about} == ASKED[support]
    assert asked["messages"][-1] == {"role": "assistant", "content": "```sql\n"}
    assert asked["continue_final_message"] is True
    assert written.text == "SELECT 1"


async def test_what_llama_server_repeats_and_adds_is_left_out() -> None:
    tokens = [
        token("SELECT", -0.5, {"SELECT": -0.5, "WITH": -2.0}),
        token(" 1", -1.5, {" 1": -1.5, " 2": -1.75}),
        token("", -9.0, {";": -0.1}, id=151645),
    ]
    _, written = await complete(GrammarSupport.LLGUIDANCE, "```sql\nSELECT 1", tokens)
    assert written.text == "SELECT 1"
    assert [each.text for each in written.tokens] == ["SELECT", " 1"]
    assert written.logprob == -1.0, "the end of the answer is none of its tokens"


async def test_tokens_without_bytes_count() -> None:
    tokens = [token("SELECT", -0.5, {}, bytes=None), token("", -1.5, {}, bytes=None)]
    _, written = await complete(GrammarSupport.STRUCTURED_OUTPUTS, "SELECT", tokens)
    assert written.logprob == -1.0
