"""How well a question fits each database and each table.

Owns the formulas and their weights, fitted on questions whose databases are none of those that the figures in
`docs/catalog.md` are measured on. Two legs: dense (vectors of the whole question and of each of its tokens in
context against vectors of schema texts) and lexical (exact words, weighted by how few databases hold them).

The strongest feature is late interaction: every token of the question looks for the column it is closest to,
and tokens count by how much they tell the databases apart. It finds "vocalist" in a table `singer` and needs
one forward pass of the encoder a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.routing.part import Part

Vectors = NDArray[np.float32]
Numbers = NDArray[np.float64]


_FEW = 64
"""Up to this many numbers a Python list is sorted faster than an array is partitioned."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature of a database, then of a table, adds to its logit."""

    late: float = 23.9
    best_tables: float = 1.9
    whole: float = 2.1
    words: float = 2.6
    size: float = -0.76
    table_late: float = 10.6
    table_text: float = 1.7
    table_words: float = 4.3


@dataclass(frozen=True, slots=True)
class Limits:
    """What is looked at closely: this many databases, and of each this many tables.

    Cheaper features choose them where there are more; with fewer everything is looked at.
    """

    databases: int = 64
    tables: int = 2000


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the encoder and the word splitter see it: (d,), (tokens, d), words."""

    sentence: Vectors
    tokens: Vectors
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """One database.

    `part`: its number. `logit`: comparable within one call. `evidence`: cosine of the
    question and what of the schema is closest to it. `coverage`: share of the question's words found, by
    their weight. `tables`: table numbers, best first, with their scores.
    """

    part: int
    logit: float
    evidence: float
    coverage: float
    tables: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class _Close:
    """A database looked at closely.

    `numbers`: (t,), its tables. `per_token`: (tokens, t), cosine of each token and its closest column. `text`
    and `best`: (t,), cosine of the question and the table, and the closest of its columns.
    """

    part: int
    numbers: NDArray[np.intp]
    per_token: Vectors
    text: Vectors
    best: Vectors


def score(
    question: Question, parts: Sequence[Part], weights: Weights | None = None, limits: Limits | None = None
) -> tuple[Scored, ...]:
    """The databases looked at closely, best first; ties in the order given."""
    weights, limits = weights or Weights(), limits or Limits()
    if not parts:
        return ()
    texts = [part.tables @ question.sentence for part in parts]
    whole = np.array([float(part.whole @ question.sentence) for part in parts])
    table_words, coverage = _lexical(question.words, parts)
    cheap = whole + 2.0 * np.array([_mean_of_best(text) for text in texts]) + 4.0 * coverage
    chosen = sorted(np.argsort(-cheap, kind="stable")[: limits.databases].tolist())
    vectors = np.vstack([question.sentence, question.tokens])
    close = [_look(vectors, number, parts[number], texts[number], limits) for number in chosen]
    late = np.stack([look.per_token.max(axis=1) for look in close], axis=1)
    spread = _spread(late)
    scored = []
    for column, look in enumerate(close):
        number = look.part
        logit = (
            weights.late * float(spread @ late[:, column])
            + weights.best_tables * _mean_of_best(look.text + look.best)
            + weights.whole * whole[number]
            + weights.words * coverage[number]
            + weights.size * float(np.log(len(texts[number])))
        )
        own = spread if len(close) > 1 else _spread(look.per_token)
        ranked = (
            weights.table_late * (own @ look.per_token)
            + weights.table_text * look.text
            + weights.table_words * table_words[number][look.numbers]
        )
        order = np.argsort(-ranked, kind="stable")
        tables = tuple(zip(look.numbers[order].tolist(), ranked[order].tolist(), strict=True))
        evidence = float(max(look.text.max(), look.best.max()))
        scored.append(Scored(number, logit, evidence, float(coverage[number]), tables))
    return tuple(sorted(scored, key=lambda each: -each.logit))


TEMPERATURE = 0.7
"""Of the softmax over databases: the one under which the fitting questions' right databases are likeliest."""


def probabilities(logits: Sequence[float]) -> tuple[float, ...]:
    """Each database's share: softmax, so that of databases given share p about p are right."""
    if not logits:
        return ()
    raised = np.exp((np.asarray(logits) - max(logits)) / TEMPERATURE)
    return tuple(float(share) for share in raised / raised.sum())


def _look(vectors: Vectors, number: int, part: Part, text: Vectors, limits: Limits) -> _Close:
    if len(text) <= limits.tables:
        numbers = np.arange(len(text))
        starts, columns = part.starts, part.columns
    else:
        numbers = np.sort(np.argpartition(-text, limits.tables)[: limits.tables])
        ends = np.append(part.starts[1:], len(part.columns))
        ranges = [np.arange(part.starts[n], ends[n]) for n in numbers]
        columns = part.columns[np.concatenate(ranges)]
        starts = np.cumsum([0, *(len(r) for r in ranges[:-1])], dtype=np.intp)
    cosines = np.maximum.reduceat(vectors @ columns.T, starts, axis=1)
    return _Close(number, numbers, cosines[1:], text[numbers], cosines[0])


def _lexical(words: Sequence[str], parts: Sequence[Part]) -> tuple[list[Numbers], Numbers]:
    """For each database its tables' shares of the words, by weight, and its own, in [0, 1].

    A word's weight is its inverse document frequency over databases, as in BM25 with saturated term
    frequency; a word that no schema holds (often a value) weighs most and is found nowhere.
    """
    found = [
        [(row, *part.words[word]) for row, word in enumerate(words) if word in part.words] for part in parts
    ]
    held = np.zeros((len(words), len(parts)))
    for column, hits in enumerate(found):
        for row, _, strengths in hits:
            held[row, column] = strengths.max()
    rarity = np.log(1 + (len(parts) + 0.5) / (held.sum(axis=1) + 0.5))
    rarity = rarity / rarity.sum() if len(words) else rarity
    tables = []
    for part, hits in zip(parts, found, strict=True):
        shares = np.zeros(len(part.starts))
        for row, numbers, strengths in hits:
            shares[numbers] += rarity[row] * strengths
        tables.append(shares)
    return tables, rarity @ held


def _mean_of_best(values: Vectors) -> float:
    """Mean of the largest two (of one, itself): most questions are about one or two tables."""
    if len(values) > _FEW:
        values = np.partition(values, -2)[-2:]
    best = sorted(values.tolist())[-2:]
    return float(sum(best)) / len(best)


def _spread(late: Vectors) -> Vectors:
    """Weight of each token: how far its best cosine differs between what is compared, else even."""
    deviation: Vectors = late.std(axis=1)
    total = float(deviation.sum())
    if total <= 0:
        return np.full(len(late), 1 / max(1, len(late)), dtype=np.float32)
    return deviation / np.float32(total)
