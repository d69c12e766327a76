"""Which stored values of a column a text may mean that the column does not hold.

Owns the nearness of two texts and when it is enough; which values there are and who may see them is `source`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from engine.question import normalise as folding
from engine.values.elements import NearValues
from engine.values.ports import Encoder

NEAR = 3
"""Values that are as near as each other at most: of more, none is."""

LETTERS = 5
"""Letters of a text that is compared by its edit distance, at least."""

WRITTEN = 0.8
"""Least OSA similarity of the keys; BEHIND: how far below the best one another is as near."""

BEHIND = 0.04

WORD = 0.74
"""Least OSA similarity of each two words of texts of as many words: Trading Policy A is not B, nor Nanjing Nantong."""

ENCODED = 200
"""Values of a column whose values are compared by the encoder, at most: each costs about a millisecond once."""

COSINE = 0.8
"""Least cosine of a value that may mean the same; APART: how far below the best one another is as near. Chosen on
training databases (`benchmarks/quality/literals`): below it come neighbours, as India for China."""

APART = 0.05

_STEM = 3
"""Letters that a word which two texts share has, at least."""


def near_values(text: str, values: Sequence[str], encoder: Encoder) -> NearValues:
    """At most `NEAR` of `values`, which are all of a column's, that `text` may mean; none where it is one of them.

    The first of these that holds of any: the same except for case, accents, separators and a plural; the same day or
    number; the same stems; nearly the same letters. These are sure. Else those of which the words of one are all words
    of the other; else by the encoder. Of more than `NEAR` that are as near there are none. Encodes values: not for the
    event loop.
    """
    if text in values:
        return NearValues()
    if found := spelt_otherwise(text, values):
        return NearValues(tuple(found), sure=True) if len(found) <= NEAR else NearValues()
    if found := _of_more_words(text, values):
        return NearValues(tuple(found)) if len(found) <= NEAR else NearValues()
    return NearValues(_alike(text, values, encoder) if len(values) <= ENCODED else ())


def spelt_otherwise(text: str, values: Sequence[str]) -> list[str]:
    """Those of `values` that are `text` in another spelling, by the first way that finds any."""
    return next((found for rule in _SURE if (found := rule(text, values))), [])


def _same_key(text: str, values: Sequence[str]) -> list[str]:
    key = folding.key(text)
    return [
        value for value in values if key and folding.key(value) == key and folding.same_marks(text, value)
    ]


def _same_day(text: str, values: Sequence[str]) -> list[str]:
    day = folding.date_key(text)
    return [] if day is None else [value for value in values if folding.date_key(value) == day]


def _same_number(text: str, values: Sequence[str]) -> list[str]:
    number = folding.number_key(text)
    return [] if number is None else [value for value in values if folding.number_key(value) == number]


def _same_stems(text: str, values: Sequence[str]) -> list[str]:
    stems = sorted(folding.stems(text))
    return [v for v in values if stems and sorted(folding.stems(v)) == stems and folding.same_marks(text, v)]


def _spelt_alike(text: str, values: Sequence[str]) -> list[str]:
    key = folding.key(text)
    if len(key) < LETTERS:
        return []
    keys = [folding.key(value) for value in values]
    found = process.extract(
        key, keys, scorer=OSA.normalized_similarity, processor=None, score_cutoff=WRITTEN, limit=None
    )
    near = [(score, values[place]) for _, score, place in found if _spelling(text, values[place])]
    best = max((score for score, _ in near), default=0.0)
    return [value for score, value in near if score >= best - BEHIND]


def _of_more_words(text: str, values: Sequence[str]) -> list[str]:
    """Values of which `text` has some of the words, or all words and others; those with most in common."""
    mine = set(folding.stems(text))
    shared: list[tuple[float, str]] = []
    for value in values:
        theirs = set(folding.stems(value))
        if mine and theirs and (mine <= theirs or theirs <= mine) and max(map(len, mine & theirs)) >= _STEM:
            shared.append((len(mine & theirs) / len(mine | theirs), value))
    best = max((share for share, _ in shared), default=0.0)
    return [value for share, value in shared if share == best]


_SURE: tuple[Callable[[str, Sequence[str]], list[str]], ...] = (
    _same_key,
    _same_day,
    _same_number,
    _same_stems,
    _spelt_alike,
)


def _alike(text: str, values: Sequence[str], encoder: Encoder) -> tuple[str, ...]:
    if not folding.key(text):
        return ()
    vectors = encoder.encode([each.lower() for each in (text, *values)])
    cosines = vectors[1:] @ vectors[0]
    order = np.argsort(-cosines)
    near = [place for place in order if cosines[place] >= max(COSINE, cosines[order[0]] - APART)]
    same = tuple(values[place] for place in near if folding.same_marks(text, values[place]))
    return same if len(same) <= NEAR else ()


def _spelling(text: str, value: str) -> bool:
    """Whether texts of nearly the same letters may be one: word by word, same digits and signs, no opposites."""
    one, other = folding.words(text), folding.words(value)
    if len(one) == len(other) and min(map(OSA.normalized_similarity, one, other)) < WORD:
        return False
    short, long = sorted((folding.key(text), folding.key(value)), key=len)
    opposite = long.endswith(short) and long.removesuffix(short) in folding.OPPOSITES
    return not opposite and folding.same_marks(text, value)
