"""Guesses at how an answer goes on, from what stands in the cache.

Candidates for one question are much alike: what a mask or a condition changes is a name or a clause, and the rest is
what another candidate said. A token that is decoded beside others costs about a third of a step of its own (two cores),
so a guess is cheap, and it changes nothing: what the model would not have written itself is dropped (speculative
decoding with n-grams of earlier answers, greedy; up to rounding, which differs between large and small batches).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GRAM = 3
"""Tokens that an answer must share with another before what follows there is a guess."""

FIRST, LONGEST = 4, 8
"""Tokens of a guess, at first and at most."""


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
    """How much to guess after `accepted` of `length` tokens were right: twice as much, or about what was right."""
    return min(2 * length, LONGEST) if accepted == length else max(1, accepted + 1)
