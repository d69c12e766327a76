"""The learned leg of the router: the cut of a large catalog, and the pointer's output as matches.

Where the network does not fit the sentence encoder the retrieval leg alone answers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from engine.core.elements import TableSet
from engine.core.ports import Match
from engine.errors import for_log
from engine.models.packaged import PackagedError
from engine.routing.candidate_space import CandidateSpace, Columns, cut_field, whole_field
from engine.routing.decoder import BeamSettings, table_scores
from engine.routing.index import Index
from engine.routing.pointer_api import Asked, Encoded, Pointed, Pointer
from engine.routing.scoring import EncodedQuestion, SearchLimits, choose
from engine.text.tokens import question_words

WHOLE_DATABASES, WHOLE_TABLES = 400, 4_000
"""Up to this many databases and tables the whole catalog is decoded; above, those that cheap features choose."""

_KEPT = 8
"""Indexes whose fields are kept."""

_RANKED = 32
"""Databases ranked at most."""

log = structlog.stdlib.get_logger("router")


class LearnedLeg:
    """Ranks the databases of an index with a pointer. Keeps fields for the indexes it saw last."""

    def __init__(self, pointer: Pointer, limits: SearchLimits) -> None:
        self._pointer = pointer
        self._fits = True
        self._limits = limits
        self._beams = BeamSettings()
        self._lock = threading.Lock()
        self._fields: OrderedDict[int, tuple[Index, CandidateSpace]] = OrderedDict()

    def warm_up(self) -> None:
        """Loads the network."""
        self._read(["warm up"])

    def rank(
        self, questions: Sequence[str], index: Index, positions: Sequence[int]
    ) -> list[tuple[Match, ...]] | None:
        """The matches of each question, best first, by the databases' `positions`; None where no network fits."""
        pointer, read = self._pointer, self._read(questions)
        if read is None:
            return None
        fields = list(self._fields_for(questions, read, index, quantized=pointer.quantized))
        if fields and fields[0] is fields[-1]:
            asked = [Asked.of(text, one, index, fields[0]) for text, one in zip(questions, read, strict=True)]
            pointed = pointer.point(asked, fields[0], self._beams)
        else:
            pointed = [
                pointer.point([Asked.of(text, one, index, field)], field, self._beams)[0]
                for text, one, field in zip(questions, read, fields, strict=True)
            ]
        return [
            self._matches(text, one, field, index, positions)
            for text, one, field in zip(questions, pointed, fields, strict=True)
        ]

    def _read(self, questions: Sequence[str]) -> Sequence[Encoded] | None:
        try:
            return self._pointer.read(questions) if self._fits else None
        except PackagedError as problem:
            log.warning("learned router left out", problem=for_log(problem))
            self._fits = False
            return None

    def _fields_for(
        self, questions: Sequence[str], read: Sequence[Encoded], index: Index, *, quantized: bool
    ) -> Iterator[CandidateSpace]:
        columns = index.quantized if quantized else index.columns
        if len(index.parts) <= WHOLE_DATABASES and len(index.tables) <= WHOLE_TABLES:
            field = self._whole(index, columns)
            yield from (field for _ in questions)
            return
        for text, one in zip(questions, read, strict=True):
            asked = EncodedQuestion(one.sentence, one.tokens, question_words(text))
            yield self._cut(index, asked, columns)

    def _whole(self, index: Index, columns: Columns) -> CandidateSpace:
        with self._lock:
            held = self._fields.get(id(index))
            if held is None:
                # The index is kept beside its field, so that its id keeps its meaning.
                field = whole_field(index, [part.graph for part in index.parts], columns)
                held = self._fields[id(index)] = (index, field)
                while len(self._fields) > _KEPT:
                    self._fields.popitem(last=False)
            return held[1]

    def _cut(self, index: Index, asked: EncodedQuestion, columns: Columns) -> CandidateSpace:
        databases, tables = choose(asked, index, self._limits)
        graphs = {number: index.parts[number].graph for number in databases.tolist()}
        return cut_field(index, graphs, databases, tables, columns)

    def _matches(
        self, question: str, pointed: Pointed, field: CandidateSpace, index: Index, positions: Sequence[int]
    ) -> tuple[Match, ...]:
        words = question_words(question)
        order = np.argsort(-pointed.logits, kind="stable")[: min(_RANKED, self._limits.databases)]
        decoded = _decoded(pointed, field, index)
        return tuple(_match(decoded, database, index, positions, words) for database in order.tolist())


@dataclass(frozen=True, slots=True)
class _Decoded:
    pointed: Pointed
    field: CandidateSpace
    tables: Sequence[int]
    scores: Sequence[float]
    sets: dict[int, tuple[TableSet, ...]]


def _decoded(pointed: Pointed, field: CandidateSpace, index: Index) -> _Decoded:
    scores = np.exp(pointed.tables.astype(np.float64))
    sets: dict[int, tuple[TableSet, ...]] = {}
    for head, database in enumerate(pointed.heads):
        found = [one for one in pointed.found if one.head == head]
        if not found:
            continue
        tables = field.tables_of(database)
        held = slice(tables.start, tables.stop)
        scores[held] = table_scores(tables, pointed.tables[held], found)
        sets[database] = tuple(
            TableSet(
                tuple(index.keys[field.tables[table]] for table in one.tables),
                float(np.exp(one.log_probability)),
            )
            for one in found
        )
    values = np.log(scores + 1e-12)
    order = np.lexsort((-values, field.owners))
    return _Decoded(pointed, field, field.tables[order].tolist(), values[order].tolist(), sets)


def _match(
    decoded: _Decoded, database: int, index: Index, positions: Sequence[int], words: Sequence[str]
) -> Match:
    number = int(decoded.field.databases[database])
    part, held = index.parts[number], decoded.field.tables_of(database)
    tables, scores = decoded.tables[held.start : held.stop], decoded.scores[held.start : held.stop]
    return Match(
        position=positions[number],
        snapshot=part.snapshot,
        logit=float(decoded.pointed.logits[database]),
        evidence=float(decoded.pointed.evidence[database]),
        words=tuple(word for word in words if word in part.words),
        tables=tuple((index.keys[table], score) for table, score in zip(tables, scores, strict=True)),
        retrieval=float(decoded.pointed.retrieval[database]),
        sets=decoded.sets.get(database, ()),
    )
