"""The learned leg of the router: which version answers, what it looks at, and what its answer means for schemas.

Owns taking up a new version without a restart, and the cut of a large catalog that a question is decoded over.
A version that cannot be read never stops routing: the one before it, or the retrieval leg alone, goes on.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import structlog
from numpy.typing import NDArray

from engine.routing.artifact import Artifact, ArtifactError, ArtifactStore
from engine.routing.candidate_space import CandidateSpace, cut_field, whole_field
from engine.routing.decoder import table_shares
from engine.routing.graph import Graph
from engine.routing.index import Index
from engine.routing.pointer_api import Asked, Encoded, Pointed, Pointer, PointingSettings
from engine.routing.scoring import TEMPERATURE, EncodedQuestion, SearchLimits, Weights, lexical, score
from engine.text.tokens import question_words

WHOLE_DATABASES, WHOLE_TABLES = 400, 4_000
"""Up to this many databases and tables a question is decoded over everything; over more, the retrieval leg first
chooses `DECODED` of them."""

DECODED = 32
"""Databases that a question is decoded over in a larger catalog, the retrieval leg's best: each costs its columns
twice."""

FIRST_SHARE = 0.3
"""Of a table's score, what its standing alone counts for; the sets of tables that were found make the rest. It also
orders the tables that no set holds."""

_KEPT = 8

_TOLD = 32
"""Databases that an answer ranks: those further down have no share worth a word."""

log = structlog.stdlib.get_logger("router")


@dataclass(frozen=True, slots=True)
class SetOfTables:
    """Tables of one database, by number, with their probability given the database and the decoder's state, (h,)."""

    tables: tuple[int, ...]
    probability: float
    state: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Standing:
    """How one database stands for a question, see `engine.core.ports.Match`; `part`: its number in the index.

    `tables`: numbers, best first, with log-probabilities given the database. `sets`: likeliest first, of the
    databases that were searched.
    """

    part: int
    logit: float
    retrieval: float
    evidence: float
    tables: tuple[tuple[int, float], ...]
    sets: tuple[SetOfTables, ...]


class Versions:
    """The pointer in use. `load` turns an artifact into one; nothing is loaded before it is first asked for."""

    def __init__(self, store: ArtifactStore, load: Callable[[Artifact], Pointer]) -> None:
        self._store = store
        self._load = load
        self._lock = threading.Lock()
        self._mark: tuple[int, int] | None = None
        self._pointer: Pointer | None = None

    def current(self) -> Pointer | None:
        """The current version; None where there is none that can be read."""
        with self._lock:
            mark = self._store.mark()
            if mark != self._mark:
                self._mark = mark
                self._take_up()
            return self._pointer

    def _take_up(self) -> None:
        version = self._store.current()
        if self._pointer is not None and self._pointer.version == version:
            return
        try:
            pointer = self._load(self._store.load(version))
            # What does not fit the encoder shows when a network is made of it, not when its file is read.
            pointer.read(["warm up"])
            self._pointer = pointer
        except ArtifactError as problem:
            kept = self._pointer.version if self._pointer else "the retrieval leg alone"
            log.warning("router version not taken up", version=version, problem=str(problem), kept=kept)
        else:
            log.info("router version taken up", version=version)


class LearnedLeg:
    """Ranks the databases of an index with a pointer. Keeps fields and graphs for the indexes it saw last."""

    def __init__(
        self,
        versions: Versions,
        weights: Weights,
        limits: SearchLimits,
        settings: PointingSettings | None = None,
    ) -> None:
        self._versions = versions
        self._weights = weights
        self._limits = limits
        self._settings = settings or PointingSettings()
        self._lock = threading.Lock()
        self._fields: OrderedDict[int, tuple[Index, CandidateSpace]] = OrderedDict()
        self._graphs: OrderedDict[int, tuple[object, Graph]] = OrderedDict()

    def warm_up(self) -> None:
        """Loads the current version."""
        self._versions.current()

    def rank(self, questions: Sequence[str], index: Index) -> list[tuple[Standing, ...]] | None:
        """The databases looked at for each question, best first; None where no version can answer."""
        pointer = self._versions.current()
        if pointer is None:
            return None
        read = pointer.read(questions)
        fields = list(self._fields_for(questions, read, index))
        if fields and fields[0] is fields[-1]:
            asked = [_asked(text, one, index, fields[0]) for text, one in zip(questions, read, strict=True)]
            pointed = pointer.point(asked, fields[0], self._settings)
        else:
            pointed = [
                pointer.point([_asked(text, one, index, field)], field, self._settings)[0]
                for text, one, field in zip(questions, read, fields, strict=True)
            ]
        return [self._standings(one, field) for one, field in zip(pointed, fields, strict=True)]

    def _fields_for(
        self, questions: Sequence[str], read: Sequence[Encoded], index: Index
    ) -> Iterator[CandidateSpace]:
        if len(index.parts) <= WHOLE_DATABASES and len(index.tables) <= WHOLE_TABLES:
            field = self._whole(index)
            yield from (field for _ in questions)
            return
        for text, one in zip(questions, read, strict=True):
            asked = EncodedQuestion(one.sentence, one.tokens, question_words(text))
            yield self._cut(index, asked)

    def _whole(self, index: Index) -> CandidateSpace:
        with self._lock:
            held = self._fields.get(id(index))
            if held is None:
                graphs = [self._graph(index, number) for number in range(len(index.parts))]
                # The index is kept beside its field, so that its id keeps its meaning.
                held = self._fields[id(index)] = (index, whole_field(index, graphs))
                while len(self._fields) > _KEPT:
                    self._fields.popitem(last=False)
            return held[1]

    def _cut(self, index: Index, asked: EncodedQuestion) -> CandidateSpace:
        scored = score(asked, index, self._weights, self._limits)[:DECODED]
        databases = np.array(sorted(one.part for one in scored), dtype=np.intp)
        held = {one.part: sorted(table for table, _ in one.tables) for one in scored}
        tables = np.concatenate(
            [
                index.table_starts[number] + np.array(held[number], dtype=np.intp)
                for number in databases.tolist()
            ]
        )
        with self._lock:
            graphs = {number: self._graph(index, number) for number in databases.tolist()}
        return cut_field(index, graphs, databases, tables)

    def _graph(self, index: Index, number: int) -> Graph:
        part = index.parts[number]
        held = self._graphs.get(id(part))
        if held is None:
            held = self._graphs[id(part)] = (part, Graph.of(part.snapshot))
            while len(self._graphs) > max(10_000, len(index.parts)):
                self._graphs.popitem(last=False)
        return held[1]

    def _standings(self, pointed: Pointed, field: CandidateSpace) -> tuple[Standing, ...]:
        order = np.argsort(-pointed.logits, kind="stable")[: min(_TOLD, self._limits.databases)]
        return tuple(_standing(pointed, field, database) for database in order.tolist())


def _asked(text: str, read: Encoded, index: Index, field: CandidateSpace) -> Asked:
    words, coverage = lexical(question_words(text), index)
    return Asked(
        read.sentence,
        read.tokens,
        words[field.tables].astype(np.float32),
        coverage[field.databases].astype(np.float32),
    )


def _standing(pointed: Pointed, field: CandidateSpace, database: int) -> Standing:
    tables = field.tables_of(database)
    numbers = field.tables[tables.start : tables.stop] - field.firsts[database]
    first = np.exp(pointed.tables[tables.start : tables.stop].astype(np.float64))
    sets: tuple[SetOfTables, ...] = ()
    if database in pointed.heads:
        head = pointed.heads.index(database)
        found = [one for one in pointed.found if one.head == head]
        if found:
            shares = table_shares(found)
            ends = np.array([shares.get(table, 0.0) for table in tables])
            first = FIRST_SHARE * first + (1 - FIRST_SHARE) * ends
        sets = tuple(
            SetOfTables(
                tuple(int(numbers[table - tables.start]) for table in one.tables),
                float(np.exp(one.log_probability)),
                one.state,
            )
            for one in found
        )
    values = np.log(first + 1e-12)
    order = np.argsort(-values, kind="stable")
    ranked = tuple(zip(numbers[order].tolist(), values[order].tolist(), strict=True))
    return Standing(
        part=int(field.databases[database]),
        logit=TEMPERATURE * float(pointed.logits[database]),
        retrieval=TEMPERATURE * float(pointed.retrieval[database]),
        evidence=float(pointed.evidence[database]),
        tables=ranked,
        sets=sets,
    )
