"""Draft tokens for speculative decoding, from n-grams of the cached answers.

Candidates for one question are much alike: a mask or a condition changes a name or a clause. A token that is decoded
beside others costs about a third of a step of its own (two cores), so drafts are cheap. They change nothing: tokens
that greedy decoding would not choose are dropped (up to rounding, which differs between large and small batches).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GRAM = 3
"""Tokens of an n-gram that two answers must share before the next ones are a draft."""

FIRST, LONGEST = 4, 8
"""Tokens of a draft, at first and at most."""


def guess(ending: Sequence[int], answers: Iterable[list[int]], length: int) -> list[int]:
    """At most `length` tokens that follow `ending` (its last `GRAM` tokens) in the first of `answers` that has it."""
    gram = list(ending[-GRAM:])
    if length < 1 or len(gram) < GRAM:
        return []
    for tokens in answers:
        for place in range(len(tokens) - GRAM - 1, -1, -1):
            if tokens[place : place + GRAM] == gram:
                return tokens[place + GRAM : place + GRAM + length]
    return []


def next_length(length: int, accepted: int) -> int:
    """Length of the next draft after `accepted` of `length` tokens were right: doubled, or what was right and one."""
    return min(2 * length, LONGEST) if accepted == length else max(1, accepted + 1)
