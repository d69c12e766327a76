"""The stand-ins of model services refuse what their references refuse, and answer a minimal call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, get_type_hints

import openai
import pytest
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)

from tests.support.providers import (
    PROVIDERS,
    Failing,
    RateLimited,
    Reply,
    Service,
    Trouble,
    serve,
)
from tests.support.providers.descriptions import Auth

ASKED = [{"role": "user", "content": "How many orders?"}]

OURS = {
    "temperature": 0,
    "seed": 1,
    "max_tokens": 2000,
    "max_completion_tokens": 2000,
    "logprobs": True,
    "top_logprobs": 2,
    "continue_final_message": True,
    "add_generation_prompt": False,
    "keep_prompt": True,
}
"""A value for each field of ours that some service refuses."""

UNKNOWN = {"continue_final_message", "add_generation_prompt", "keep_prompt"}
REASONING = UNKNOWN | {"temperature", "max_tokens", "logprobs"}

REFUSED = {
    "openai": UNKNOWN,
    "azure": UNKNOWN,
    "openai-reasoning": REASONING,
    "azure-reasoning": REASONING,
    "gemini": UNKNOWN | {"seed", "logprobs", "top_logprobs"},
    "groq": UNKNOWN | {"logprobs", "top_logprobs"},
    "mistral": UNKNOWN | {"seed", "max_completion_tokens", "logprobs", "top_logprobs"},
    "deepseek-reasoner": {"logprobs", "top_logprobs"},
}
"""What is refused when all of `OURS` is sent and what was refused is left out, until the service answers."""


def client(service: Service, key: str | None = None) -> openai.AsyncOpenAI:
    told: Any = {"api_key": key or service.key, "max_retries": 0}
    if service.provider.auth is Auth.API_KEY:
        endpoint = {"azure_endpoint": service.base_url, "azure_deployment": service.model}
        return openai.AsyncAzureOpenAI(**endpoint, api_version="2024-10-21", **told)
    return openai.AsyncOpenAI(base_url=service.base_url, **told)


async def ask(service: Service, key: str | None = None, **fields: Any) -> ChatCompletion:
    body = {"messages": ASKED} | fields
    async with client(service, key) as model:
        return await model.chat.completions.create(
            model=body.pop("model", service.model), messages=body.pop("messages"), extra_body=body
        )


@asynccontextmanager
async def running(
    name: str, said: str | Reply = "Forty two orders", **changed: Any
) -> AsyncIterator[Service]:
    async with serve(replace(PROVIDERS[name], **changed), lambda _: said) as service:
        yield service


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_field_is_the_protocols_or_an_extension(name: str) -> None:
    protocol = set(get_type_hints(CompletionCreateParamsNonStreaming))
    protocol |= set(get_type_hints(CompletionCreateParamsStreaming))
    provider = PROVIDERS[name]
    assert provider.known | provider.ignored | set(provider.unsupported) | provider.ones <= protocol
    assert not provider.own & protocol
    assert not (provider.known | provider.own) & (provider.ignored | set(provider.unsupported))


@pytest.mark.parametrize("name", PROVIDERS)
async def test_answers_a_minimal_call(name: str) -> None:
    async with running(name) as service:
        reply = await ask(service)
        assert (reply.choices[0].message.content or "").endswith("Forty two orders")
        assert reply.choices[0].finish_reason == "stop"
        assert reply.usage is not None
        assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
        assert service.requests == [{"model": service.model, "messages": ASKED}]


async def refusal(service: Service, fields: dict[str, Any]) -> str | None:
    """The error's JSON where a call with `fields` is refused."""
    try:
        await ask(service, **fields)
    except (openai.BadRequestError, openai.UnprocessableEntityError, openai.PermissionDeniedError) as problem:
        return problem.response.text
    return None


@pytest.mark.parametrize("name", PROVIDERS)
async def test_refuses_what_its_reference_refuses(name: str) -> None:
    async with running(name) as service:
        fields, before = dict(OURS), service.refused.copy()
        while message := await refusal(service, fields):
            named = set(service.refused - before)
            assert named
            assert all(each in message for each in named)
            # Alone the others' log-probabilities would be refused for want of the answer's own.
            gone = named | ({"top_logprobs"} if named == {"logprobs"} and "reasoning" in name else set())
            fields = {each: value for each, value in fields.items() if each not in gone}
            before = service.refused.copy()
        assert set(service.refused) == REFUSED.get(name, set())
        assert max(service.refused.values(), default=1) == 1


@pytest.mark.parametrize("name", [name for name in PROVIDERS if PROVIDERS[name].auth is not Auth.NONE])
async def test_refuses_a_wrong_key(name: str) -> None:
    async with running(name) as service:
        with pytest.raises(openai.APIStatusError) as caught:
            await ask(service, key="sk-wrong-0123456789")
        assert caught.value.status_code == (400 if name == "gemini" else 401)
        assert "sk-wrong-0123456789" not in caught.value.response.text
        assert service.requests == []


@pytest.mark.parametrize("name", ["openai", "azure", "gemini", "mistral"])
async def test_faults(name: str) -> None:
    async with running(name) as service:
        service.next(RateLimited(7), Failing(500), Failing(), Trouble.RESET, Trouble.CONTEXT_EXCEEDED)
        with pytest.raises(openai.RateLimitError) as limited:
            await ask(service)
        assert limited.value.response.headers["Retry-After"] == "7"
        for _ in range(2):
            with pytest.raises(openai.InternalServerError):
                await ask(service)
        with pytest.raises(openai.APIConnectionError):
            await ask(service)
        with pytest.raises(openai.BadRequestError):
            await ask(service)
        service.next(Trouble.FILTERED)
        with pytest.raises(openai.BadRequestError):
            await ask(service)
        assert await ask(service)
