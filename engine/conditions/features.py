"""What the classifier reads of a question and a schema: a vector of fixed length.

The question's sentence vector, the elements of the schema nearest to it as one vector, how near the best tables and
columns are, and which of a fixed list of words the question has: a sentence vector says what a question is about and
blurs `each`, `not` and `both`.
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
"""Tables, and columns, whose similarities are told."""

_SHARPNESS = 15.0
"""Of the weights with which the elements make one vector: a cosine that is .1 nearer counts four and a half times."""

_WORD = re.compile(r"[a-z]+|\d+|['\"\u2018\u2019\u201c\u201d]")


def words_of(question: str) -> Iterator[str]:
    """Words and pairs of neighbours, in lower case; numbers are `0`, quotes `'`."""
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
    # The words that the link stage compares phrases with: the encoder knows their vectors already.
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
    """The same of vectors that are known. `owners`: for each element the number of its table."""
    near = elements @ sentence
    weights = np.exp(_SHARPNESS * (near - near.max(initial=-1.0)))
    mixed = weights @ elements / max(weights.sum(), 1e-9)
    tables = [near[np.asarray(owners) == number].max() for number in sorted(set(owners))]
    said = set(words_of(question))
    return np.concatenate(
        [
            sentence,
            mixed,
            _best(np.asarray(tables)),
            _best(near),
            [np.log1p(len(tables)) / 3],
            [cue in said for cue in cues],
        ]
    ).astype(np.float32)


def _best(values: NDArray[np.float32]) -> NDArray[np.float32]:
    kept = np.sort(values)[::-1][:NEAREST]
    return np.pad(kept, (0, NEAREST - len(kept)))
