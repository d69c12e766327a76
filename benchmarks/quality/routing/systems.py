"""The systems that the routing benchmark compares, behind one function: questions in, rankings out; and their scorer.

Owns the baselines, built as the paper describes them: a table is a document of the flat, normalised names of itself
and its columns, and the hundred best tables of a question count. The paper gives a database the mean of its tables'
scores among these; its best table's serves every baseline better and is taken. Words that say how a question is put are
left out of BM25's queries. What a system does not list counts as not found.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import bm25s
import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.intervals import Figure
from benchmarks.harness.schemas import View
from benchmarks.harness.scorer import scored
from engine.models.encoder import MiniLMEncoder
from engine.question.question import Question
from engine.question.tokens import question_words
from engine.route.router import HybridRouter
from engine.route.scoring import probabilities
from engine.values.ports import Match
from schema_catalog.words import identifier_words

DATABASES, TABLES = 20, 40
"""How many of each a ranking lists."""

BEST = 100
"""Tables a baseline finds for a question."""

FIGURES = {
    "db_r1": "database recall@1",
    "db_r5": "database recall@5",
    "table_r5": "table recall@5",
    "table_r15": "table recall@15",
}
"""Our names of the scorer's figures."""

TableName = tuple[str, str]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a system found, best first: databases, and (database, table) over all databases."""

    databases: tuple[str, ...]
    tables: tuple[TableName, ...]


class System(Protocol):
    """Something that routes."""

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""


class Ours:
    """The engine's router."""

    def __init__(self, router: HybridRouter, views: Sequence[View], batch: int = 64) -> None:
        self._router, self._views, self._batch = router, views, batch

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""
        asked = [Question(each) for each in questions]
        return [
            self._ranking(matches)
            for start in range(0, len(asked), self._batch)
            for matches in self._router.rank_many(asked[start : start + self._batch], self._views)
        ]

    def _ranking(self, matches: Sequence[Match]) -> Ranking:
        shares = probabilities([match.logit for match in matches])
        # The learned leg's tables have log-probabilities, the retrieval leg's have scores: .86 was fitted.
        weight = 1.0 if any(match.sets for match in matches) else 0.86
        ranked = sorted(
            (
                (weight * float(np.log(share + 1e-12)) + value, (match.snapshot.database, key[1]))
                for share, match in zip(shares[:DATABASES], matches, strict=False)
                for key, value in match.tables
            ),
            reverse=True,
        )
        names = tuple(match.snapshot.database for match in matches[:DATABASES])
        return Ranking(names, tuple(table for _, table in ranked[:TABLES]))


class Bm25:
    """Okapi BM25 (`bm25s`) over tables."""

    def __init__(self, views: Sequence[View]) -> None:
        self._names = _names(views)
        self._index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self._index.index([text.split() for text in _documents(views)], show_progress=False)
        self._known = set(self._index.vocab_dict)

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""
        return [_ranking(self._scores(question), self._names) for question in questions]

    def _scores(self, text: str) -> Scores:
        words = [word for word in question_words(text) if word in self._known]
        if not words:
            return np.zeros(len(self._names), dtype=np.float32)
        found: Scores = self._index.get_scores(words)
        return found


class Dense:
    """SXFMR: cosine of the question and the tables with the product's own encoder, untuned."""

    def __init__(self, views: Sequence[View], encoder: MiniLMEncoder) -> None:
        self._names, self._encoder = _names(views), encoder
        self._vectors = encoder.encode(_documents(views))

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""
        scores = self._encoder.encode(questions) @ self._vectors.T
        return [_ranking(row, self._names) for row in scores]


def _names(views: Sequence[View]) -> list[TableName]:
    return [(snapshot.database, table.name) for snapshot, _ in views for table in snapshot.tables]


def _documents(views: Sequence[View]) -> list[str]:
    return [
        " ".join(identifier_words(" ".join([table.name, *(column.name for column in table.columns)])))
        for snapshot, _ in views
        for table in snapshot.tables
    ]


def _ranking(scores: Scores, names: Sequence[TableName]) -> Ranking:
    best = np.argsort(-scores, kind="stable")[:BEST].tolist()
    # In the order of their best tables.
    databases = tuple(dict.fromkeys(names[number][0] for number in best))
    return Ranking(databases[:DATABASES], tuple(names[number] for number in best[:TABLES]))


def judged(bench: Path, file: str, ids: Sequence[str], rankings: Sequence[Ranking]) -> dict[str, Figure]:
    """The benchmark's scorer's figures of questions of one set."""
    predictions = [
        {"id": key, "databases": ranking.databases, "tables": ranking.tables}
        for key, ranking in zip(ids, rankings, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        report = scored(bench, "routing", bench / file, predictions, Path(folder))
    return {
        key: Figure(report["figures"][long], *report["intervals95"][long]) for key, long in FIGURES.items()
    }
