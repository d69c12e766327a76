"""The retrieval leg: scores of databases and tables for a question.

Dense features (vectors of the question and of its tokens in context against schema texts) and lexical ones (exact
words, by inverse document frequency). The strongest is late interaction: the best cosine of each token to a column,
tokens weighted by how much they differ between databases. The weights are fitted on other databases than those that
`docs/catalog.md` measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.routing.index import Index

Vectors = NDArray[np.float32]
Numbers = NDArray[np.float64]


_NEAR_TABLES, _NEAR_DATABASES = 256, 128
"""Shortlist in a large catalog: tables by the question's vector; databases by name, and as many by words."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each feature in a database's, then in a table's logit."""

    late: float = 23.9
    best_tables: float = 1.9
    whole: float = 2.1
    words: float = 2.6
    size: float = -0.76
    table_late: float = 10.6
    table_text: float = 1.7
    table_words: float = 4.3

    @property
    def database(self) -> Numbers:
        """Those of a database's logit, in the order of `PARTS`: (5,)."""
        return np.array([self.late, self.best_tables, self.whole, self.words, self.size])


PARTS = ("late", "best", "whole", "words", "size")
"""What a database's logit is the sum of."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Databases, and tables of each, that are scored at most; cheaper features choose them."""

    databases: int = 64
    tables: int = 2000


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question as the encoder and the word splitter see it: (d,), (tokens, d), words."""

    sentence: Vectors
    tokens: Vectors
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """One database, `part` by number. `logit`: comparable within one call.

    `parts`: (5,), what the logit is the sum of, in the order of `PARTS`. `evidence`: cosine of the question and its
    closest table or column. `coverage`: weighted share of the question's words found. `tables`: (number, score), best
    first.
    """

    part: int
    logit: float
    parts: Numbers
    evidence: float
    coverage: float
    tables: tuple[tuple[int, float], ...]


def score(
    question: EncodedQuestion,
    index: Index,
    weights: Weights | None = None,
    limits: SearchLimits | None = None,
) -> tuple[Scored, ...]:
    """The databases scored, best first; ties in the order given."""
    weights, limits = weights or Weights(), limits or SearchLimits()
    if not index.parts:
        return ()
    whole = index.whole @ question.sentence
    table_words, coverage = lexical(question.words, index)
    chosen, text = _chosen(question, index, whole, coverage, limits.databases)
    tables, starts = _looked_at(index, chosen, text, limits.tables)
    cosines = closest(index, np.vstack([question.sentence, question.tokens]), tables)
    best, per_token, text = cosines[0], cosines[1:], text[tables]
    late = np.maximum.reduceat(per_token, starts, axis=1)
    spread = _spread(late)
    sizes = index.table_ends[chosen] - index.table_starts[chosen]
    mean = _mean_of_best(text + best, starts)
    features = np.stack([spread @ late, mean, whole[chosen], coverage[chosen], np.log(sizes)])
    parts = weights.database[:, None] * features
    logits = parts.sum(0)
    own = spread if len(chosen) > 1 else _spread(per_token)
    ranked = (
        weights.table_late * (own @ per_token)
        + weights.table_text * text
        + weights.table_words * table_words[tables]
    )
    evidence = np.maximum.reduceat(np.maximum(text, best), starts)
    within = tables - index.table_starts[index.owners[tables]]
    pairs = _by_database(within, ranked, starts)
    return tuple(
        Scored(
            int(chosen[n]),
            float(logits[n]),
            parts[:, n],
            float(evidence[n]),
            float(coverage[chosen[n]]),
            pairs[n],
        )
        for n in np.argsort(-logits, kind="stable")
    )


def _chosen(
    question: EncodedQuestion, index: Index, whole: Vectors, coverage: Numbers, most: int
) -> tuple[NDArray[np.intp], Vectors]:
    """The databases to score, ascending, and the cosines of the question and tables, (T,), 0 for other databases."""
    considered = _considered(question, index, whole, coverage)
    if considered is None:
        text: Vectors = index.tables @ question.sentence
        considered, starts, held = np.arange(len(index.parts)), index.table_starts, text
    else:
        sizes = index.table_ends[considered] - index.table_starts[considered]
        starts = np.cumsum(sizes) - sizes
        tables = np.repeat(index.table_starts[considered] - starts, sizes) + np.arange(sizes.sum())
        held = np.empty(len(tables), dtype=np.float32)
        # Slices: copying the tables first would move three times as much.
        firsts = index.table_starts[considered].tolist()
        for first, start, size in zip(firsts, starts.tolist(), sizes.tolist(), strict=True):
            np.matmul(index.tables[first : first + size], question.sentence, out=held[start : start + size])
        text = np.zeros(len(index.tables), dtype=np.float32)
        text[tables] = held
    cheap = whole[considered] + 2.0 * _mean_of_best(held, starts) + 4.0 * coverage[considered]
    return np.sort(considered[np.argsort(-cheap, kind="stable")[:most]]), text


def _considered(
    question: EncodedQuestion, index: Index, whole: Vectors, coverage: Numbers
) -> NDArray[np.intp] | None:
    """The shortlist of a large catalog, ascending; None: all databases."""
    if index.nearest is None:
        return None
    near = index.owners[index.nearest.find(question.sentence, _NEAR_TABLES)]
    few = min(_NEAR_DATABASES, len(index.parts) - 1)
    named, worded = (np.argpartition(-values, few)[:few] for values in (whole, coverage))
    return np.unique(np.concatenate([near, named, worded]))


def closest(index: Index, vectors: Vectors, tables: NDArray[np.intp]) -> Vectors:
    """Cosine of each of `vectors`, (n, d), and its closest column in each of `tables`, (t,): (n, t).

    `tables` ascend. Tables that follow each other are one product: their columns are neighbours.
    """
    breaks = np.flatnonzero(np.diff(tables) != 1) + 1
    ends = index.column_ends
    firsts, lasts = tables[np.append(0, breaks)], tables[np.append(breaks, len(tables)) - 1]
    slices = zip(index.column_starts[firsts].tolist(), ends[lasts].tolist(), strict=True)
    sizes = ends[tables] - index.column_starts[tables]
    cosines = np.empty((len(vectors), int(sizes.sum())), dtype=np.float32)
    done = 0
    for start, end in slices:
        np.matmul(vectors, index.columns[start:end].T, out=cosines[:, done : done + end - start])
        done += end - start
    return np.maximum.reduceat(cosines, np.cumsum(sizes) - sizes, axis=1)


TEMPERATURE = 0.7
"""Of the softmax over databases: maximum likelihood on the fitting questions."""


def probabilities(logits: Sequence[float]) -> tuple[float, ...]:
    """The calibrated softmax: of databases with probability p about p are right."""
    if not logits:
        return ()
    raised = np.exp((np.asarray(logits) - max(logits)) / TEMPERATURE)
    return tuple(float(share) for share in raised / raised.sum())


def _looked_at(
    index: Index, chosen: NDArray[np.intp], text: Vectors, limit: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The tables of the chosen databases that are scored, ascending, and where each database's begin."""
    ends, kept = index.table_ends, []
    for number in chosen.tolist():
        tables = np.arange(index.table_starts[number], ends[number])
        if len(tables) > limit:
            tables = np.sort(tables[np.argpartition(-text[tables], limit)[:limit]])
        kept.append(tables)
    sizes = np.array([len(tables) for tables in kept], dtype=np.intp)
    return np.concatenate(kept), np.cumsum(sizes) - sizes


def _by_database(
    tables: NDArray[np.intp], values: Numbers, starts: NDArray[np.intp]
) -> list[tuple[tuple[int, float], ...]]:
    """The tables of each database with their values, best first; ties in the order given."""
    sizes = np.diff(np.append(starts, len(tables)))
    order = np.lexsort((-values, np.repeat(np.arange(len(starts)), sizes)))
    pairs = list(zip(tables[order].tolist(), values[order].tolist(), strict=True))
    return [tuple(pairs[start : start + size]) for start, size in zip(starts, sizes, strict=True)]


def lexical(words: Sequence[str], index: Index) -> tuple[Numbers, Numbers]:
    """Each table's share of the words, by weight, and each database's, in [0, 1]: (T,) and (D,).

    A word's weight is its inverse document frequency over databases, as in BM25 with saturated term frequency; a word
    in no schema (often a value) weighs most.
    """
    tables, databases = np.zeros(len(index.tables)), np.zeros(len(index.parts))
    held = [index.words.get(word) for word in words]
    holders = np.array([0.0 if hit is None else hit.database_strengths.sum() for hit in held])
    rarity = np.log(1 + (len(index.parts) + 0.5) / (holders + 0.5))
    rarity = rarity / rarity.sum() if len(words) else rarity
    for share, hit in zip(rarity, held, strict=True):
        if hit is not None:
            tables[hit.tables] += share * hit.strengths
            databases[hit.databases] += share * hit.database_strengths
    return tables, databases


def _mean_of_best(values: Vectors, starts: NDArray[np.intp]) -> Numbers:
    """Mean of each run's largest two: most questions are about one or two tables."""
    best: Vectors = np.maximum.reduceat(values, starts)
    sizes = np.diff(np.append(starts, len(values)))
    owners = np.repeat(np.arange(len(starts)), sizes)
    at_best = np.flatnonzero(values == best[owners])
    _, first = np.unique(owners[at_best], return_index=True)
    rest = values.copy()
    rest[at_best[first]] = -np.inf
    second = np.where(sizes > 1, np.maximum.reduceat(rest, starts), best)
    return (best.astype(np.float64) + second) / 2


def _spread(late: Vectors) -> Vectors:
    """Weight of each token: its share of the standard deviations of best cosines; equal where all are 0."""
    deviation: Vectors = late.std(axis=1)
    total = float(deviation.sum())
    if total <= 0:
        return np.full(len(late), 1 / max(1, len(late)), dtype=np.float32)
    return deviation / np.float32(total)
