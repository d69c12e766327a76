"""A model's reply as a service sends it: cut where the room ends, with reasoning, fences and log-probabilities."""

from __future__ import annotations

import re
from typing import Any

from tests.support.providers.descriptions import Provider, Quirk, Thinking
from tests.support.providers.faults import Finish, Reply


def completion(provider: Provider, body: dict[str, Any], reply: Reply, prompt: int) -> dict[str, Any]:
    """The reply's JSON to `body`, the heeded fields of a request of `prompt` tokens."""
    whole = re.findall(r"\s*\S+|\s+$", _dressed(provider, body, reply))
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
    room = max(min(limits) - provider.thinks, 0) if limits else len(whole)
    said, cut = whole[:room], room < len(whole)
    # The room that is left counts the reasoning too: what has no room is not begun.
    thought = min([provider.thinks, *limits])
    finish = Finish.LENGTH if cut else Finish.TOOL if reply.arguments is not None else reply.finish
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish.value, "logprobs": None}
    choice["message"] = _message(provider, reply, "".join(said))
    if body.get("logprobs") and said:
        choice["logprobs"] = {"content": _logprobs(said, body.get("top_logprobs", 0)), "refusal": None}
    usage = {"prompt_tokens": prompt, "completion_tokens": len(said) + thought}
    usage |= {"total_tokens": sum(usage.values())} | provider.usage
    if provider.thinks:
        usage["completion_tokens_details"] = {"reasoning_tokens": thought}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": provider.model}
    return head | {"choices": [choice], "usage": usage} | provider.extras


def _dressed(provider: Provider, body: dict[str, Any], reply: Reply) -> str:
    """The text as this service's models write it."""
    text = reply.text
    asked = body.get("response_format", {}).get("type", "text")
    if Quirk.FENCES in provider.quirks and asked == "text" and text.lstrip().startswith(("{", "[")):
        text = f"```json\n{text}\n```"
    return f"<think>\n{reply.reasoning}\n</think>\n\n{text}" if provider.thinking is Thinking.TAGGED else text


def _message(provider: Provider, reply: Reply, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if provider.thinking in {Thinking.REASONING, Thinking.REASONING_CONTENT}:
        message[provider.thinking.value] = reply.reasoning
    if reply.refusal is not None:
        message |= {"content": None, "refusal": reply.refusal}
    if reply.arguments is not None:
        called = {"name": "answer", "arguments": reply.arguments}
        message |= {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": called}]}
    return message


def _logprobs(said: list[str], others: int) -> list[dict[str, Any]]:
    """Of each token, and of made up ones that were less probable."""
    told = []
    for token in said:
        made_up = ((token, -0.1), *((f" other{rank}", -3.0 - rank) for rank in range(1, others)))
        told.append(_token(token, -0.1) | {"top_logprobs": [_token(*each) for each in made_up[:others]]})
    return told


def _token(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
