"""Links a question's spans to values of a database: looked up, ranked, cut to a few.

Privileges and permissions come in with the `View`; lookup is the index's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from engine.link.value_index import ValueIndex
from engine.question import normalise as folding
from engine.question.question import Question
from engine.question.spans import Span, SpanKind
from engine.values.elements import Relation, ValueLink
from schema_catalog.types import ColumnKey

LINKS = 8
"""Links of a question to one database at most."""

COLUMNS = 3
"""Columns that one span is linked to at most."""

LEAST = {SpanKind.QUOTED: 0.75, SpanKind.NAME: 0.8, SpanKind.PHRASE: 0.87}
"""Least OSA similarity of a span and a value that differ."""

LETTERS = 5
"""Letters of a span that is compared by similarity, at least."""

HELD_LETTERS = 3
"""Letters of a name that is looked for as a word of longer values, at least."""

PART = 0.86
"""Least OSA similarity of a name and the words of a longer value that it may be."""

EQUAL = 0.97
"""Similarity of a span and a value with the same key in another spelling."""

INITIALS = 0.9
"""Similarity of a name and its first letters."""

CODES = 4
CODE_LETTERS = 3
"""Values of a column of codes, and letters of each, at most: `F` and `M`, `yes` and `no`."""

CODED = 2
"""Columns of codes that are linked at most."""

ASKED_FOR = 0.5
"""Least cosine of a phrase and a column of codes for a link to its values."""


@dataclass(frozen=True, slots=True)
class View:
    """An index with what the asker may read of it: `seen`, for each of its columns.

    `names`: keys of readable tables' and columns' names, and of their words. `described`: by the key of a word, the
    columns of which it says in short what they hold. `relevance`: best cosine of each column to a phrase. `coded`: the
    same of the columns whose codes may be asked for.
    """

    index: ValueIndex
    seen: NDArray[np.bool_]
    names: frozenset[str]
    described: Mapping[str, frozenset[ColumnKey]]
    relevance: Mapping[ColumnKey, float]
    coded: Mapping[ColumnKey, float]


@dataclass(frozen=True, slots=True)
class _Hit:
    span: Span
    number: int
    similarity: float
    relation: Relation
    spelt: bool = False
    """Whether all words of a name are those of the value, or nearly: of its parts none is another value."""


def match(question: Question, view: View) -> tuple[ValueLink, ...]:
    """At most `LINKS` links, by where their spans stand in the question; columns of codes last."""
    found = question.spans
    hits = _exact(found, view)
    hits += [hit for span in found if not _covered(span, hits) for hit in _alike(span, view)]
    hits = [hit for hit in hits if not _within_better(hit, hits) and not _describes_another(hit, view)]
    kept = [hit for _, same in groupby(hits, key=lambda hit: hit.span) for hit in _nearest(list(same), view)]
    kept.sort(key=lambda hit: (-hit.similarity, -_relevance(hit, view)))
    links = [_link(hit, view) for hit in sorted(kept[:LINKS], key=lambda hit: hit.span.start)]
    return (*links, *_codes(view, {link.column for link in links}))[:LINKS]


def _exact(found: Sequence[Span], view: View) -> list[_Hit]:
    hits = []
    numbers = view.index.exact([span.key for span in found], view.seen)
    for span, same in zip(found, numbers, strict=True):
        if span.kind in {SpanKind.PHRASE, SpanKind.MIXED} and span.key in view.names:
            continue
        for number in same:
            hit = _hit(span, number, view.index.text(number))
            if hit is not None:
                hits.append(hit)
    return hits


def _describes_another(hit: _Hit, view: View) -> bool:
    """Whether a word in lower case says what another column holds: the principal that is paid is nobody's job."""
    told = view.described.get(hit.span.key, ()) if hit.span.kind is SpanKind.PHRASE else ()
    return bool(told) and view.index.column(hit.number) not in told


def _hit(span: Span, number: int, text: str) -> _Hit | None:
    """The hit of a span on a value found by its key; None where only the hashes or the digits agree."""
    if span.kind is SpanKind.DATE:
        day = folding.date_key(text)
        if day is None or not day.startswith(span.key):
            return None
        return _Hit(span, number, EQUAL, Relation.EQUALS if day == span.key else Relation.SUCH_AS)
    if folding.key(text) != span.key:
        short = span.kind is SpanKind.NAME and span.text.isupper() and folding.initials(text) == span.key
        return _Hit(span, number, INITIALS, Relation.EQUALS) if short else None
    if span.key.isdigit() and _digits(span.text) != _digits(text):
        return None
    return _Hit(span, number, 1.0 if text == span.text else EQUAL, Relation.EQUALS)


def _alike(span: Span, view: View) -> Iterator[_Hit]:
    """Values with the words of the span among theirs, else those similar to it, else those with similar words.

    `Smith` is `John Smith` before it is `Smyth`; `Amercan Airlines` is `American Airlines Inc.`
    """
    least = LEAST.get(span.kind)
    if least is None or len(span.key) < HELD_LETTERS or span.key in view.names:
        return
    named, compared = span.kind is not SpanKind.PHRASE, len(span.key) >= LETTERS
    held = list(_holding(span, view, 1.0)) if named else []
    yield from held
    if held or not compared:
        return
    similar = view.index.similar(span.key, least, view.seen)
    for number, similarity in similar:
        if not _other_number(span.key, view.index.text(number)):
            yield _Hit(span, number, min(similarity, EQUAL), Relation.EQUALS, spelt=named)
    if named and not similar:
        yield from _holding(span, view, PART)


def _holding(span: Span, view: View, least: float) -> Iterator[_Hit]:
    """Values of more words than the span, some of which, one after the other, are as similar to it as `least`."""
    for number in view.index.containing(span.key, view.seen, edits=round((1 - least) * len(span.key))):
        text = view.index.text(number)
        value = folding.words(text)
        similarity, words = max(_parts(span.key, value, least), default=(0.0, 0))
        if similarity >= least and not _other_number(span.key, " ".join(value)):
            share = (0.5 + 0.3 * words / len(value)) * similarity
            yield _Hit(span, number, share, Relation.EQUALS, spelt=words > 1)


def _parts(key: str, value: Sequence[str], least: float) -> Iterator[tuple[float, int]]:
    """How similar `key` is to words of `value` that follow one another, and how many these are; never all of them.

    What is less similar than `least` is not at all.
    """
    for first in range(len(value)):
        part = ""
        for last in range(first, len(value)):
            part += value[last]
            if len(part) > 2 * len(key) or (first == 0 and last == len(value) - 1):
                break
            alike = max(
                OSA.normalized_similarity(key, each, score_cutoff=least) for each in (part, folding.key(part))
            )
            yield alike, last + 1 - first


def _digits(text: str) -> str:
    """The digits of a number, and its point."""
    return "".join(each for each in text if each.isdigit() or each == ".")


def _other_number(key: str, text: str) -> bool:
    """Whether their digits differ: `AA123` is no misspelling of `AA124`."""
    return re.findall(r"\d+", key) != re.findall(r"\d+", folding.key(text))


def _covered(span: Span, hits: Sequence[_Hit]) -> bool:
    """Whether the span, or one around it, has an exact hit."""
    return any(hit.span == span or span.within(hit.span) for hit in hits)


def _within_better(hit: _Hit, hits: Sequence[_Hit]) -> bool:
    return any(
        hit.span.within(other.span) and (other.similarity >= hit.similarity or other.spelt) for other in hits
    )


def _nearest(hits: list[_Hit], view: View) -> list[_Hit]:
    """The best hit of each column: of columns with an equal value, else of the most similar; `COLUMNS` at most."""
    hits.sort(key=lambda hit: (-hit.similarity, -_relevance(hit, view)))
    best: dict[int, _Hit] = {}
    for hit in hits:
        best.setdefault(view.index.place(hit.number), hit)
    top = max((hit.similarity for hit in best.values()), default=0.0)
    return [hit for hit in best.values() if hit.similarity >= EQUAL or hit.similarity == top][:COLUMNS]


def _relevance(hit: _Hit, view: View) -> float:
    return view.relevance.get(view.index.column(hit.number), 0.0)


def _link(hit: _Hit, view: View) -> ValueLink:
    return ValueLink(
        span=hit.span.text,
        column=view.index.column(hit.number),
        values=(view.index.text(hit.number),),
        similarity=round(hit.similarity, 3),
        relation=hit.relation,
    )


def _codes(view: View, linked: set[ColumnKey]) -> list[ValueLink]:
    """Links to all values of columns of codes that a phrase is near to: no value is spelt "female"."""
    found = []
    for place in np.flatnonzero(view.seen).tolist():
        column = view.index.columns[place]
        similarity = view.coded.get(column, 0.0)
        few = 1 < view.index.count(place) <= CODES and view.index.complete[place]
        if similarity < ASKED_FOR or column in linked or not few:
            continue
        values = tuple(sorted(view.index.values(place, CODES)))
        if max(map(len, values)) <= CODE_LETTERS:
            found.append(ValueLink("", column, values, round(similarity, 3), Relation.ONE_OF))
    return sorted(found, key=lambda link: -link.similarity)[:CODED]
