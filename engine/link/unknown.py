"""What of a question nothing stands for: in a statement, and in a schema.

The names and quoted texts of a question of which a statement says nothing.

The words of a question that nothing in a schema stands for.

A word is known where it is one of operations, grammar or numbers, a name (which only the data could tell), a part of a
linked value, or like a word of the schema's names and descriptions; else by the encoder's cosine to the elements, of
the word alone and of the phrase it stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from engine.link.contents import keys_of
from engine.link.element_text import compared, element_words, proposed_words
from engine.link.mentions import short_names, told_words
from engine.link.source import relevance
from engine.question.names import name_words
from engine.question.numerals import MONTHS
from engine.question.question import Question
from engine.question.spans import Span, SpanKind
from engine.question.tokens import GENERAL, GRAMMAR
from engine.values.elements import WHOLE_TABLE, UnknownPhrase, ValueLink
from engine.values.ports import Encoder
from engine.values.state import Route
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, Term, once_per_snapshot
from schema_catalog.words import identifier_words

_NAMING = frozenset({SpanKind.NAME, SpanKind.QUOTED})


def names_not_used(
    question: Question, sql: str, snapshot: Snapshot, links: Iterable[ValueLink]
) -> tuple[str, ...]:
    """The names in `question` of which `sql` holds no word, unless the schema or the span of a link holds one.

    "Paris" of "the weather in Paris" where the statement filters by another place, or by none. Whether a linked name
    is used tells `engine.link.mentions.values_not_used`, and whether a month is `engine.findings.rules.coverage`.
    """
    known = {*identifier_words(sql), *schema_words(snapshot)}
    known.update(word for link in links for word in identifier_words(link.span))
    names = [span for span in question.spans if span.kind in _NAMING and span.start > 0]
    longest = [span for span in names if not any(span.within(other) for other in names)]
    return tuple(dict.fromkeys(span.text for span in longest if _is_strange(span, known)))


def _is_strange(span: Span, known: Iterable[str]) -> bool:
    plain = GRAMMAR | MONTHS.keys()
    words = [word for word in identifier_words(span.text) if word not in plain and not word.isdigit()]
    return bool(words) and not any(alike(word, other) for word in words for other in known)


NEAR = 0.35
"""Least cosine of a word, to an element with or without its table's name, at which something stands for it.

Chosen on Spider's training questions, by folds of databases (`benchmarks/quality/understanding.py`).
"""

PHRASE_MORE = 0.05
"""Least cosine of its phrase, above `NEAR`: a phrase is nearer to some element than each of its words."""

LETTERS = 3
STEM = 5
"""Letters of a word that is judged, and of a beginning that two words share, at least."""


def unknown_phrases(question: Question, route: Route, encoder: Encoder) -> tuple[UnknownPhrase, ...]:
    """The words of `question` that nothing in `route`'s schema stands for, the farthest first.

    `route.entities` and `route.values` are the link stage's. Encodes some words: not for the event loop.
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
        nearest, cosine = _nearest(relevance([each[word] for each in (by_word, by_name) if word in each]))
        around = _nearest(phrases[phrase].similarities)[1] if phrase in phrases else cosine
        if cosine < NEAR and around < NEAR + PHRASE_MORE:
            found[word] = UnknownPhrase(word, nearest, round(cosine, 3))
    return tuple(sorted(found.values(), key=lambda each: each.cosine))


def _open_words(question: Question, route: Route) -> Iterator[tuple[str, str]]:
    """(word, its phrase) of the words that neither grammar, names, values nor the schema's words account for.

    Nor those that a name is short for: nothing in the data speaks against "salary" where a column is called `sal`.
    """
    stored = {part for link in route.values for part in identifier_words(link.span)}
    stored |= {
        part for each in route.contents for key in keys_of(each.expressions) for part in identifier_words(key)
    }
    stored |= {
        part for each in short_names(question, route.snapshot) for part in identifier_words(each.words)
    }
    spoken = schema_words(route.snapshot) | proposed_words(route.snapshot)
    for phrase in question.entities:
        for word in phrase.split():
            folded = identifier_words(word)
            if len(word) < LETTERS or word in GENERAL or word in question.names or stored.issuperset(folded):
                continue
            if not any(alike(part, known) for part in folded for known in spoken):
                yield word, phrase


@once_per_snapshot
def schema_words(snapshot: Snapshot) -> frozenset[str]:
    """The folded words of the names, synonyms, descriptions and terms of `snapshot`."""
    named: list[Table | Column | Term] = [*snapshot.tables, *snapshot.terms]
    named += (column for _, column in snapshot.columns())
    texts = (*snapshot.said, *(each.name for each in named))
    return told_words(snapshot).union(word for text in texts for word in identifier_words(text))


def alike(word: str, known: str) -> bool:
    """Whether they are equal or begin alike: "registered" and `registration`."""
    long = min(len(word), len(known)) >= STEM - 1
    return word == known or (long and word[:STEM] == known[:STEM])


def _nearest(similarities: Mapping[ColumnKey, float]) -> tuple[ColumnKey | None, float]:
    if not similarities:
        return None, -1.0
    key = max(similarities, key=similarities.__getitem__)
    return key, similarities[key]
