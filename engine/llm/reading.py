"""What a model server's reply says: as a `Completion`.

Owns the shape of replies. A service is a stranger: of what it sends the fields below are read, each of its type and
within bounds, and the text is plain. All else is `NoReplyError`.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, TypeVar

import msgspec
import openai
from msgspec import Meta, Struct

from engine.question.plain import excerpt, plain
from engine.values.model_settings import Price
from engine.values.ports import Completion, Token

FREE = Price()

TEXT = 200_000
"""Characters of an answer at most, thoughts included: some 50,000 tokens."""

TOLD = 200
"""Characters of a service's own words that anybody is shown."""

Count = Annotated[int, Meta(ge=0, le=2**31)]
Logprob = Annotated[float, Meta(le=1.0)]
Text = Annotated[str, Meta(max_length=TEXT)]
_Read = TypeVar("_Read")


class NoReplyError(openai.OpenAIError):
    """A reply that says all is well and holds no answer, or is none that may be read."""


class Likely(Struct):
    """A token, or one that could have stood in its place."""

    token: str
    logprob: Logprob
    bytes: tuple[int, ...] | None = None


class Told(Likely):
    """A token of an answer."""

    top_logprobs: tuple[Likely, ...] | None = ()


class Logprobs(Struct):
    """Of an answer."""

    content: tuple[Told, ...] | None = None


class Function(Struct):
    """What a call is made of."""

    arguments: Text = ""


class ToolCall(Struct):
    """An answer in the shape of a call."""

    function: Function | None = None


class Message(Struct):
    """An answer."""

    content: Text | None = None
    refusal: Text | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    reasoning_content: object = None
    reasoning: object = None


class Choice(Struct):
    """The one that is read."""

    message: Message
    finish_reason: str | None = None
    logprobs: Logprobs | None = None


class PromptDetails(Struct):
    """Of the prompt's tokens."""

    cached_tokens: Count | None = None


class AnswerDetails(Struct):
    """Of the answer's tokens."""

    reasoning_tokens: Count | None = None


class TokenUsage(Struct):
    """Tokens of a call; DeepSeek tells of those that it had under a name of its own."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: AnswerDetails | None = None
    prompt_cache_hit_tokens: Count | None = None


class Reply(Struct):
    """A chat completion."""

    choices: Annotated[tuple[Choice, ...], Meta(min_length=1)]
    usage: TokenUsage | None = None


class Listed(Struct):
    """The models of a server."""

    data: tuple[dict[str, object], ...] = ()


def read(body: bytes, kind: type[_Read]) -> _Read:
    """`body` as one of `kind`; raises `NoReplyError`. Takes its time: not for the event loop."""
    try:
        said = json.loads(body, parse_constant=_constant)
    except (ValueError, RecursionError) as problem:
        raise NoReplyError(f"its reply is no JSON: {_beginning(body)}") from problem
    try:
        return msgspec.convert(said, kind)
    except (msgspec.ValidationError, RecursionError) as problem:
        error = said.get("error") if isinstance(said, dict) else None
        words = _beginning(body) if error else excerpt(str(problem), TOLD)
        raise NoReplyError(f"its reply holds no answer: {words}") from problem


def completion(reply: Reply, prefix: str = "", price: Price = FREE) -> Completion:
    """Without the `prefix`, which `llama-server` repeats and others do not."""
    choice = reply.choices[0]
    usage = reply.usage or TokenUsage()
    prompt, generated = usage.prompt_tokens or 0, usage.completion_tokens or 0
    cached = min(_cached(usage), prompt)
    told = (choice.logprobs.content or ()) if choice.logprobs else ()
    # `llama-server` tells of the token that ends the answer too, which has no text.
    content = [token for token in told if token.bytes != ()]
    refusal = choice.message.refusal
    return Completion(
        text=plain(_text(choice.message).removeprefix(prefix)),
        prefilled=prompt - cached,
        cached=cached,
        generated=generated,
        logprob=sum(token.logprob for token in content) / len(content) if content else None,
        finished=choice.finish_reason in ("stop", "tool_calls"),
        tokens=tuple(map(_token, content)),
        refusal=None if refusal is None else plain(refusal),
        money=price.of(prompt - cached, cached, generated),
    )


def thinks(reply: Reply) -> bool:
    """Whether the model has thought before it answered."""
    details = reply.usage.completion_tokens_details if reply.usage else None
    message = reply.choices[0].message
    return bool(
        (details and details.reasoning_tokens)
        or message.reasoning_content
        or message.reasoning
        or _text(message).lstrip().startswith("<think>")
    )


def is_cut_short(reply: Reply) -> bool:
    """Whether the limit of tokens left no room for an answer."""
    return reply.choices[0].finish_reason == "length" and not _text(reply.choices[0].message).strip()


def is_filtered(reply: Reply) -> bool:
    """Whether the service has withheld the answer."""
    return reply.choices[0].finish_reason == "content_filter"


def _constant(name: str) -> float:
    """What is no number of JSON; our own server tells so of a token that its grammar rules out."""
    if name == "-Infinity":
        return -math.inf
    raise ValueError(name)


def _beginning(body: bytes) -> str:
    return excerpt(body[: 8 * TOLD].decode(errors="replace"), TOLD) or "it is empty"


def _cached(usage: TokenUsage) -> int:
    """Tokens of the prompt that the service had."""
    details = usage.prompt_tokens_details
    return (details.cached_tokens if details else None) or usage.prompt_cache_hit_tokens or 0


def _text(message: Message) -> str:
    """The content; where there is none, the arguments of the first function called."""
    calls = [call.function.arguments for call in message.tool_calls or () if call.function]
    return message.content or next(iter(calls), "")


def _token(told: Told) -> Token:
    others = tuple((plain(each.token), math.exp(each.logprob)) for each in told.top_logprobs or ())
    return Token(plain(told.token), others)
