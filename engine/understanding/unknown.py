"""The words of a question that nothing in a schema stands for.

A word is known where it is one of operations, grammar or numbers, a name (which only the data could tell), a part of a
linked value, or like a word of the schema's names and descriptions; else by the encoder's cosine to the elements, of
the word alone and of the phrase it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from engine.core.elements import WHOLE_TABLE, Entity
from engine.core.ports import Encoder
from engine.core.state import Route
from engine.linking.element_text import compared, element_words, name_words
from engine.linking.entities import entities
from engine.text.stopwords import GENERAL_WORDS
from engine.text.tokens import identifier_words
from engine.understanding.types import UnknownPhrase
from schema_catalog.types import Column, ColumnKey, Snapshot, Table

NEAR = 0.35
"""Least cosine of a word, to an element with or without its table's name, at which something stands for it.

Chosen on Spider's training questions, by folds of databases (`benchmarks/quality/understanding.py`).
"""

PHRASE_MORE = 0.05
"""Least cosine of its phrase, above `NEAR`: a phrase is nearer to some element than each of its words."""

LETTERS = 3
STEM = 5
"""Letters of a word that is judged, and of a beginning that two words share, at least."""

_CAPITAL = re.compile(r"(?<!^)(?<![.?!] )(?<!\w)[A-Z][\w'\u2019-]*")
_QUOTED = re.compile(r"'[^']+'(?!\w)|\"[^\"]+\"|\u201c[^\u201d]+\u201d")


def unknown_phrases(
    question: str, route: Route, encoder: Encoder, near: float = NEAR
) -> tuple[UnknownPhrase, ...]:
    """The words of `question` that nothing in `route`'s schema stands for, the farthest first.

    `route.entities` and `route.values` are the link stage's. `near`: as `NEAR`. Encodes some words: not for the event
    loop.
    """
    open_words = list(_open_words(question, route))
    if not open_words:
        return ()
    words = list(dict.fromkeys(word for word, _ in open_words))
    elements = element_words(route.snapshot)
    alone = {key: name_words(key[2]) for key in elements if key[2] != WHOLE_TABLE}
    by_word = {each.text: each for each in compared(words, elements, encoder)}
    by_name = {each.text: each for each in compared(words, alone, encoder)}
    phrases = {each.text: each for each in route.entities}
    found = {}
    for word, phrase in open_words:
        nearest, cosine = _nearest(_merged(by_word.get(word), by_name.get(word)))
        around = _nearest(phrases[phrase].similarities)[1] if phrase in phrases else cosine
        if cosine < near and around < near + PHRASE_MORE:
            found[word] = UnknownPhrase(word, nearest, round(cosine, 3))
    return tuple(sorted(found.values(), key=lambda each: each.cosine))


def _open_words(question: str, route: Route) -> Iterator[tuple[str, str]]:
    """(word, its phrase) of the words that neither grammar, names, values nor the schema's own words account for."""
    bare = _QUOTED.sub(" ", question)
    named = {part.lower() for name in _CAPITAL.findall(bare) for part in re.findall(r"[^\W_]+", name)}
    stored = {part for link in route.values for part in identifier_words(link.span)}
    spoken = schema_words(route.snapshot)
    for phrase in entities(question):
        for word in phrase.split():
            folded = identifier_words(word)
            if len(word) < LETTERS or word in GENERAL_WORDS or word in named or stored.issuperset(folded):
                continue
            if not any(alike(part, known) for part in folded for known in spoken):
                yield word, phrase


def schema_words(snapshot: Snapshot) -> frozenset[str]:
    """The folded words of the names, synonyms and descriptions of `snapshot`."""
    elements: list[Table | Column] = [*snapshot.tables, *(column for _, column in snapshot.columns())]
    texts = [
        *snapshot.said,
        *(text for each in elements for text in (each.name, each.description, *each.synonyms)),
    ]
    return frozenset(word for text in texts if text for word in identifier_words(text))


def alike(word: str, known: str) -> bool:
    """Whether they are equal or begin alike: "registered" and `registration`."""
    long = min(len(word), len(known)) >= STEM - 1
    return word == known or (long and word[:STEM] == known[:STEM])


def _merged(*entities_: Entity | None) -> Mapping[ColumnKey, float]:
    """The best cosine of each element."""
    best: dict[ColumnKey, float] = {}
    for key, cosine in _cosines(each for each in entities_ if each is not None):
        best[key] = max(cosine, best.get(key, -1.0))
    return best


def _cosines(entities_: Iterable[Entity]) -> Iterator[tuple[ColumnKey, float]]:
    for each in entities_:
        yield from each.similarities.items()


def _nearest(similarities: Mapping[ColumnKey, float]) -> tuple[ColumnKey | None, float]:
    if not similarities:
        return None, -1.0
    key = max(similarities, key=similarities.__getitem__)
    return key, similarities[key]
