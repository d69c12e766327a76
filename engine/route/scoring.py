"""The retrieval leg: scores of databases and tables for a question, by dense features and lexical ones (exact words).

The strongest is late interaction: the best cosine of each token to a column, tokens weighted by how much they differ
between databases. The weights are of greatest likelihood over folds of databases (`training.routing_folds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.route.index import Index, runs

Vectors = NDArray[np.float32]
Numbers = NDArray[np.float64]


_ALL, _EACH = 400, 128
"""Up to so many databases the tables of all are looked at; above, those of the best by each of three measures."""


DATABASES, TABLES = 64, 2_000
"""Databases, and tables of each, that are scored at most; cheaper features choose them."""

_OF_DATABASE = np.array([16.0, 2.3, 3.1, 7.6, -0.66])
"""Weights in a database's logit: of late interaction, its best tables, its text, its words, the log of its tables."""

_LATE, _TEXT, _WORDS = 10.6, 1.7, 4.3
"""The same in a table's."""


MADE = (2.0, 0.3)
"""What a made question adds to its database's logit for each unit of cosine above the second: 1.4 at most. The same
text as a comment adds several times as much (benchmarks/STUDIES.md, *What the model says of a schema beforehand*)."""


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question as the encoder and the word splitter see it: (d,), (tokens, d), words."""

    sentence: Vectors
    tokens: Vectors
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """One database, `part` by number. `logit`: comparable within one call. `tables`: (number, score), best first.

    `evidence`: cosine of the question and its closest table or column.
    """

    part: int
    logit: float
    evidence: float
    tables: tuple[tuple[int, float], ...]


def score(question: EncodedQuestion, index: Index) -> tuple[Scored, ...]:
    """The databases scored, best first; ties in the order given."""
    if not index.parts:
        return ()
    whole = index.whole @ question.sentence
    shares = word_shares(question.words, index)
    coverage = database_words(question.words, shares, index)
    chosen, tables, starts, text = _chosen(question.sentence, index, whole, coverage)
    cosines = closest(index, np.vstack([question.sentence, question.tokens]), tables)
    best, per_token = cosines[0], cosines[1:]
    late = np.maximum.reduceat(per_token, starts, axis=1)
    spread = _spread(late)
    sizes = index.table_ends[chosen] - index.table_starts[chosen]
    mean = _mean_of_best(text + best, starts)
    features = np.stack([spread @ late, mean, whole[chosen], coverage[chosen], np.log(sizes)])
    made = made_cosines(question.sentence, index, chosen)
    logits = (_OF_DATABASE[:, None] * features).sum(0) + of_made(made)
    own = spread if len(chosen) > 1 else _spread(per_token)
    ranked = (
        _LATE * (own @ per_token) + _TEXT * text + _WORDS * table_words(question.words, shares, index, tables)
    )
    evidence = np.maximum(np.maximum.reduceat(np.maximum(text, best), starts), made)
    within = tables - index.table_starts[index.owners[tables]]
    pairs = _by_database(within, ranked, starts)
    return tuple(
        Scored(int(chosen[n]), float(logits[n]), float(evidence[n]), pairs[n])
        for n in np.argsort(-logits, kind="stable")
    )


def made_cosines(sentence: Vectors, index: Index, databases: NDArray[np.intp]) -> Vectors:
    """Of a question and the nearest made one of each database, (n,); -1 where there is none."""
    found = np.full(len(databases), -1, dtype=np.float32)
    for place, number in enumerate(databases.tolist() if len(index.questions) else ()):
        found[place] = (index.parts[number].questions @ sentence).max(initial=-1)
    return found


def of_made(cosines: Vectors) -> Vectors:
    """What made questions of such cosines add to the logits of their databases."""
    weight, near = map(np.float32, MADE)
    found: Vectors = weight * np.maximum(0, cosines - near)
    return found


def choose(
    sentence: Vectors, words: Sequence[str], index: Index
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The likeliest databases by cheap features, and the tables of them that are worth a look, both ascending."""
    coverage = database_words(words, word_shares(words, index), index)
    databases, tables, _, _ = _chosen(sentence, index, index.whole @ sentence, coverage)
    return databases, tables


def _chosen(
    sentence: Vectors, index: Index, whole: Vectors, coverage: Numbers
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Vectors]:
    """What is scored: databases and their tables, both ascending, where each database's begin, and their cosines."""
    near = np.maximum(whole, index.middles @ sentence) if len(index.questions) else whole
    considered = shortlist(near, coverage)
    firsts = index.table_starts[considered]
    tables, starts = runs(firsts, index.table_ends[considered] - firsts)
    text = _cosines(index, considered, len(tables), sentence)
    cheap = whole[considered] + 2.0 * _mean_of_best(text, starts) + 4.0 * coverage[considered]
    cheap += np.maximum(0, made_cosines(sentence, index, considered))
    best = np.sort(np.argsort(-cheap, kind="stable")[:DATABASES])
    ends, kept = np.append(starts[1:], len(tables)), []
    for start, end in zip(starts[best].tolist(), ends[best].tolist(), strict=True):
        places = np.arange(start, end)
        if len(places) > TABLES:
            places = np.sort(places[np.argpartition(-text[places], TABLES)[:TABLES]])
        kept.append(places)
    sizes = np.array([len(places) for places in kept], dtype=np.intp)
    held = np.concatenate(kept)
    return considered[best], tables[held], np.cumsum(sizes) - sizes, text[held]


def shortlist(whole: Vectors, coverage: Numbers) -> NDArray[np.intp]:
    """The databases whose tables are looked at, ascending: all of a few; of many, the best by name, words, and both."""
    if len(whole) <= _ALL:
        return np.arange(len(whole))
    best = (np.argpartition(-values, _EACH)[:_EACH] for values in (whole, coverage, whole + 4.0 * coverage))
    return np.unique(np.concatenate(list(best)))


def _cosines(index: Index, databases: NDArray[np.intp], tables: int, sentence: Vectors) -> Vectors:
    """Of a question and the tables of some databases, (t,)."""
    if len(databases) == len(index.parts):
        every: Vectors = index.tables @ sentence
        return every
    found, start = np.empty(tables, dtype=np.float32), 0
    # Slices: copying the tables first would move three times as much.
    for number in databases.tolist():
        some = index.parts[number].tables
        np.matmul(some, sentence, out=found[start : start + len(some)])
        start += len(some)
    return found


def closest(index: Index, vectors: Vectors, tables: NDArray[np.intp]) -> Vectors:
    """Cosine of each of `vectors`, (n, d), and its closest column in each of `tables`, (t,), ascending: (n, t)."""
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


def probabilities(logits: Sequence[float]) -> tuple[float, ...]:
    """The calibrated softmax: of databases with probability p about p are right."""
    if not logits:
        return ()
    raised = np.exp(np.asarray(logits) - max(logits))
    return tuple(float(share) for share in raised / raised.sum())


def _by_database(
    tables: NDArray[np.intp], values: Numbers, starts: NDArray[np.intp]
) -> list[tuple[tuple[int, float], ...]]:
    """The tables of each database with their values, best first; ties in the order given."""
    sizes = np.diff(np.append(starts, len(tables)))
    order = np.lexsort((-values, np.repeat(np.arange(len(starts)), sizes)))
    pairs = list(zip(tables[order].tolist(), values[order].tolist(), strict=True))
    return [tuple(pairs[start : start + size]) for start, size in zip(starts, sizes, strict=True)]


def word_shares(words: Sequence[str], index: Index) -> Numbers:
    """The weight of each word by its inverse document frequency; they add up to 1. An unknown word weighs most."""
    held = (index.words.get(word) for word in words)
    holders = np.array([0.0 if hit is None else hit.database_strengths.sum() for hit in held])
    rarity = np.log(1 + (len(index.parts) + 0.5) / (holders + 0.5))
    return rarity / rarity.sum() if len(words) else rarity


def database_words(words: Sequence[str], shares: Numbers, index: Index) -> Numbers:
    """Each database's share of the words, (D,); `shares`: their weights."""
    found = np.zeros(len(index.parts))
    for word, share in zip(words, shares, strict=True):
        hit = index.words.get(word)
        if hit is not None:
            found[hit.databases] += share * hit.database_strengths
    return found


def table_words(words: Sequence[str], shares: Numbers, index: Index, tables: NDArray[np.intp]) -> Numbers:
    """The share of the words of each of `tables`, which ascend: (t,)."""
    found = np.zeros(len(tables))
    for word, share in zip(words, shares, strict=True):
        hit = index.words.get(word)
        if hit is not None:
            places, held = _common(tables, hit.tables)
            found[places] += share * hit.strengths[held]
    return found


def _common(some: NDArray[np.intp], others: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places, in each of two ascending arrays, of the numbers that both hold; costs what the shorter one has."""
    if len(others) < len(some):
        places, found = _common(others, some)
        return found, places
    found = np.searchsorted(others, some)
    held = np.flatnonzero(others[np.minimum(found, len(others) - 1)] == some)
    return held, found[held]


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
