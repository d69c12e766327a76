"""What a model server's reply says: as a `Completion`."""

from __future__ import annotations

import math

from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionMessage, ChatCompletionTokenLogprob

from engine.core.ports import Completion, Token
from engine.llm.settings import Price

FREE = Price()


def completion(reply: ChatCompletion, prefix: str = "", price: Price = FREE) -> Completion:
    """Without the `prefix`, which `llama-server` repeats and others do not."""
    choice = reply.choices[0]
    usage = reply.usage
    prompt = usage.prompt_tokens if usage else 0
    cached = _cached(usage) if usage else 0
    told = (choice.logprobs.content or ()) if choice.logprobs else ()
    # `llama-server` tells of the token that ends the answer too, which has no text.
    content = [token for token in told if token.bytes != []]
    generated = usage.completion_tokens if usage else 0
    return Completion(
        text=_text(choice.message).removeprefix(prefix),
        prefilled=prompt - cached,
        cached=cached,
        generated=generated,
        logprob=sum(token.logprob for token in content) / len(content) if content else None,
        finished=choice.finish_reason in ("stop", "tool_calls"),
        tokens=tuple(map(_token, content)),
        refusal=choice.message.refusal,
        money=price.of(prompt - cached, cached, generated),
    )


def thinks(reply: ChatCompletion) -> bool:
    """Whether the model has thought before it answered."""
    details = reply.usage.completion_tokens_details if reply.usage else None
    message = reply.choices[0].message
    apart = (message.model_extra or {}).keys() & {"reasoning_content", "reasoning"}
    return bool(
        (details and details.reasoning_tokens)
        or any((message.model_extra or {})[name] for name in apart)
        or _text(message).lstrip().startswith("<think>")
    )


def is_cut_short(reply: ChatCompletion) -> bool:
    """Whether the limit of tokens left no room for an answer."""
    return reply.choices[0].finish_reason == "length" and not _text(reply.choices[0].message).strip()


def is_filtered(reply: ChatCompletion) -> bool:
    """Whether the service has withheld the answer."""
    return reply.choices[0].finish_reason == "content_filter"


def _cached(usage: CompletionUsage) -> int:
    """Tokens of the prompt that the service had; DeepSeek tells of them under a name of its own."""
    told = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else None
    return told or (usage.model_extra or {}).get("prompt_cache_hit_tokens") or 0


def _text(message: ChatCompletionMessage) -> str:
    """The content; where there is none, the arguments of the first function called."""
    calls = [call.function.arguments for call in message.tool_calls or () if call.type == "function"]
    return message.content or next(iter(calls), "")


def _token(told: ChatCompletionTokenLogprob) -> Token:
    return Token(told.token, tuple((other.token, math.exp(other.logprob)) for other in told.top_logprobs))
