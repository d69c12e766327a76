"""Other beginnings of an answer: up to where the model was uncertain, and there the token that it nearly wrote.

A greedy answer shows at each token what else was likely. Gone on from there, by the model and under the same grammar,
it becomes a statement of another structure, with other joins or other output, as often as one with another name: what
a beam search would find, for the price of the rest of the statement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.values.ports import Completion, Token

LEAST = 0.02
"""Least chance of a fork: below, it is right in fewer than one of thirty."""

LOOKED_AT = 6
"""Other tokens of a place that are looked at, the likeliest first."""

ENDS = ";`"
"""What ends an answer: the semicolon, which may be left out, and the fence."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A beginning of `tokens` tokens; `logprob`: their sum.

    `chance`: its last token's probability, divided by that of the token that was written in its place; in (0, 1].
    """

    text: str
    chance: float
    logprob: float
    tokens: int

    def completed(self, rest: Completion) -> Completion:
        """The whole answer: the beginning and `rest`.

        Its likelihood counts all tokens: after one that it would not have chosen a model is sure again.
        """
        logprob = None
        if rest.logprob is not None:
            total = self.logprob + rest.logprob * rest.generated
            logprob = total / (self.tokens + rest.generated)
        return replace(rest, text=self.text + rest.text, logprob=logprob)


def forks(tokens: Sequence[Token]) -> list[Fork]:
    """The forks of a greedy answer, likeliest first.

    None that only spells, cuts up or ends differently what was written: case and white space are of no account.
    """
    answer = _plain("".join(token.text for token in tokens))
    whole = answer.rstrip(ENDS)
    found: dict[str, Fork] = {}
    text, logprob = "", 0.0
    for place, token in enumerate(tokens):
        written = _probability(token)
        for other, probability in token.others[:LOOKED_AT]:
            chance = probability / written
            beginning = _plain(text + other)
            differs = not answer.startswith(beginning) and beginning.rstrip(ENDS) != whole
            if LEAST <= chance <= 1 and differs:
                fork = Fork(text + other, chance, logprob + math.log(probability), place + 1)
                found.setdefault(beginning, fork)
        text += token.text
        logprob += math.log(written)
    return sorted(found.values(), key=lambda each: -each.chance)


def _probability(token: Token) -> float:
    """Of the written token, which is among those that were told; 1 where the grammar forced it."""
    return max((each for text, each in token.others if text == token.text), default=1.0)


def _plain(text: str) -> str:
    return "".join(text.lower().split())
