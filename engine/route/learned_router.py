"""The learned leg of the router: the cut of a large catalog, and the pointer's output as matches.

Where the network does not fit the sentence encoder the retrieval leg alone answers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import structlog
from numpy.typing import NDArray

from engine.question.question import Question
from engine.route.candidate_space import CandidateSpace, Columns, cut_field, whole_field
from engine.route.decoder import BeamSettings, table_scores
from engine.route.index import Index
from engine.route.pointing import Asked, Pointed, Pointer, Vectors, Words
from engine.route.scoring import choose
from engine.values.elements import TableSet
from engine.values.errors import PackagedError, for_log
from engine.values.ports import Match

WHOLE_DATABASES, WHOLE_TABLES = 400, 4_000
"""Up to this many databases and tables the whole catalog is decoded; above, those that cheap features choose."""

_RANKED = 32
"""Databases ranked at most."""

log = structlog.stdlib.get_logger("router")


class LearnedLeg:
    """Ranks the databases of an index with a pointer. Keeps the fields of indexes as long as these are kept."""

    def __init__(self, pointer: Pointer) -> None:
        self._pointer = pointer
        self._fits = True
        self._beams = BeamSettings()
        self._lock = threading.Lock()
        self._fields = WeakKeyDictionary[Index, CandidateSpace]()

    def warm_up(self) -> None:
        """Loads the network."""
        self._read(["warm up"])

    def rank(
        self, questions: Sequence[Question], index: Index, positions: Sequence[int]
    ) -> list[tuple[Match, ...]] | None:
        """The matches of each question, best first, by the databases' `positions`; None where no network fits."""
        pointer, read = self._pointer, self._read([each.text for each in questions])
        if read is None:
            return None
        words = [each.content_words for each in questions]
        fields = list(self._fields_for(words, read, index, quantized=pointer.quantized))
        if fields and fields[0] is fields[-1]:
            asked = [Asked.of(said, one, index, fields[0]) for said, one in zip(words, read, strict=True)]
            pointed = pointer.point(asked, fields[0], self._beams)
        else:
            pointed = [
                pointer.point([Asked.of(said, one, index, field)], field, self._beams)[0]
                for said, one, field in zip(words, read, fields, strict=True)
            ]
        return [
            self._matches(said, one, field, index, positions)
            for said, one, field in zip(words, pointed, fields, strict=True)
        ]

    def _read(self, texts: Sequence[str]) -> Sequence[tuple[Vectors, Vectors]] | None:
        try:
            return self._pointer.read(texts) if self._fits else None
        except PackagedError as problem:
            log.warning("learned router left out", problem=for_log(problem))
            self._fits = False
            return None

    def _fields_for(
        self,
        words: Sequence[Words],
        read: Sequence[tuple[Vectors, Vectors]],
        index: Index,
        *,
        quantized: bool,
    ) -> Iterator[CandidateSpace]:
        columns = index.quantized if quantized else index.columns
        if len(index.parts) <= WHOLE_DATABASES and len(index.tables) <= WHOLE_TABLES:
            field = self._whole(index, columns)
            yield from (field for _ in words)
            return
        for said, (sentence, _) in zip(words, read, strict=True):
            databases, tables = choose(sentence, said, index)
            graphs = {number: index.parts[number].graph for number in databases.tolist()}
            yield cut_field(index, graphs, databases, tables, columns)

    def _whole(self, index: Index, columns: Columns) -> CandidateSpace:
        with self._lock:
            if index not in self._fields:
                self._fields[index] = whole_field(index, [part.graph for part in index.parts], columns)
            return self._fields[index]

    def _matches(
        self, words: Words, pointed: Pointed, field: CandidateSpace, index: Index, positions: Sequence[int]
    ) -> tuple[Match, ...]:
        scores, sets = _decoded(pointed, field, index)
        found = []
        for database in np.argsort(-pointed.logits, kind="stable")[:_RANKED].tolist():
            number, held = int(field.databases[database]), field.tables_of(database)
            part, own = index.parts[number], scores[held.start : held.stop]
            order = np.argsort(-own, kind="stable")
            keys = (index.keys[table] for table in field.tables[held.start + order])
            found.append(
                Match(
                    position=positions[number],
                    snapshot=part.snapshot,
                    logit=float(pointed.logits[database]),
                    evidence=float(pointed.evidence[database]),
                    words=tuple(word for word in words if word in part.words),
                    tables=tuple(zip(keys, own[order].tolist(), strict=True)),
                    retrieval=float(pointed.retrieval[database]),
                    sets=sets.get(database, ()),
                )
            )
        return tuple(found)


def _decoded(
    pointed: Pointed, field: CandidateSpace, index: Index
) -> tuple[NDArray[np.float64], dict[int, tuple[TableSet, ...]]]:
    """The tables' scores, logarithms, and the sets of tables found, by database."""
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
    return np.log(scores + 1e-12), sets
