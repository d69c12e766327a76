"""Words of identifiers: how a name splits and folds, and what is short for a word.

Owns splitting and folding: `OrderItems`, `order_items` and "the order's items" give the same words. Works on any
script; where a script writes no spaces, pairs of characters stand in for words. Owns also whether a part of a name is
short for a word: `gnr` for genre, `arpt` for airport, `cust` for customer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Han: scripts written without spaces."""

_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|\d+|[^\W\d_{_UNSPACED}]+")

_HISSING = re.compile(r"(s|x|ch|sh)$")

_SHORT = 4
"""Letters of a word in the plural, at least."""


@lru_cache(maxsize=65_536)
def identifier_words(name: str) -> tuple[str, ...]:
    """The folded words of a table's or column's name, in order.

    The last 65,536 are kept, some 24 MiB of names: each question asks for those of every name that its asker may read.
    """
    return tuple(folded(name))


def folded_name(name: str) -> str:
    """The folded words of a name as one text; the name itself where it has none."""
    return " ".join(identifier_words(name)) or name


def plural(word: str) -> str:
    """The word with an English plural's ending."""
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + ("es" if _HISSING.search(word) else "s")


def without_accents(text: str) -> str:
    """The compatibility decomposition of `text` (NFKD) without combining characters."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def folded(text: str) -> Iterator[str]:
    """The words of a text in order, without accents, capitals and plural endings."""
    for run in _RUN.finditer(unicodedata.normalize("NFC", without_accents(text))):
        text = run[0]
        if run["unspaced"]:
            yield from (text[i : i + 2] for i in range(max(1, len(text) - 1)))
        else:
            yield from (_singular(piece.casefold()) for piece in _camel_pieces(text))


def _camel_pieces(run: str) -> Iterator[str]:
    """The words of a run of letters; a row of capitals leaves its last to the next word: HTTP, Server."""
    start = 0
    for i in range(1, len(run)) if not run.islower() else ():
        opens = run[i].isupper() and (not run[i - 1].isupper() or run[i + 1 : i + 2].islower())
        if opens:
            yield run[start:i]
            start = i
    yield run[start:]


def _singular(word: str) -> str:
    """The word without an English plural's ending; both sides fold alike, so a wrong guess does no harm."""
    if len(word) > _SHORT and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > _SHORT and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) >= _SHORT and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


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
