"""The client against strict stand-ins of model services: what it finds out of each, and how each fails."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from engine.llm.client import ChatModel
from engine.llm.fallback import FallbackModel
from engine.values.deadline import Deadline
from engine.values.errors import ContextLengthError, ModelAwayError, NLError
from engine.values.model_profile import ModelProfile, TokenField
from engine.values.model_settings import GrammarSupport, ModelSettings, Price, Provider
from engine.values.ports import Completion, Prompt
from tests.support.profiles import KeptProfiles
from tests.support.providers import PROVIDERS, Failing, Finish, RateLimited, Reply, Service, Trouble, serve

PROMPT = Prompt("You write SQL.", "How many singers? Answer in JSON.", "```sql\n")
SQL = "SELECT count(*) FROM singer"
SCHEMA = {
    "type": "object",
    "properties": {"sql": {"type": "string"}},
    "required": ["sql"],
    "additionalProperties": False,
}

KEPT = {
    "openai",
    "azure",
    "openai-reasoning",
    "azure-reasoning",
    "gemini",
    "mistral",
    "ollama",
    "ollama-older",
} | {"lm-studio", "openrouter", "vllm", "vllm-older", "vllm-gemma"}
"""Services that keep an answer to its JSON schema."""

JSON_ONLY = {"groq", "deepseek", "deepseek-reasoner"}
LOGPROBS = {"openai", "azure", "deepseek", "ollama", "vllm", "vllm-older", "vllm-gemma"}
THINKING = {
    *("openai-reasoning", "azure-reasoning", "gemini", "deepseek-reasoner"),
    *("ollama", "ollama-older", "openrouter"),
}
CONTEXTS = {"groq": 131_072, "mistral": 131_072, "openrouter": 131_072}
CONTEXTS |= dict.fromkeys(("vllm", "vllm-older", "vllm-gemma"), 32_768)
GRAMMARS = {
    "vllm": GrammarSupport.STRUCTURED_OUTPUTS,
    "vllm-older": GrammarSupport.GUIDED_GRAMMAR,
    "vllm-gemma": GrammarSupport.STRUCTURED_OUTPUTS,
}


def says(body: dict[str, Any]) -> str:
    """What a model that follows instructions says."""
    form = body.get("response_format", {}).get("type", "text")
    if form == "text":
        return SQL
    asked = str(body["response_format"])
    return f'{{"sql": "{SQL}"}}' if form == "json_object" or "'sql'" in asked else '{"answer": "yes"}'


def settings_of(service: Service, **changes: Any) -> ModelSettings:
    azure = service.provider.path == "/openai"
    given = {
        "base_url": service.base_url,
        "api_key": service.key,
        "model": service.model,
        "provider": Provider.AZURE if azure else Provider.OPENAI,
    }
    return ModelSettings(**(given | changes))


@asynccontextmanager
async def asking(
    name: str, kept: KeptProfiles | None = None, **changes: Any
) -> AsyncIterator[tuple[Service, ChatModel]]:
    async with serve(PROVIDERS[name], says) as service:
        settings = settings_of(service, **changes)
        model = ChatModel(settings, settings.base_url or "", profiles=kept)
        try:
            yield service, model
        finally:
            await model.aclose()


def soon(seconds: float = 10.0) -> Deadline:
    return Deadline(time.monotonic() + seconds)


async def asked(model: ChatModel, seconds: float = 10.0, **more: Any) -> Completion:
    return await model.complete(PROMPT, deadline=soon(seconds), max_tokens=99, **more)


async def failure(model: ChatModel, seconds: float = 10.0) -> NLError:
    with pytest.raises(NLError) as problem:
        await asked(model, seconds)
    return problem.value


@pytest.mark.parametrize("name", PROVIDERS)
async def test_every_service_answers_and_is_found_out_by_four_calls(name: str) -> None:
    kept = KeptProfiles()
    async with asking(name, kept) as (service, model):
        profile = await model.find_out(soon())
        assert len(service.requests) <= 4
        made = len(service.requests)
        written = await asked(model, others=3, grammar='start: "SELECT 1"')
        assert written.text.endswith("SELECT 1" if name in GRAMMARS else SQL)
        assert written.finished
        schemed = await asked(model, schema=SCHEMA)
        assert SQL in schemed.text
        assert [times for times in service.refused.values() if times > 1] in ([], [2]), service.refused
        assert service.refused["response_format"] <= 1 + (name in JSON_ONLY)
        assert len(service.requests) <= made + 2 + sum(service.refused.values())
        service.refused.clear()
        await asked(model, others=3)
        await asked(model, schema=SCHEMA)
        assert not service.refused
    assert profile.schema == (name in KEPT)
    assert profile.json_mode == (name in JSON_ONLY)
    assert profile.logprobs == (name in LOGPROBS)
    assert profile.reasoning == (name in THINKING)
    assert profile.context == CONTEXTS.get(name)
    assert profile.grammar == GRAMMARS.get(name, GrammarSupport.NONE)
    assert profile.continuation == (name in GRAMMARS)
    assert profile.system == (name != "vllm-gemma")
    assert (profile.tokens is TokenField.MAX_COMPLETION_TOKENS) == name.endswith("-reasoning")
    assert list(kept.kept.values()) == [model.profile]


async def test_a_restart_asks_nothing_and_a_refusal_is_kept() -> None:
    kept = KeptProfiles()
    async with asking("openai-reasoning", kept) as (service, model):
        await asked(model)
        made = len(service.requests)
        again = ChatModel(settings_of(service), service.base_url, profiles=kept)
        await asked(again)
        await again.read(PROMPT, deadline=soon())
        await again.aclose()
        assert len(service.requests) == made + 1
        stale = KeptProfiles(ModelProfile(logprobs=True))
        old = ChatModel(settings_of(service), service.base_url, profiles=stale)
        await asked(old)
        await old.aclose()
    assert [each.refused for each in stale.kept.values()] == [old.profile.refused]
    assert {"max_tokens"} <= old.profile.refused


async def test_what_only_our_server_knows_is_sent_to_it_alone() -> None:
    async with asking("ollama") as (service, model):
        await model.complete(
            Prompt("a", "b", "```sql\n", "SELECT"), deadline=soon(), max_tokens=9, grammar='start: "a"'
        )
    own = {"begun", "given", "keep_prompt", "continue_final_message", "add_generation_prompt", "grammar"}
    assert not any(own & body.keys() for body in service.requests)
    assert all(body["messages"][-1]["role"] == "user" for body in service.requests)


async def test_a_model_that_thinks_gets_more_room_and_then_twice_as_much() -> None:
    async with asking("deepseek-reasoner") as (service, model):
        await model.find_out(soon())
        service.next(Reply("", Finish.LENGTH))
        written = await asked(model)
        first, second = service.requests[-2:]
    assert written.text == SQL
    assert (first["max_tokens"], second["max_tokens"]) == (99 + 4096, 2 * (99 + 4096))
    assert "temperature" not in second


async def test_what_a_model_says_in_other_places_is_found() -> None:
    async with asking("openai") as (service, model):
        await model.find_out(soon())
        service.next(Reply(arguments='{"sql": "SELECT 1"}'), Reply(refusal="I cannot help with that."))
        assert (await asked(model)).text == '{"sql": "SELECT 1"}'
        refused = await asked(model)
    assert (refused.text, refused.refusal) == ("", "I cannot help with that.")


@pytest.mark.parametrize("name", PROVIDERS)
async def test_each_trouble_is_a_clear_error(name: str) -> None:
    async with asking(name) as (service, model):
        await model.find_out(soon())
        service.next(Trouble.CONTEXT_EXCEEDED)
        problem = await failure(model)
        assert isinstance(problem, ContextLengthError), problem.detail
        service.next(Trouble.FILTERED)
        problem = await failure(model)
        assert "content filter" in problem.message, problem.detail
        service.next(Reply("", Finish.FILTER))
        assert "content filter" in (await failure(model)).message


async def test_an_error_inside_of_a_success_is_no_refused_field() -> None:
    async with asking("openrouter") as (service, model):
        known = await model.find_out(soon())
        service.next(Trouble.ERROR_INSIDE, Trouble.ERROR_INSIDE)
        assert isinstance(await failure(model), ModelAwayError)
        assert model.profile == known


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_wrong_key_and_a_wrong_name_say_where_to_look(name: str) -> None:
    wrong = "sk-wrong-and-secret-0123"
    async with asking(name, api_key=wrong, api_key_file="/etc/key") as (service, model):
        if service.provider.auth.value != "none":
            problem = await failure(model)
            assert "refused the key" in problem.message, problem.detail
            assert "in the file /etc/key" in (problem.hint or "")
            assert wrong not in f"{problem.message}{problem.detail}{problem.hint}"
    async with asking(name, model="gpt-9") as (service, model):
        problem = await failure(model)
        assert 'does not know the model "gpt-9"' in problem.message, problem.detail
        assert service.model in (problem.hint or "")


async def test_a_limited_service_is_asked_once_more_where_there_is_time() -> None:
    async with asking("groq") as (service, model):
        await model.find_out(soon())
        made = len(service.requests)
        service.next(RateLimited(0.1))
        assert (await asked(model)).text == SQL
        assert len(service.requests) == made + 2
        service.next(RateLimited(0.1), RateLimited(0.1))
        problem = await failure(model)
        assert isinstance(problem, ModelAwayError)
        service.next(RateLimited(30))
        problem = await failure(model)
        assert "Ask again in 30 seconds." in (problem.hint or "")
        assert len(service.requests) == made + 5


@pytest.mark.parametrize("fault", [Failing(), Failing(500), Trouble.RESET])
async def test_a_failure_is_tried_once_more(fault: Failing | Trouble) -> None:
    async with asking("anthropic") as (service, model):
        await model.find_out(soon())
        service.next(fault)
        assert (await asked(model)).text == SQL
        service.next(fault, fault)
        assert isinstance(await failure(model), ModelAwayError)


async def test_the_next_service_is_asked_where_one_is_away() -> None:
    async with (
        asking("openai", circuit_failures=2) as (first, model),
        asking("groq", price=Price(prompt=1.0)) as (_, other),
    ):
        both = FallbackModel((model, other))
        await both.read(PROMPT, deadline=soon())
        assert both.profile is model.profile
        first.next(Failing(500), Failing(500))
        written = await both.complete(PROMPT, deadline=soon(), max_tokens=9)
        assert written.text == SQL
        assert written.usage.money == pytest.approx(written.prefilled / 1e6)
        first.next(Trouble.CONTEXT_EXCEEDED)
        with pytest.raises(ContextLengthError):
            await both.complete(PROMPT, deadline=soon(), max_tokens=9)
        first.next(*[Failing(500)] * 4)
        for _ in range(2):
            await both.complete(PROMPT, deadline=soon(), max_tokens=9)
        assert model.outage is not None
        assert both.profile is other.profile
        asked_before = len(first.requests)
        await both.complete(PROMPT, deadline=soon(), max_tokens=9)
        assert len(first.requests) == asked_before, "a service whose circuit is open is not asked"


async def test_no_key_stands_in_any_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "azure", "gemini"):
        async with asking(name) as (service, model):
            await asked(model)
            assert service.key not in caplog.text
        async with asking(name, api_key="sk-wrong-and-secret-0123") as (_, model):
            await failure(model)
    assert caplog.text
    assert "secret" not in caplog.text
