"""The natural language that a question is written in.

Owns the decision for or against English; the probabilities are py3langid's (naive Bayes over byte n-grams). Names,
codes and quoted values say nothing about the language of a question, and a word of English grammar decides for English
whatever else stands there.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Protocol, cast

from engine.question.tokens import GRAMMAR, QUOTED, question_words
from schema_catalog.types import Column, Snapshot, Table, once_per_snapshot
from schema_catalog.words import identifier_words

ENGLISH = "en"

LANGUAGES = dict(
    pair.split(":")
    for pair in """
        ar:Arabic bg:Bulgarian cs:Czech da:Danish de:German el:Greek en:English es:Spanish fa:Persian fi:Finnish
        fr:French he:Hebrew hi:Hindi hu:Hungarian id:Indonesian it:Italian ja:Japanese ko:Korean nl:Dutch no:Norwegian
        pl:Polish pt:Portuguese ro:Romanian ru:Russian sv:Swedish th:Thai tr:Turkish uk:Ukrainian vi:Vietnamese
        zh:Chinese
    """.split()  # noqa: SIM905  a table reads better so
)
"""ISO 639-1 code → English name of the languages that are told apart: of more, short texts are mistaken too often."""

MOST_ENGLISH = 0.05
"""Probability of English at most, for a question to be in another language."""

LEAST_OTHER = 0.4
"""Probability of the likeliest language at least: of "chi papers" no language is."""

LATIN_WORDS = 2
UNSPACED_LETTERS = 4
"""Words in Latin letters, or letters of another script, at least: fewer may be a name."""

_SHARED = frozenset(
    """
    a also an as at be been by can come did do find for give had has have he her him his i in into is it
    me most no not of on or over per so some such to under was we what who will
    count group max maximum mean min minimum same sort total
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""English words of grammar that are words of another language as well: German "was", Danish "find", French "on"."""

_ENGLISH_ONLY = (GRAMMAR - _SHARED) | {"what", "has", "who", "his"}

_TELLING = 4
"""Letters at least of a word that a question in Latin letters shares with a schema of its language."""

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_LAST_LATIN = "\u024f"


@dataclass(frozen=True, slots=True)
class Language:
    """A natural language. `code`: ISO 639-1. `probability`: of this one among `LANGUAGES`, in [0, 1]."""

    code: str
    probability: float

    @property
    def name(self) -> str:
        """Its name in English."""
        return LANGUAGES[self.code]


class _Identifier(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...

    def set_languages(self, langs: list[str]) -> None: ...


def foreign_language(text: str) -> Language | None:
    """The language of a question that is surely not in English; None for English and where it cannot be told.

    The first call reads the identifier's model (some 0.2 s): not for the event loop.
    """
    words = _telling_words(text)
    if any(word.lower() in _ENGLISH_ONLY for word in words):
        return None
    loud = text.upper() == text
    plain = [word for number, word in enumerate(words) if loud or number == 0 or not word[0].isupper()]
    if not _enough(plain):
        return None
    # German writes nouns, and everybody names, with a capital: English with and without them has to be unlikely.
    whole = dict(_identifier().rank(" ".join(words).lower()))
    without = dict(_identifier().rank(" ".join(plain).lower()))
    code = max(whole, key=whole.__getitem__)
    if max(whole[ENGLISH], without[ENGLISH]) >= MOST_ENGLISH or whole[code] < LEAST_OTHER:
        return None
    return Language(code, float(whole[code]))


def is_language_of(schema: Snapshot, text: str, language: Language) -> bool:
    """Whether `schema` is in the language of `text`: it has letters of its script, or a word, in common with it.

    The letters of a script that is not Latin are enough. A word may be a borrowed one, as "Hotel": then the names and
    comments are to be in that language as well.
    """
    texts = _texts(schema)
    letters = {letter for letter in text if letter.isalpha() and not _is_latin(letter)}
    if letters:
        return not letters.isdisjoint(texts)
    shared = {word for word in question_words(text) if len(word) >= _TELLING}
    if shared.isdisjoint(identifier_words(texts)):
        return False
    told = dict(_identifier().rank(" ".join(identifier_words(texts))))
    return max(told, key=told.__getitem__) == language.code


@once_per_snapshot
def _texts(schema: Snapshot) -> str:
    """The names and comments of a schema."""
    elements: list[Table | Column] = [*schema.tables, *(column for _, column in schema.columns())]
    return " ".join(text for each in elements for text in (each.name, each.description or "", *each.synonyms))


def _telling_words(text: str) -> list[str]:
    """The words without quoted values, codes, and, where there are Latin words, those of other scripts."""
    loud = text.upper() == text
    words = [
        word
        for token in QUOTED.sub(" ", text).split()
        if not any(letter.isdigit() for letter in token)
        for word in _WORD.findall(token)
        if loud or not (len(word) > 1 and word.isupper())
    ]
    latin = [word for word in words if _is_latin(word)]
    return latin or words


def _enough(words: list[str]) -> bool:
    if all(map(_is_latin, words)):
        return len(words) >= LATIN_WORDS
    return sum(map(len, words)) >= UNSPACED_LETTERS


def _is_latin(word: str) -> bool:
    return all(
        letter <= _LAST_LATIN or "\u1e00" <= letter <= "\u1eff" or letter == "\u2019" for letter in word
    )


@functools.cache
def _identifier() -> _Identifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415  its model takes tens of MB

    identifier = cast("_Identifier", LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True))
    identifier.set_languages(sorted(LANGUAGES))
    return identifier
