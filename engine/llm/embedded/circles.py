"""Answers that run in circles: greedy decoding that has written the same tokens again and again seldom stops.

The surer a model gets of the next round the more rounds it has read: where the second one began it was least sure, and
there stands the likeliest way out. What is written on from there is an answer; what runs on is cut off at the limit.
"""

from __future__ import annotations

from collections.abc import Sequence

ROUNDS = 3
"""Rounds that make a circle: lists and conditions are seldom the same, token by token, three times running."""

LEAST = 16
"""Tokens of all of them, at least: a number's digits are single tokens, often the same."""

LONGEST = 64
"""Tokens of one round at most."""

EXITS = 3
"""Circles that one answer is led out of; it ends in the next one, unfinished."""

LOOKED_AT = 6
"""Other tokens of a place that are looked at, the likeliest first."""


def second_round(tokens: Sequence[int]) -> range:
    """Places of the second round, of a circle that the tokens end in; empty where they end in none."""
    for length in range(1, min(LONGEST, len(tokens) // ROUNDS) + 1):
        back = max(LEAST, ROUNDS * length) - length
        if back + length > len(tokens) or tokens[-back:] != tokens[-back - length : -length]:
            continue
        begin = len(tokens) - back
        while begin > length and tokens[begin - 1] == tokens[begin - 1 - length]:
            begin -= 1
        return range(begin, begin + length)
    return range(0)
