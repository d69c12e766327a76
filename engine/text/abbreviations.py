"""Whether a part of a name is short for a word: `gnr` for genre, `arpt` for airport, `cust` for customer."""

from __future__ import annotations

from collections.abc import Iterable

CLEAR = 0.75
"""Least `shortness` at which a name is taken for a word: `trk` for track and `mth` for month have it."""

LONG = 4
"""Letters of a word that a name may be short for, at least."""

_VOWELS = frozenset("aeiou")

_LEAST = 2
"""Letters of an abbreviation, at least."""

_BEGINNING = 3
"""Letters, at least, of one that is a word's beginning."""


def shortness(short: str, word: str) -> float:
    """How surely `short` stands for `word`, in [0, 1]: 1 for the word itself, 0 where it can not.

    An abbreviation begins as the word does and has its letters in their order: the more of the word's consonants, the
    surer; its beginning is as sure as all of them. Both in lower case.
    """
    if short == word:
        return 1.0
    if len(short) < _LEAST or len(short) >= len(word) or short[0] != word[0] or not _within(short, word):
        return 0.0
    if len(short) >= _BEGINNING and word.startswith(short):
        return 1.0
    bones = word[0] + "".join(letter for letter in word[1:] if letter not in _VOWELS)
    said = short[0] + "".join(letter for letter in short[1:] if letter not in _VOWELS)
    return min(1.0, len(said) / len(bones))


def surest(word: str, parts: Iterable[str]) -> list[str]:
    """Those of `parts` that are surest to be short for `word`, as all of them are; none where none surely is."""
    sure = {part: chance for part in parts if (chance := shortness(part, word)) >= CLEAR}
    best = max(sure.values(), default=0.0)
    return [part for part, chance in sure.items() if chance == best]


def _within(short: str, word: str) -> bool:
    """Whether the letters of `short` are among those of `word`, in their order."""
    letters = iter(word)
    return all(letter in letters for letter in short)
