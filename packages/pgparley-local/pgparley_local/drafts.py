"""Draft tokens for speculative decoding: what followed the same tokens before, in the prompt or an answer.

Drafts change nothing: tokens that greedy decoding would not choose are dropped (up to rounding).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

KEPT = 2_000
"""Answers that are remembered, the latest."""

GRAM = 6
"""Tokens at the end that are looked for: as many of them, from the last one on, as stand together anywhere."""

LIKELY, DOUBT = 0.8, 1.5
"""How likely a draft is right up to its last token, at least: each of them by how often it followed, of all times and
`DOUBT` by the length of what stood there more."""

LONGEST = 6
"""Tokens of a draft at most: a step of eight takes half again as long as one of seven."""

_END = -1

Tokens = NDArray[np.int32]


class Drafts:
    """The latest answers, `kept` of them, to guess from."""

    def __init__(self, kept: int = KEPT) -> None:
        self._answers: deque[Tokens] = deque(maxlen=kept)
        self._text = np.zeros(0, np.int32)

    def learn(self, text: Sequence[int]) -> None:
        """Remembers a finished answer; `text`: its tokens, behind the prompt's last ones."""
        self._answers.append(np.array([*text, _END], np.int32))
        self._text = np.concatenate(self._answers)

    def guess(self, text: Sequence[int], length: int) -> list[int]:
        """At most `length` tokens that may follow `text`, a prompt and what of its answer is written."""
        known = np.concatenate([self._text, np.array(text, np.int32)])
        ending = list(text[-GRAM:])
        drafted: list[int] = []
        chance = 1.0
        while len(drafted) < min(length, LONGEST):
            token, likely = _next(known, ending)
            chance *= likely
            if chance < LIKELY or token == _END:
                break
            drafted.append(token)
            ending = [*ending, token][-GRAM:]
        return drafted


def _next(known: Tokens, ending: Sequence[int]) -> tuple[int, float]:
    """What followed most often, and how likely it is, where most of `ending` stands in `known`, from its end on."""
    places = np.flatnonzero(known[:-1] == ending[-1])
    same = 1
    while same < len(ending):
        # A place too near to the beginning is compared with the end instead: a draft may be wrong.
        longer = places[known[places - same] == ending[-1 - same]]
        if not len(longer):
            break
        places, same = longer, same + 1
    if not len(places):
        return _END, 0.0
    tokens, counts = np.unique(known[places + 1], return_counts=True)
    return int(tokens[counts.argmax()]), float(counts.max() / (len(places) + DOUBT / same))
