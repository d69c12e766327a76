"""What a pointer over the schema graph is asked and says, and its port; the network is `engine.models.pointer`'s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.route.candidate_space import CandidateSpace
from engine.route.decoder import BeamSettings, Found
from engine.route.index import Index
from engine.route.scoring import database_words, made_cosines, table_words, word_shares

Vectors = NDArray[np.float32]
Words = Sequence[str]
"""Of a question, folded, without stop words."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An encoded question with its lexical scores in a field: `words`, (T,), and `coverage` of databases, (D,).

    `made`: (D,), its cosines to the nearest made question of each database.
    """

    sentence: Vectors
    tokens: Vectors
    words: Vectors
    coverage: Vectors
    made: Vectors

    @staticmethod
    def of(words: Words, read: tuple[Vectors, Vectors], index: Index, field: CandidateSpace) -> Asked:
        """A question over `field`, a part of `index`."""
        shares = word_shares(words, index)
        return Asked(
            *read,
            table_words(words, shares, index, field.tables).astype(np.float32),
            database_words(words, shares, index)[field.databases].astype(np.float32),
            made_cosines(read[0], index, field.databases),
        )


@dataclass(frozen=True, slots=True)
class Pointed:
    """The pointer's output for one question.

    `logits`: (D,), log-odds of the databases, calibrated. `retrieval`: (D,), what of them words and whole-text
    vectors account for; the rest is learned token by token. `parts`: (P, D), what the logits times the temperature are
    the sum of. `evidence`: (D,), cosine of the question and the closest table or column. `tables`: (T,),
    log-probability of each table's being the first, given its database. `heads`: the databases that were searched.
    `found`: the sets of tables found in them; a set's head is a place in `heads`.
    """

    logits: Vectors
    retrieval: Vectors
    parts: Vectors
    evidence: Vectors
    tables: Vectors
    heads: tuple[int, ...]
    found: tuple[Found, ...]


class Pointer(Protocol):
    """Points at databases and tables. Blocks; safe to call from several threads."""

    @property
    def quantized(self) -> bool:
        """Whether it takes columns as 8-bit integers."""

    def read(self, questions: Sequence[str]) -> Sequence[tuple[Vectors, Vectors]]:
        """Of each question the vectors of its sentence and its tokens; raises `PackagedError`."""

    def point(self, asked: Sequence[Asked], field: CandidateSpace, settings: BeamSettings) -> list[Pointed]:
        """An output for each question over `field`."""
