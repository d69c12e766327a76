"""The stand-ins of model services refuse what their references refuse, and answer a minimal call."""

from __future__ import annotations

import json
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
    Finish,
    RateLimited,
    Reply,
    Service,
    Slow,
    Trouble,
    serve,
)
from tests.support.providers.descriptions import Auth

SCHEMA = {
    "type": "object",
    "properties": {"sql": {"type": "string"}},
    "required": ["sql"],
    "additionalProperties": False,
}
AS_SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
AS_JSON = {"type": "json_object"}
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


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("openai", 400, "Unrecognized request arguments supplied: begun, given"),
        ("gemini", 400, r"Unknown name \"begun\""),
        ("groq", 400, "property 'begun' is unsupported"),
        ("mistral", 422, '"loc": ["body", "given"]'),
    ],
)
async def test_words_the_refusal_in_its_own_way(name: str, status: int, message: str) -> None:
    async with running(name) as service:
        with pytest.raises(openai.APIStatusError) as caught:
            await ask(service, given="x", begun="y")
        assert caught.value.status_code == status
        assert message in caught.value.response.text


@pytest.mark.parametrize("name", [name for name in PROVIDERS if PROVIDERS[name].auth is not Auth.NONE])
async def test_refuses_a_wrong_key(name: str) -> None:
    async with running(name) as service:
        with pytest.raises(openai.APIStatusError) as caught:
            await ask(service, key="sk-wrong-0123456789")
        assert caught.value.status_code == (400 if name == "gemini" else 401)
        assert "sk-wrong-0123456789" not in caught.value.response.text
        assert service.requests == []


@pytest.mark.parametrize("name", [name for name in PROVIDERS if PROVIDERS[name].auth is not Auth.API_KEY])
async def test_refuses_another_models_name_and_lists_its_own(name: str) -> None:
    async with running(name) as service:
        with pytest.raises((openai.NotFoundError, openai.BadRequestError)):
            await ask(service, model="no-such-model")
        async with client(service) as model:
            assert [each.id async for each in model.models.list()] == [service.model]


async def test_azure_knows_its_deployment_and_wants_a_version() -> None:
    async with running("azure") as service:
        assert await ask(service, model="any")
        told: Any = {"azure_endpoint": service.base_url, "api_key": service.key, "max_retries": 0}
        async with openai.AsyncAzureOpenAI(**told, azure_deployment="other", api_version="1") as model:
            with pytest.raises(openai.NotFoundError, match="deployment"):
                await model.chat.completions.create(
                    model="other", messages=[{"role": "user", "content": "?"}]
                )
        plain = openai.AsyncOpenAI(base_url=f"{service.base_url}/openai", api_key=service.key)
        async with plain as model:
            with pytest.raises(openai.AuthenticationError):
                await model.models.list()


@pytest.mark.parametrize(
    ("name", "asked", "taken"),
    [
        ("openai", AS_SCHEMA, True),
        ("groq", AS_SCHEMA, False),
        ("deepseek", AS_SCHEMA, False),
        ("deepseek", AS_JSON, False),
        ("lm-studio", AS_SCHEMA, True),
        ("lm-studio", AS_JSON, False),
        ("openai", AS_JSON, False),
        ("vllm", AS_JSON, True),
        ("ollama", AS_SCHEMA, True),
        ("anthropic", AS_SCHEMA, True),
    ],
)
async def test_takes_formats(name: str, asked: dict[str, Any], *, taken: bool) -> None:
    """Where JSON mode is refused here but for LM Studio, the messages lack the word."""
    async with running(name, '{"sql": "SELECT 1"}') as service:
        if taken:
            assert await ask(service, response_format=asked)
            return
        with pytest.raises(openai.BadRequestError):
            await ask(service, response_format=asked)


async def test_json_mode_is_given_where_the_word_is_said() -> None:
    async with running("deepseek") as service:
        assert await ask(service, response_format=AS_JSON, messages=[{"role": "user", "content": "As JSON?"}])


async def test_a_strict_schema_is_closed() -> None:
    async with running("openai") as service:
        told = {"name": "answer", "strict": True, "schema": SCHEMA | {"additionalProperties": True}}
        with pytest.raises(openai.BadRequestError, match="additionalProperties"):
            await ask(service, response_format={"type": "json_schema", "json_schema": told})


async def test_json_comes_in_a_fence_where_a_schema_is_ignored() -> None:
    async with running("anthropic", '{"sql": "SELECT 1"}') as service:
        reply = await ask(service, response_format=AS_SCHEMA)
        assert (reply.choices[0].message.content or "").startswith("```json")


@pytest.mark.parametrize("name", ["anthropic", "mistral"])
async def test_refuses_a_begun_answer(name: str) -> None:
    async with running(name) as service:
        with pytest.raises(openai.BadRequestError):
            await ask(service, messages=[*ASKED, {"role": "assistant", "content": "SELECT"}])


async def test_refuses_a_role() -> None:
    async with running("vllm-gemma") as service:
        with pytest.raises(openai.BadRequestError, match="System role"):
            await ask(service, messages=[{"role": "system", "content": "Be short."}, *ASKED])


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fields", [{"model": 7}, {"stream": True}, {"messages": []}])
async def test_refuses_wrong_values(name: str, fields: dict[str, Any]) -> None:
    async with running(name) as service:
        with pytest.raises((openai.BadRequestError, openai.UnprocessableEntityError)):
            await ask(service, **fields)


async def test_reasoning_takes_the_room() -> None:
    async with running("openai-reasoning") as service:
        with pytest.raises(openai.BadRequestError, match="Could not finish"):
            await ask(service, max_completion_tokens=1)
        reply = await ask(service, max_completion_tokens=64)
        assert (reply.choices[0].finish_reason, reply.choices[0].message.content) == ("length", "")
        assert reply.usage is not None
        assert reply.usage.completion_tokens == 64
        enough = await ask(service, max_completion_tokens=512)
        assert enough.choices[0].message.content == "Forty two orders"


async def test_an_ignored_limit_cuts_nothing() -> None:
    async with running("deepseek") as service:
        assert (await ask(service, max_completion_tokens=1)).choices[0].finish_reason == "stop"
        assert (await ask(service, max_tokens=1)).choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("name", "attribute"), [("deepseek-reasoner", "reasoning_content"), ("openrouter", "reasoning")]
)
async def test_reasoning_stands_beside_the_answer(name: str, attribute: str) -> None:
    async with running(name, Reply("Yes", reasoning="Hm.")) as service:
        message = (await ask(service)).choices[0].message
        assert (message.content, message.to_dict()[attribute]) == ("Yes", "Hm.")


async def test_reasoning_stands_in_the_answer() -> None:
    async with running("ollama-older", Reply("Yes", reasoning="Hm.")) as service:
        assert (await ask(service)).choices[0].message.content == "<think>\nHm.\n</think>\n\nYes"


@pytest.mark.parametrize(("name", "given"), [("openai", True), ("vllm", True), ("ollama-older", False)])
async def test_log_probabilities(name: str, *, given: bool) -> None:
    async with running(name, Reply("A", tops=(("A", -0.2), ("B", -1.7)))) as service:
        told = (await ask(service, logprobs=True, top_logprobs=2)).choices[0].logprobs
        assert (told is not None) is given
        if told is not None and told.content is not None:
            assert [(each.token, each.logprob) for each in told.content[0].top_logprobs] == [
                ("A", -0.2),
                ("B", -1.7),
            ]


@pytest.mark.parametrize(
    ("name", "fields", "obeyed"),
    [
        ("vllm", {"structured_outputs": {"grammar": 'root ::= "yes"'}}, True),
        ("vllm", {"guided_grammar": 'root ::= "yes"'}, False),
        ("vllm-older", {"guided_grammar": 'root ::= "yes"'}, True),
        ("ollama", {"structured_outputs": {"grammar": 'root ::= "yes"'}}, False),
    ],
)
async def test_a_grammar_is_obeyed_where_it_is_known(
    name: str, fields: dict[str, Any], *, obeyed: bool
) -> None:
    async with running(name) as service:
        assert ((await ask(service, **fields)).choices[0].message.content == "yes") is obeyed


async def test_the_answer_sees_what_the_service_heeds() -> None:
    async with serve(PROVIDERS["vllm"], lambda body: json.dumps(sorted(body))) as service:
        fields = {"continue_final_message": True, "add_generation_prompt": False, "keep_prompt": True}
        seen = json.loads((await ask(service, **fields)).choices[0].message.content or "")
        assert seen == ["add_generation_prompt", "continue_final_message", "messages", "model"]
        with pytest.raises(openai.BadRequestError, match="add_generation_prompt"):
            await ask(service, continue_final_message=True)


@pytest.mark.parametrize("name", PROVIDERS)
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


async def test_an_error_inside_of_a_success() -> None:
    async with running("openrouter") as service:
        service.next(Trouble.ERROR_INSIDE)
        assert (await ask(service)).choices is None


async def test_a_prompt_longer_than_the_context_is_refused() -> None:
    async with running("mistral", context=20) as service:
        with pytest.raises(openai.BadRequestError, match="maximum context length"):
            await ask(service, messages=[{"role": "user", "content": "many words " * 20}])


async def test_azure_tells_of_its_filter() -> None:
    async with running("azure") as service:
        service.next(Trouble.FILTERED)
        with pytest.raises(openai.BadRequestError) as caught:
            await ask(service)
        assert caught.value.code == "content_filter"
        assert "ResponsibleAIPolicyViolation" in caught.value.response.text


async def test_slow_first_byte() -> None:
    async with running("openai") as service:
        service.next(Slow())
        async with client(service).with_options(timeout=0.2) as model:
            with pytest.raises(openai.APITimeoutError):
                await model.chat.completions.create(
                    model=service.model, messages=[{"role": "user", "content": "?"}]
                )
        service.next(Slow(0.01), Reply("late"))
        assert (await ask(service)).choices[0].message.content == "late"


async def test_replies_that_are_no_plain_answer() -> None:
    async with running("openai") as service:
        service.next(
            Reply("SELECT", Finish.LENGTH),
            Reply(refusal="I may not."),
            Reply(),
            Reply(arguments='{"sql": "SELECT 1"}'),
            Reply(finish=Finish.FILTER),
        )
        cut, refused, empty, called, filtered = [(await ask(service)).choices[0] for _ in range(5)]
        assert (cut.finish_reason, cut.message.content) == ("length", "SELECT")
        assert (refused.message.content, refused.message.refusal) == (None, "I may not.")
        assert (empty.finish_reason, empty.message.content) == ("stop", "")
        assert (called.finish_reason, called.message.content) == ("tool_calls", None)
        assert [each.to_dict()["function"] for each in called.message.tool_calls or ()] == [
            {"name": "answer", "arguments": '{"sql": "SELECT 1"}'}
        ]
        assert filtered.finish_reason == "content_filter"
