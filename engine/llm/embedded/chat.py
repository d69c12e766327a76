"""Conversations as tokens: ChatML, Qwen's format.

Control tokens in a message's text stay text, so that neither a question nor a comment in a schema can end its message.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from engine.llm.embedded.runtime import Runtime


def message_tokens(runtime: Runtime, role: str, text: str, *, closed: bool = True) -> list[int]:
    """One message; one that is not `closed` is to be gone on with."""
    tokens = _special(runtime, "<|im_start|>") + runtime.tokenize(f"{role}\n{text}")
    return tokens + _special(runtime, "<|im_end|>") + runtime.tokenize("\n") if closed else tokens


def chat_tokens(runtime: Runtime, system: str, user: str, begun: str) -> list[int]:
    """A question with the answer begun."""
    return [
        *message_tokens(runtime, "system", system),
        *message_tokens(runtime, "user", user),
        *message_tokens(runtime, "assistant", begun, closed=False),
    ]


def plain_tokens(prompt: Sequence[int], invocation: Sequence[int]) -> int:
    """How many tokens the adapter does not act on: up to the first invocation, or whatever may follow."""
    length = len(invocation)
    found = (at for at in range(len(prompt) - length + 1) if tuple(prompt[at : at + length]) == invocation)
    return next(found, sys.maxsize) if length else sys.maxsize


def _special(runtime: Runtime, text: str) -> list[int]:
    return runtime.tokenize(text, special=True)
