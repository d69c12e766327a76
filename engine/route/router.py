"""The router: the index over all schemas, kept between questions, and the two legs that rank over it.

An entry belongs to a snapshot restricted to what a role may read: roles with the same view share one.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Protocol

from threadpoolctl import ThreadpoolController

from engine.question.question import Question
from engine.route.index import Index, SchemaIndexEntry, build
from engine.route.learned_router import LearnedLeg
from engine.route.pointing import Pointer
from engine.route.scoring import EncodedQuestion, Scored, Vectors, score
from engine.route.thesaurus import Thesaurus, likelier
from engine.route.together import Together
from engine.values.ports import Encoder, Match
from engine.values.recent import Recent
from schema_catalog.types import ReadableColumns, Snapshot

_INDEXES = 8
"""Indexes kept, one for each group of roles with the same view."""

_PARTS = 10_000
"""Restricted schemas kept."""
_TOGETHER = 32
"""Questions of several askers ranked at a time, at most."""


class QuestionEncoder(Encoder, Protocol):
    """An encoder that also gives the vectors of a text's tokens in context."""

    def encode_tokens_many(self, texts: Sequence[str]) -> Sequence[tuple[Vectors, Vectors]]:
        """Each text's unit vector, shape (d,), and one for each of its tokens, shape (tokens, d)."""


@dataclass(frozen=True, slots=True)
class _Catalog:
    """Views, kept for their ids, with their index and its synonyms; `numbers`: of each of its parts the view's."""

    views: tuple[tuple[Snapshot, ReadableColumns], ...]
    numbers: tuple[int, ...]
    index: Index
    thesaurus: Thesaurus


_View = tuple[Snapshot, SchemaIndexEntry | None]
"""A snapshot with its entry as somebody may see it; None where they may see nothing of it."""


class HybridRouter:
    """`engine.values.ports.Router`. Safe to call from several threads.

    `pointer`: the learned leg's network; without one the retrieval leg answers alone. `folder`: for the files of
    large indexes, which engines on one machine share; None keeps them in memory.
    """

    def __init__(
        self,
        encoder: QuestionEncoder,
        schemas: Encoder | None = None,
        *,
        pointer: Pointer | None = None,
        folder: Path | None = None,
    ) -> None:
        self._encoder = encoder
        self._schemas = encoder if schemas is None else schemas
        self._learned = None if pointer is None else LearnedLeg(pointer)
        self._folder = folder
        # Hundreds of small products: threads that wait for each other beside a busy language model made one
        # question over 100,000 tables 15 times slower. Selected, since leaving a limit gives every library of its
        # controller the threads it had: torch, loaded meanwhile and held to one, would get them all back.
        self._blas = ThreadpoolController().select(user_api="blas")
        # The snapshot itself is kept beside its id, so that the id cannot come to mean another one.
        self._views = Recent[tuple[int, ReadableColumns | None], _View](_PARTS)
        self._parts = Recent[tuple[str, str], SchemaIndexEntry](_PARTS)
        # An index holds its parts, so that their ids keep their meaning.
        self._indexes = Recent[tuple[int, ...], Index](_INDEXES)
        self._catalogs = Recent[bytes, tuple[_Catalog, Together[Question, tuple[Match, ...]]]](_INDEXES)

    def prepare(self, snapshots: Sequence[Snapshot]) -> None:
        """Encodes whole schemas, and loads the learned leg, ahead of the first question."""
        for snapshot in snapshots:
            self._part(snapshot, None)
        if self._learned:
            self._learned.warm_up()

    def rank(
        self, question: Question, views: Sequence[tuple[Snapshot, ReadableColumns]]
    ) -> tuple[Match, ...]:
        """The readable databases, likeliest first; several threads' questions over the same views are one batch."""
        _, together = self._catalog(views)
        return together(question)

    def rank_many(
        self, questions: Sequence[Question], views: Sequence[tuple[Snapshot, ReadableColumns]]
    ) -> list[tuple[Match, ...]]:
        """As `rank`, for several questions over one view of the catalog."""
        if not questions:
            return []
        catalog, _ = self._catalog(views)
        return self._ranked(catalog, questions)

    def _ranked(self, catalog: _Catalog, questions: Sequence[Question]) -> list[tuple[Match, ...]]:
        """Of each question; where it has synonyms, under both of its readings."""
        if not catalog.numbers:
            return [() for _ in questions]
        readings = [catalog.thesaurus.reading(question) for question in questions]
        found = self._scored(catalog, [*questions, *filter(None, readings)])
        others = iter(found[len(questions) :])
        return [
            likelier(first, next(others), reading) if reading else first
            for first, reading in zip(found, readings, strict=False)
        ]

    def _scored(self, catalog: _Catalog, questions: Sequence[Question]) -> list[tuple[Match, ...]]:
        with self._blas.limit(limits=1):
            learned = self._learned.rank(questions, catalog.index, catalog.numbers) if self._learned else None
            return self._retrieved(questions, catalog) if learned is None else learned

    def _retrieved(self, questions: Sequence[Question], catalog: _Catalog) -> list[tuple[Match, ...]]:
        encoded = self._encoder.encode_tokens_many([each.text for each in questions])
        found = []
        for question, (sentence, tokens) in zip(questions, encoded, strict=True):
            asked = EncodedQuestion(sentence, tokens, question.content_words)
            scored = score(asked, catalog.index)
            found.append(tuple(_match(each, asked.words, catalog) for each in scored))
        return found

    def _catalog(
        self, views: Sequence[tuple[Snapshot, ReadableColumns]]
    ) -> tuple[_Catalog, Together[Question, tuple[Match, ...]]]:
        """The catalog of `views`, by their ids (as a rule the last question's), and where its questions meet."""
        # Bytes: their hash is kept, while a tuple of thousands of numbers is hashed at every look-up.
        key = array("Q", map(id, chain.from_iterable(views))).tobytes()
        if (held := self._catalogs.get(key)) is not None:
            return held
        numbers, index = self._indexed(views)
        catalog = _Catalog(tuple(views), numbers, index, Thesaurus(index))
        _give_back()  # the parts' own arrays
        return self._catalogs.keep(key, (catalog, Together(partial(self._ranked, catalog), most=_TOGETHER)))

    def _indexed(self, views: Sequence[tuple[Snapshot, ReadableColumns]]) -> tuple[tuple[int, ...], Index]:
        """The index of `views`, and of each of its parts the view's number."""
        found = [(number, self._part(*view)) for number, view in enumerate(views)]
        visible = [(number, part) for number, part in found if part is not None]
        return tuple(number for number, _ in visible), self._index([part for _, part in visible])

    def _index(self, parts: Sequence[SchemaIndexEntry]) -> Index:
        key = tuple(id(part.snapshot) for part in parts)
        if (index := self._indexes.get(key)) is None:
            index = self._indexes.keep(key, Index(parts, self._folder))
            self._share(index)
        return index

    def _share(self, index: Index) -> None:
        """Replaces the parts that the index was made of by its own, which share its arrays."""
        own = {id(part.snapshot): part for part in index.parts}

        def shared(part: SchemaIndexEntry) -> SchemaIndexEntry:
            found: SchemaIndexEntry = own.get(id(part.snapshot), part)
            return found

        self._parts.replace(shared)
        self._views.replace(lambda view: (view[0], None if view[1] is None else shared(view[1])))

    def _part(self, snapshot: Snapshot, readable: ReadableColumns | None) -> SchemaIndexEntry | None:
        key = (id(snapshot), readable)
        if (view := self._views.get(key)) is not None:
            return view[1]
        masked = snapshot if readable is None else snapshot.restricted_to(readable)
        part = self._built(masked) if any(table.columns for table in masked.tables) else None
        return self._views.keep(key, (snapshot, part))[1]

    def _built(self, masked: Snapshot) -> SchemaIndexEntry:
        key = (masked.database, masked.fingerprint)
        part = self._parts.get(key)
        if part is None or part.snapshot.shadowed != masked.shadowed:
            part = build(masked, self._schemas.encode)
        return self._parts.keep(key, part)


def _match(scored: Scored, words: Sequence[str], catalog: _Catalog) -> Match:
    part = catalog.index.parts[scored.part]
    tables = tuple((part.snapshot.tables[table].key, value) for table, value in scored.tables)
    known = tuple(word for word in words if word in part.words)
    number = catalog.numbers[scored.part]
    return Match(number, part.snapshot, scored.logit, scored.evidence, known, tables, scored.logit)


def _give_back() -> None:
    """Gives back what the C library keeps of freed memory, where it can: glibc's `malloc_trim`.

    After large work whose parts are small: what they leave is of use to nobody else.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
