"""The systems that the routing benchmark compares, behind one function: questions in, rankings out.

Owns the baselines, built as the paper describes them: a table is a document of the flat, normalised names of itself
and its columns, and the hundred best tables of a question count. The paper gives a database the mean of its tables'
scores among these; its best table's serves every baseline better (Spider's half 0, BM25: 71 instead of 60), so each
is measured both ways. Words that say how a question is put are left out of BM25's queries. CRUSH's second stage is
simplified: pieces of the imagined schema count by how sharply they single out tables, and a table has the weighted
mean of its scores. What a system does not list counts as not found.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import bm25s
import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.routing.collection import Ranking, TableName, View
from engine.core.ports import Match
from engine.models.encoder import MiniLMEncoder
from engine.routing.router import HybridRouter
from engine.routing.scoring import probabilities
from engine.text.tokens import identifier_words, question_words

DATABASES, TABLES = 20, 40
"""How many of each a ranking lists."""

BEST = 100
"""Tables a baseline finds for a question."""

Scores = NDArray[np.float32]


class System(Protocol):
    """Something that routes."""

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""


class Ours:
    """The engine's router. `taken`: a database's logit; `weight`: of its logarithmic share in a table's place."""

    def __init__(
        self, router: HybridRouter, views: Sequence[View], *, without_retrieval: bool = False, batch: int = 64
    ) -> None:
        self._router, self._views, self._batch = router, views, batch
        self._taken = _learned_alone if without_retrieval else _logit

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""
        return [
            self._ranking(matches)
            for start in range(0, len(questions), self._batch)
            for matches in self._router.rank_many(questions[start : start + self._batch], self._views)
        ]

    def _ranking(self, found: Sequence[Match]) -> Ranking:
        matches = sorted(found, key=self._taken, reverse=True)
        shares = probabilities([self._taken(match) for match in matches])
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
        names = [match.snapshot.database for match in matches[:DATABASES]]
        return Ranking(tuple(names), tuple(table for _, table in ranked[:TABLES]))


def _logit(match: Match) -> float:
    return match.logit


def _learned_alone(match: Match) -> float:
    return match.logit - match.retrieval


class Bm25:
    """Okapi BM25 (`bm25s`) over tables."""

    def __init__(self, views: Sequence[View], *, mean: bool = False) -> None:
        self._names, self._mean = _names(views), mean
        self._index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self._index.index([_words(text) for text in _documents(views)], show_progress=False)
        self._known = set(self._index.vocab_dict)

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""
        return [_ranking(self.scores(question), self._names, mean=self._mean) for question in questions]

    def scores(self, text: str) -> Scores:
        """Every table's score, (T,)."""
        words = [word for word in question_words(text) if word in self._known]
        if not words:
            return np.zeros(len(self._names), dtype=np.float32)
        found: Scores = self._index.get_scores(words)
        return found


class Dense:
    """SXFMR: cosine of the question and the tables with the product's own encoder, untuned."""

    def __init__(self, views: Sequence[View], encoder: MiniLMEncoder, *, mean: bool = False) -> None:
        self._names, self._encoder, self._mean = _names(views), encoder, mean
        self._vectors = encoder.encode(list(_documents(views)))

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""
        scores = self._encoder.encode(questions) @ self._vectors.T
        return [_ranking(row, self._names, mean=self._mean) for row in scores]

    def scores(self, text: str) -> Scores:
        """Every table's score, (T,)."""
        found: Scores = self._vectors @ self._encoder.encode([text])[0]
        return found


class Crush:
    """CRUSH-style: what a language model imagines the schema to be is looked for piece by piece."""

    def __init__(
        self, base: Bm25 | Dense, views: Sequence[View], imagined: Callable[[str], Sequence[str]]
    ) -> None:
        self._base, self._names, self._imagined = base, _names(views), imagined

    def rank(self, questions: Sequence[str]) -> list[Ranking]:
        """One ranking for each question."""
        return [self._ranking(question) for question in questions]

    def _ranking(self, question: str) -> Ranking:
        pieces = [question, *self._imagined(question)]
        total, weights = np.zeros(len(self._names), dtype=np.float64), 0.0
        for piece in pieces:
            scores = self._base.scores(piece).astype(np.float64)
            best = np.sort(scores)[-BEST:]
            shares = np.exp(best - best.max())
            shares /= shares.sum()
            # Low entropy: the piece singles out a few tables. The largest entropy would leave it no weight at all.
            weight = 1.05 + float((shares * np.log(shares)).sum()) / np.log(len(best))
            total += weight * scores
            weights += weight
        return _ranking((total / weights).astype(np.float32), self._names)


IMAGINE = (
    "You design relational databases. Given a question, write the few tables that a database needs to answer it, one a "
    "line, as table(column, column). Write nothing else."
)
"""What the language model is told for CRUSH; the question follows."""


class Imagination:
    """What the language model imagined, kept in a file, so that it is asked once for each question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, str] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                item = json.loads(line)
                self._held[item["question"]] = item["text"]

    def missing(self, questions: Iterable[str]) -> list[str]:
        """Those that were not asked yet, each once."""
        return [question for question in dict.fromkeys(questions) if question not in self._held]

    def keep(self, question: str, text: str) -> None:
        """Writes an answer down at once."""
        self._held[question] = text
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"question": question, "text": text}) + "\n")

    def pieces(self, question: str) -> list[str]:
        """The imagined tables, each with its columns and each column with its table."""
        found = []
        for line in self._held[question].splitlines():
            name, opened, rest = line.strip(" -*`").partition("(")
            if opened and name.strip():
                columns = [column.strip() for column in rest.split(")")[0].split(",") if column.strip()]
                found.append(f"{name} {' '.join(columns)}")
                found += [f"{name} {column}" for column in columns]
        return [" ".join(_words(piece)) for piece in found]


def timed(system: System, questions: Sequence[str]) -> tuple[list[Ranking], float]:
    """The rankings and seconds they took."""
    started = time.perf_counter()
    return system.rank(questions), time.perf_counter() - started


def _names(views: Sequence[View]) -> list[TableName]:
    return [(snapshot.database, table.name) for snapshot, _ in views for table in snapshot.tables]


def _documents(views: Sequence[View]) -> Iterator[str]:
    for snapshot, _ in views:
        for table in snapshot.tables:
            yield " ".join(_words(" ".join([table.name, *(column.name for column in table.columns)])))


def _words(text: str) -> list[str]:
    return list(identifier_words(text))


def _ranking(scores: Scores, names: Sequence[TableName], *, mean: bool = False) -> Ranking:
    best = np.argsort(-scores, kind="stable")[:BEST]
    held: dict[str, list[float]] = defaultdict(list)
    for number in best.tolist():
        held[names[number][0]].append(float(scores[number]))
    databases = sorted(
        held, key=lambda name: -(sum(held[name]) / len(held[name]) if mean else max(held[name]))
    )
    return Ranking(tuple(databases[:DATABASES]), tuple(names[number] for number in best[:TABLES].tolist()))
