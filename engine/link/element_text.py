"""The names of schema elements as words, and the cosines of a question's phrases to them.

Similarity is the encoder's cosine, table included: `address` of `student_registration` can stand for a student's
address and that of `teacher` can not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.link.phrase_adapter import PhraseAdapter
from engine.link.standing import adjusted, statuses
from engine.question.names import name_words, qualified_words
from engine.values.elements import WHOLE_TABLE, Entity
from engine.values.ports import Encoder
from schema_catalog.naming import quote_ident
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, once_per_snapshot
from schema_catalog.words import identifier_words, shortness

SHORT = 0.75
"""Similarity of a phrase and a name that is surely short for it; a word and a column of its name have about as much."""


PROPOSED = 0.7
"""Share that a cosine to a word counts for which the language model proposed; to a synonym or a comment all of it."""

COMMENT_WORDS = 12
"""Words of a comment, at most, that are another name of its element; what follows is about something else."""


def linked(
    texts: Sequence[str], snapshot: Snapshot, encoder: Encoder, adapter: PhraseAdapter | None = None
) -> tuple[Entity, ...]:
    """Phrases with their cosines to the elements of a schema; `adapter` is applied to the phrases' vectors first.

    What a DBA prefers is a little nearer, and what is deprecated farther.
    """
    found = compared(texts, element_words(snapshot), encoder, adapter, _synonyms(snapshot))
    standing = statuses(snapshot)
    if not standing:
        return found
    return tuple(
        Entity(
            each.text, {key: adjusted(cosine, standing.get(key)) for key, cosine in each.similarities.items()}
        )
        for each in found
    )


def compared(
    texts: Sequence[str],
    elements: Mapping[ColumnKey, str],
    encoder: Encoder,
    adapter: PhraseAdapter | None = None,
    synonyms: Sequence[tuple[ColumnKey, str, float]] = (),
) -> tuple[Entity, ...]:
    """Phrases with their cosines to elements, which are given as texts; none where either is empty.

    `synonyms`: further texts of some elements, of which the nearest counts, and the share that a cosine to each counts
    for. What is short for a phrase is near to it.
    """
    if not texts or not elements:
        return ()
    vectors = encoder.encode([*texts, *elements.values(), *(text for _, text, _ in synonyms)])
    phrases = vectors[: len(texts)] if adapter is None else adapter.applied(vectors[: len(texts)])
    names = frozenset(name for key in elements for name in key[1:])
    found = []
    for text, row in zip(texts, (phrases @ vectors[len(texts) :].T).tolist(), strict=True):
        similarities = dict(zip(elements, row, strict=False))
        for (key, _, share), cosine in zip(synonyms, row[len(elements) :], strict=True):
            similarities[key] = max(share * cosine, similarities[key])
        for key, sure in _short_for(text, elements, names):
            similarities[key] = max(SHORT * sure, similarities[key])
        found.append(Entity(text, similarities))
    return tuple(found)


def _short_for(
    text: str, elements: Iterable[ColumnKey], names: Iterable[str]
) -> Iterator[tuple[ColumnKey, float]]:
    """The elements whose names are short for a phrase, and how surely: the mean of its words.

    `names`: theirs. Of a column's name a part at least has to be, of its table's the others may. What says a word in
    full is the encoder's to compare.
    """
    words = identifier_words(text)
    each = {name: _short_of_each(name, words) for name in names}
    short = {name: of_each for name, (of_each, said) in each.items() if said}
    for key in elements if short else ():
        own = short.get(key[1] if key[2] == WHOLE_TABLE else key[2])
        if own is not None:
            yield key, sum(map(max, own, each[key[1]][0])) / len(words)


def _short_of_each(name: str, words: Sequence[str]) -> tuple[list[float], bool]:
    """How surely a name is short for each word, and whether it says any of them in short."""
    parts = identifier_words(name)
    of_each = [max((shortness(part, word) for part in parts), default=0.0) for word in words]
    return of_each, any(chance and word not in parts for word, chance in zip(words, of_each, strict=True))


@once_per_snapshot
def element_words(snapshot: Snapshot) -> dict[ColumnKey, str]:
    """Columns, and tables as a whole, in words; with the schema's where a bare name does not find the table."""
    words: dict[ColumnKey, str] = {}
    for table in snapshot.tables:
        bare = snapshot.display_name(table) == quote_ident(table.name)
        schema = "" if bare else f"{name_words(table.schema)} "
        words[*table.key, WHOLE_TABLE] = schema + name_words(table.name)
        for column in table.columns:
            words[*table.key, column.name] = schema + qualified_words(table, column)
    return words


@once_per_snapshot
def _synonyms(snapshot: Snapshot) -> list[tuple[ColumnKey, str, float]]:
    """Elements with their synonyms in words, as `element_words` has the names; columns with their tables' names.

    So is what a comment begins with, a term, of each column that it reads, and for less what a model proposes.
    """
    found: list[tuple[ColumnKey, str, float]] = []
    for table in snapshot.tables:
        found += [((*table.key, WHOLE_TABLE), words, share) for words, share in _said(table)]
        for column in table.columns:
            key = (*table.key, column.name)
            found += [(key, f"{name_words(table.name)} {words}", share) for words, share in _said(column)]
    for term in snapshot.terms:
        columns = (element for element in term.reads if element[2:])
        found += [((schema, table, column), name_words(term.name), 1.0) for schema, table, column in columns]
    return found


@once_per_snapshot
def proposed_words(snapshot: Snapshot) -> frozenset[str]:
    """The folded words that the language model proposed: what one of them stands for is not unknown."""
    elements: list[Table | Column] = [*snapshot.tables, *(column for _, column in snapshot.columns())]
    texts = (text for each in elements for text in each.proposed_synonyms)
    return frozenset(word for text in texts for word in identifier_words(text))


def _said(element: Table | Column) -> Iterator[tuple[str, float]]:
    """Its synonyms, the beginning of its comment and its proposed words, with the share that each counts for."""
    yield from ((name_words(each), 1.0) for each in element.synonyms)
    beginning = re.split(r"[.;:(\n]", element.description or "")[0]
    if words := name_words(" ".join(beginning.split()[:COMMENT_WORDS])):
        yield words, 1.0
    yield from ((name_words(each), PROPOSED) for each in element.proposed_synonyms)
