"""Answers that run in circles: written on from where the second round began, where the model was least sure."""

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
