"""Whether a service takes a request's body, after its description. How it says no is `shapes`'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.providers.descriptions import Provider, Quirk
from tests.support.providers.shapes import Kind, Problem

_WHOLE = ("max_tokens", "max_completion_tokens", "seed", "n", "top_logprobs")
_TYPES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "messages": ("an array", (list,)),
    "model": ("a string", (str,)),
    "temperature": ("a number", (int, float)),
    "top_p": ("a number", (int, float)),
    "logprobs": ("a boolean", (bool,)),
    "response_format": ("an object", (dict,)),
} | dict.fromkeys(_WHOLE, ("an integer", (int,)))

_MESSAGE = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal"})


def effective(provider: Provider, body: dict[str, Any]) -> dict[str, Any]:
    """The fields of `body` that the service heeds."""
    return {name: value for name, value in body.items() if name in (provider.known | provider.own)}


def prompt_tokens(body: dict[str, Any]) -> int:
    """A guess at the messages' tokens."""
    return sum(4 + len(str(message.get("content") or "")) // 4 for message in body["messages"])


def problems(provider: Provider, body: dict[str, Any]) -> Iterator[Problem]:
    """What is wrong with `body`, the first thing first; `None` values count as absent."""
    yield from _of_fields(provider, body)
    heeded = effective(provider, body)
    yield from _of_values(provider, heeded)
    yield from _of_format(provider, heeded)
    yield from _of_messages(provider, body["messages"])
    got = prompt_tokens(body)
    if got > provider.context:
        yield Problem(Kind.CONTEXT, ("messages",), {"got": got, "most": provider.context})
    if min((heeded[name] for name in _WHOLE[:2] if name in heeded), default=provider.least) < provider.least:
        yield Problem(Kind.ROOM)


def _of_fields(provider: Provider, body: dict[str, Any]) -> Iterator[Problem]:
    for name in ("model", "messages"):
        if not body.get(name):
            yield Problem(Kind.MISSING, (name,))
    refused = provider.unsupported
    unknown = sorted(set(body) - provider.known - provider.own - provider.ignored - set(refused))
    if unknown and Quirk.STRICT in provider.quirks:
        yield Problem(Kind.UNKNOWN, tuple(unknown))
    for name in sorted(set(body) & set(refused)):
        status, text = refused[name] or (None, None)
        yield Problem(Kind.UNSUPPORTED, (name,), {"model": provider.model}, status, text)


def _of_values(provider: Provider, body: dict[str, Any]) -> Iterator[Problem]:
    for name, value in body.items():
        expected, types = _TYPES.get(name, ("", (object,)))
        # Python's True is an integer too.
        if not isinstance(value, types) or (isinstance(value, bool) and types[0] is int):
            yield Problem(Kind.TYPE, (name,), {"expected": expected, "got": type(value).__name__})
        elif (name in provider.ones and value != 1) or (
            name in provider.most and value > provider.most[name]
        ):
            yield Problem(Kind.VALUE, (name,), {"value": value})
    if body.get("stream"):
        yield Problem(Kind.VALUE, ("stream",), {"value": "true"})
    if body.get("top_logprobs") and not body.get("logprobs"):
        yield Problem(
            Kind.VALUE, ("top_logprobs",), text="top_logprobs is allowed where logprobs is true alone"
        )
    if body.get("continue_final_message") and body.get("add_generation_prompt", True):
        text = "Cannot set both add_generation_prompt and continue_final_message to True."
        yield Problem(Kind.VALUE, ("continue_final_message",), text=text)


def _of_format(provider: Provider, body: dict[str, Any]) -> Iterator[Problem]:
    asked = body.get("response_format", {"type": "text"})
    kind, field = asked.get("type"), ("response_format",)
    if kind not in provider.formats:
        yield Problem(Kind.VALUE, field, text=provider.format_text.replace("{type}", str(kind)))
    elif (
        kind == "json_object"
        and Quirk.JSON_WORD in provider.quirks
        and "json" not in str(body["messages"]).lower()
    ):
        text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        yield Problem(Kind.VALUE, ("messages",), text=text)
    elif kind == "json_schema":
        told = asked.get("json_schema") or {}
        if not told.get("name") or not isinstance(told.get("schema"), dict):
            yield Problem(
                Kind.MISSING, field, text="Missing required parameter: 'response_format.json_schema'."
            )
        elif Quirk.CLOSED_SCHEMAS in provider.quirks and told.get("strict") and not _closed(told["schema"]):
            text = "Invalid schema for response_format: objects need 'additionalProperties' false and all 'required'."
            yield Problem(Kind.VALUE, field, text=text)


def _closed(schema: Any) -> bool:
    """Whether each object of a schema takes its properties alone and demands all of them."""
    if isinstance(schema, list):
        return all(map(_closed, schema))
    if not isinstance(schema, dict):
        return True
    names = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    open_ = schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names
    )
    return not open_ and all(map(_closed, schema.values()))


def _of_messages(provider: Provider, messages: list[Any]) -> Iterator[Problem]:
    for at, message in enumerate(messages):
        role, name = message.get("role"), f"messages[{at}]"
        if role not in provider.roles:
            told = {"role": role, "roles": ", ".join(sorted(provider.roles))}
            yield Problem(Kind.ROLE, (f"{name}.role",), told)
        if not isinstance(message.get("content"), str | list) and role != "assistant":
            told = {"expected": "a string", "got": type(message.get("content")).__name__}
            yield Problem(Kind.TYPE, (f"{name}.content",), told)
        if Quirk.STRICT in provider.quirks and set(message) - _MESSAGE:
            yield Problem(Kind.UNKNOWN, tuple(f"{name}.{each}" for each in sorted(set(message) - _MESSAGE)))
    if Quirk.USER_LAST in provider.quirks and messages[-1].get("role") == "assistant":
        yield Problem(Kind.ORDER, ("messages",))
