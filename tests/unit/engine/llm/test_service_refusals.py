"""Errors of model services: which field they name, what else they say, and what users are told."""

from __future__ import annotations

from typing import Any

import httpx2 as httpx
import openai
import pytest

from engine.llm.refusals import Refusal, explained, says, wait_before_again, without_refused
from engine.values.errors import ContextLengthError, ModelAwayError
from engine.values.model_profile import ModelProfile
from engine.values.model_settings import GrammarSupport, ModelSettings

HOPED = ModelProfile(
    logprobs=True,
    top_logprobs=True,
    schema=True,
    continuation=True,
    grammar=GrammarSupport.STRUCTURED_OUTPUTS,
)
SENT = dict.fromkeys(
    [
        *("model", "messages", "temperature", "logprobs", "top_logprobs", "max_tokens"),
        *("response_format", "structured_outputs", "continue_final_message", "grammar"),
    ]
)


def error(status: int, body: object, headers: dict[str, str] | None = None) -> openai.APIStatusError:
    """As the client raises it: of an object with `error` it takes what is inside."""
    request = httpx.Request("POST", "http://service/v1/chat/completions")
    response = httpx.Response(status, request=request, json=body, headers=headers)
    inside = body.get("error", body) if isinstance(body, dict) else body
    return openai.APIStatusError(f"Error code: {status} - {body}", response=response, body=inside)


def told(message: str, **more: object) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


def test_a_refused_schema_is_told_from_a_refused_field() -> None:
    value = error(400, told("This response_format type is unavailable now"))
    assert without_refused(HOPED, value, SENT).json_mode
    field = error(400, told("Unknown parameter: 'response_format'.", param="response_format"))
    assert not without_refused(HOPED, field, SENT).json_mode


SAID: list[tuple[int, object, Refusal]] = [
    (
        400,
        told(
            "'max_tokens' is too large: 900. This model's maximum context length is 1024", param="max_tokens"
        ),
        Refusal.CONTEXT,
    ),
    (400, told("the request exceeds the available context size. try increasing it"), Refusal.CONTEXT),
    (429, told("slow down"), Refusal.AWAY),
    (529, told("overloaded"), Refusal.AWAY),
    (400, told("Unsupported parameter: 'x' is not supported with this model."), Refusal.REQUEST),
]


@pytest.mark.parametrize(("status", "body", "matter"), SAID)
def test_what_is_the_matter(status: int, body: object, matter: Refusal) -> None:
    problem = error(status, body)
    assert says(problem) is matter
    shown = explained(problem, ModelSettings(base_url="http://there:1/v1"))
    assert isinstance(shown, ContextLengthError) == (matter is Refusal.CONTEXT)
    assert isinstance(shown, ModelAwayError) == (matter is Refusal.AWAY)
    assert shown.hint


def test_a_key_that_a_service_repeats_is_shown_to_nobody() -> None:
    settings = ModelSettings(
        base_url="http://me:hunter2@there:1/v1", api_key="sk-secret", api_key_env="THE_KEY"
    )
    for problem in (
        error(401, told("Incorrect API key provided: sk-secret")),
        error(500, told("no sk-secret")),
    ):
        shown = explained(problem, settings)
        assert "there:1: " in (shown.detail or "")
        assert "secret" not in f"{shown.message}{shown.detail}{shown.hint}{settings}"
        assert "hunter2" not in f"{shown.message}{shown.detail}{shown.hint}"
    hint = explained(error(401, told("no")), settings).hint or ""
    assert "in the variable THE_KEY" in hint


def test_a_wrong_name_lists_the_nearest_five() -> None:
    names = [f"gpt-{each}" for each in range(5, 20)]
    shown = explained(error(404, told("no")), ModelSettings(model="gpt-9x"), names)
    listed = (shown.hint or "").partition("It lists: ")[2].rstrip(".").split(", ")
    assert listed[0] == "gpt-9"
    assert len(listed) == 5


@pytest.mark.parametrize(
    ("problem", "seconds"),
    [
        (error(429, told("no"), {"retry-after": "7"}), 7.0),
        (error(503, told("no")), 0.5),
        (error(429, told("no"), {"x-should-retry": "false"}), None),
        (error(429, told("You exceeded your current quota", code="insufficient_quota")), None),
        (error(400, told("no")), None),
    ],
)
def test_how_long_to_wait_before_it_is_asked_again(
    problem: openai.APIStatusError, seconds: float | None
) -> None:
    assert wait_before_again(problem) == seconds
