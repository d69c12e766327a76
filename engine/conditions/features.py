"""The classifier's features of a question and a schema: a vector of fixed length.

The question's sentence vector, the mean of the schema's elements weighted by their cosine to it, the best cosines of
tables and columns, and indicators of cue words such as `each`, `not` and `both`, which a sentence vector blurs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.core.ports import Encoder
from engine.linking.element_text import element_words
from schema_catalog.types import ColumnKey, Snapshot, TableKey

Vector = NDArray[np.float32]

NEAREST = 4
"""Tables, and columns, whose cosines are features."""

_SHARPNESS = 15.0
"""Of the softmax over elements: 0.1 more cosine weighs 4.5 times as much."""

_WORD = re.compile(r"[a-z]+|\d+|['\"\u2018\u2019\u201c\u201d]")


def words_of(question: str) -> Iterator[str]:
    """Words and bigrams in lower case; numbers are `0`, quotes `'`."""
    before = ""
    for match in _WORD.finditer(question.lower()):
        word = match.group()
        word = "0" if word.isdigit() else word if word.isalpha() else "'"
        yield word
        if before:
            yield f"{before} {word}"
        before = word


def features(question: str, snapshot: Snapshot, encoder: Encoder, cues: Sequence[str]) -> Vector:
    """Shape (2d + 2·NEAREST + 1 + len(cues),), d the encoder's dimension."""
    # The link stage's texts, whose vectors the encoder has cached.
    words = element_words(snapshot)
    vectors = encoder.encode([question, *words.values()])
    return assembled(question, vectors[0], vectors[1:], owners_of(words), cues)


def owners_of(elements: Iterable[ColumnKey]) -> list[int]:
    """For each element the number of its table, in the order of their first appearance."""
    numbers: dict[TableKey, int] = {}
    return [numbers.setdefault(key[:2], len(numbers)) for key in elements]


def assembled(
    question: str, sentence: Vector, elements: Vector, owners: Sequence[int], cues: Sequence[str]
) -> Vector:
    """As `features`, from the vectors. `owners`: for each element the number of its table."""
    cosines = elements @ sentence
    weights = np.exp(_SHARPNESS * (cosines - cosines.max(initial=-1.0)))
    mixed = weights @ elements / max(weights.sum(), 1e-9)
    tables = [cosines[np.asarray(owners) == number].max() for number in sorted(set(owners))]
    words = set(words_of(question))
    return np.concatenate(
        [
            sentence,
            mixed,
            _best(np.asarray(tables)),
            _best(cosines),
            [np.log1p(len(tables)) / 3],
            [cue in words for cue in cues],
        ]
    ).astype(np.float32)


def _best(values: NDArray[np.float32]) -> NDArray[np.float32]:
    kept = np.sort(values)[::-1][:NEAREST]
    return np.pad(kept, (0, NEAREST - len(kept)))
