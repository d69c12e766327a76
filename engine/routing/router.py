"""The index over all schemas, kept between questions.

Owns which parts are kept and when they are rebuilt. A part belongs to a snapshot and to what a role may read
of it, so that roles with the same view share one, and a changed schema costs its own part alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from threadpoolctl import ThreadpoolController

from engine.routing.index import Index
from engine.routing.learned import LearnedLeg, Standing, Versions
from engine.routing.part import Part, build
from engine.routing.pointing import PointingSettings
from engine.routing.scoring import Limits, Question, Vectors, Weights, score
from engine.routing.words import question_words
from engine.state import Match, TableSet
from schema_catalog.types import ReadableColumns, Snapshot

_INDEXES = 8
"""Indexes kept: one for each group of roles with the same view. Each holds a copy of its parts' vectors."""


class QuestionEncoder(Protocol):
    """An encoder that also gives the tokens of one text in their context."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""

    def encode_tokens(self, text: str) -> tuple[Vectors, Vectors]:
        """The text's unit vector, shape (d,), and one for each of its tokens, shape (tokens, d)."""


class SchemaEncoder(Protocol):
    """What gives schema texts their vectors: the same encoder, as a rule behind a `VectorCache`."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""


class HybridRouter:
    """`engine.state.Router`. Safe to call from several threads.

    `versions`: of the learned leg; without them, and while none of them can be read, the retrieval leg answers
    alone. `parts`: restricted schemas kept.
    """

    def __init__(
        self,
        encoder: QuestionEncoder,
        schemas: SchemaEncoder | None = None,
        *,
        weights: Weights | None = None,
        limits: Limits | None = None,
        versions: Versions | None = None,
        pointing: PointingSettings | None = None,
        parts: int = 10_000,
    ) -> None:
        self._encoder = encoder
        self._schemas = encoder if schemas is None else schemas
        self._weights = weights or Weights()
        self._limits = limits or Limits()
        self._learned = (
            None if versions is None else LearnedLeg(versions, self._weights, self._limits, pointing)
        )
        self._kept = parts
        self._lock = threading.Lock()
        # Hundreds of small products: threads that wait for each other beside a busy language model made one
        # question over 100,000 tables 15 times slower.
        self._blas = ThreadpoolController()
        # The snapshot itself is kept beside its id, so that the id cannot come to mean another one.
        self._views: OrderedDict[tuple[int, ReadableColumns | None], tuple[Snapshot, Part | None]] = (
            OrderedDict()
        )
        self._parts: OrderedDict[tuple[str, str], Part] = OrderedDict()
        # An index holds its parts, so that their ids keep their meaning.
        self._indexes: OrderedDict[tuple[int, ...], Index] = OrderedDict()

    def prepare(self, snapshots: Sequence[Snapshot]) -> None:
        """Encodes whole schemas, and loads the learned leg, ahead of the first question."""
        for snapshot in snapshots:
            self._part(snapshot, None)
        if self._learned:
            self._learned.warm_up()

    def rank(self, question: str, views: Sequence[tuple[Snapshot, ReadableColumns]]) -> tuple[Match, ...]:
        """The databases of which anything is readable, likeliest first, at most `Limits.databases`."""
        return self.rank_many([question], views)[0]

    def rank_many(
        self, questions: Sequence[str], views: Sequence[tuple[Snapshot, ReadableColumns]]
    ) -> list[tuple[Match, ...]]:
        """The same for each of several questions over one view of the catalog."""
        found = [(number, self._part(*view)) for number, view in enumerate(views)]
        visible = [(number, part) for number, part in found if part is not None]
        if not visible or not questions:
            return [() for _ in questions]
        index = self._index([part for _, part in visible])
        with self._blas.limit(limits=1, user_api="blas"):
            learned = self._learned.rank(questions, index) if self._learned else None
            if learned is None:
                return [self._retrieved(question, index, visible) for question in questions]
        asked = [question_words(question) for question in questions]
        return [
            tuple(_match(each, words, *visible[each.part]) for each in standings)
            for words, standings in zip(asked, learned, strict=True)
        ]

    def _retrieved(
        self, question: str, index: Index, visible: Sequence[tuple[int, Part]]
    ) -> tuple[Match, ...]:
        """By the retrieval leg alone."""
        sentence, tokens = self._encoder.encode_tokens(question)
        asked = Question(sentence, tokens, question_words(question))
        scored = score(asked, index, self._weights, self._limits)
        matches = []
        for each in scored:
            number, part = visible[each.part]
            tables = tuple((part.snapshot.tables[table].key, value) for table, value in each.tables)
            known = tuple(word for word in asked.words if word in part.words)
            matches.append(Match(number, part.snapshot, each.logit, each.evidence, known, tables, each.logit))
        return tuple(matches)

    def _index(self, parts: Sequence[Part]) -> Index:
        key = tuple(map(id, parts))
        with self._lock:
            if key in self._indexes:
                self._indexes.move_to_end(key)
                return self._indexes[key]
        index = Index(parts)
        with self._lock:
            self._indexes[key] = index
            while len(self._indexes) > _INDEXES:
                self._indexes.popitem(last=False)
        return index

    def _part(self, snapshot: Snapshot, readable: ReadableColumns | None) -> Part | None:
        key = (id(snapshot), readable)
        with self._lock:
            if key in self._views:
                self._views.move_to_end(key)
                return self._views[key][1]
        masked = snapshot if readable is None else snapshot.restricted_to(readable)
        part = self._built(masked) if any(table.columns for table in masked.tables) else None
        with self._lock:
            self._views[key] = (snapshot, part)
            while len(self._views) > self._kept:
                self._views.popitem(last=False)
        return part

    def _built(self, masked: Snapshot) -> Part:
        key = (masked.database, masked.fingerprint)
        with self._lock:
            part = self._parts.get(key)
        if part is None or part.snapshot.shadowed != masked.shadowed:
            part = build(masked, self._schemas.encode)
        with self._lock:
            self._parts[key] = part
            self._parts.move_to_end(key)
            while len(self._parts) > self._kept:
                self._parts.popitem(last=False)
        return part


def _match(standing: Standing, words: Sequence[str], number: int, part: Part) -> Match:
    keys = [table.key for table in part.snapshot.tables]
    return Match(
        position=number,
        snapshot=part.snapshot,
        logit=standing.logit,
        evidence=standing.evidence,
        words=tuple(word for word in words if word in part.words),
        tables=tuple((keys[table], value) for table, value in standing.tables),
        retrieval=standing.retrieval,
        sets=tuple(
            TableSet(tuple(keys[table] for table in one.tables), one.probability, one.state)
            for one in standing.sets
        ),
    )
