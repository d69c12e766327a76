"""A made-up catalog of any size, up to 10,000 databases, 100,000 tables and 1,000,000 columns, and questions on it.

Owns names of ordinary words (no two databases, and no two tables of a database, share one) and the vectors of so many
texts. A text's vector is **composed** there: the normalised sum of its words' vectors, each
encoded once by the real encoder, with a little noise of its own. That gives the shape and the cost of a large
catalog without an hour of encoding; it says nothing of how well routing finds things, and no recall is reported on it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.drawing import digest
from engine.models.encoder import packaged_model
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind
from schema_catalog.words import identifier_words

Vectors = NDArray[np.float32]

TABLES_EACH, COLUMNS_EACH = 10, 10
"""Tables of a database and columns of a table, on average; both spread from a third to twice that."""

NOISE = 0.35
"""Length of a text's own noise beside the unit vector of its words."""

WORDS = 1_000
"""That names are made of."""


@cache
def vocabulary() -> tuple[str, ...]:
    """Every word that a name is made of: whole words of the encoder's vocabulary, drawn by a hash."""
    known = (packaged_model() / "vocab.txt").read_text(encoding="utf-8").split()
    plain = [word for word in known if word.isalpha() and word.isascii() and len(word) in range(4, 11)]
    return tuple(sorted(plain, key=digest)[:WORDS])


def catalog(tables: int) -> Iterator[Snapshot]:
    """Databases with `tables` tables altogether; the same number gives the same catalog, a larger one begins so."""
    number = 0
    while tables > 0:
        # A generator of its own, so that a database does not depend on those before it.
        dice = random.Random(f"0 {number}")  # noqa: S311  names, no secrets
        size = min(tables, dice.randint(TABLES_EACH // 3, 2 * TABLES_EACH - TABLES_EACH // 3))
        names = sorted({_name(dice) for _ in range(size)})
        made = tuple(_table(name, names, dice) for name in names)
        yield Snapshot(f"{_name(dice)}_{number}", ("public",), made)
        tables -= len(names)
        number += 1


def _name(dice: random.Random) -> str:
    """A word, or two."""
    return "_".join(dice.sample(vocabulary(), dice.choice((1, 2))))


def _table(name: str, names: Sequence[str], dice: random.Random) -> Table:
    size = dice.randint(COLUMNS_EACH // 3, 2 * COLUMNS_EACH - COLUMNS_EACH // 3)
    others = dice.sample(list(names), min(len(names), dice.randint(0, 2)))
    keys = [f"{other}_id" for other in others if other != name][: size - 1]
    columns = [Column("id", "integer", nullable=False), *(Column(key, "integer") for key in keys)]
    own = dict.fromkeys(_name(dice) for _ in range(size - len(columns)))
    columns += [Column(column, dice.choice(("text", "integer", "numeric", "date"))) for column in own]
    links = tuple(ForeignKey((key,), "public", key.removesuffix("_id"), ("id",)) for key in keys)
    return Table("public", name, TableKind.TABLE, tuple(columns), ("id",), foreign_keys=links)


def questions(count: int) -> list[str]:
    """Questions in the vocabulary of the catalog, of the length that people's have."""
    dice = random.Random("questions 0")  # noqa: S311  as above
    forms = (
        "What is the {} {} of each {} in {}?",
        "How many {} records does the {} have for every {}, by {}?",
        "List the {} and the {} of all {} entries whose {} is above the average.",
        "Which {} had the highest {} last year, and for which {} was that in the {}?",
    )
    return [dice.choice(forms).format(*dice.sample(vocabulary(), 4)) for _ in range(count)]


class TextEncoder(Protocol):
    """The real encoder."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""


class ComposingEncoder:
    """Vectors of the catalog's texts, composed of their words'. Other words count for nothing."""

    def __init__(self, encoder: TextEncoder) -> None:
        words = vocabulary()
        self._rows = {identifier_words(word)[0]: row for row, word in enumerate(words)}
        self._vectors = encoder.encode(words)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""
        dimensions = self._vectors.shape[1]
        found = np.empty((len(texts), dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            held = [self._rows[word] for word in identifier_words(text) if word in self._rows]
            total = self._vectors[held].sum(axis=0) if held else np.zeros(dimensions, dtype=np.float32)
            found[row] = total / max(float(np.linalg.norm(total)), 1e-6)
        found += NOISE / np.sqrt(dimensions) * self._noise(texts, dimensions)
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit

    @staticmethod
    def _noise(texts: Sequence[str], dimensions: int) -> Vectors:
        digest = hashlib.sha256("\0".join(texts).encode()).digest()
        dice = np.random.default_rng(int.from_bytes(digest[:8]))
        return dice.standard_normal((len(texts), dimensions), dtype=np.float32)
