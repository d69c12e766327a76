"""The values of one database, to be found by how they are written or by what they resemble.

Owns the memory layout: one text of all values, sorted hashes of their keys, and lists of the values that share
three bytes. A million values take about 150 MB. Decides nothing about what a question means.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from engine.linking import folding
from engine.state import ColumnKey
from schema_catalog.values import ColumnValues

POSTINGS = 400_000
"""Entries of the lists that one search reads at most, rarest first."""

CANDIDATES = 48
"""Values that a search compares letter by letter: those that share most."""

NAMED = 1_000
"""Values of a column that are also found by their initials, at most: countries and organisations, not people."""

_BUCKETS = 1 << 18
_EDGE = b"\x01"
"""Stands before and after each key, so that beginnings and ends count as well."""

Numbers = NDArray[np.int64]
Positions = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Near:
    """A value by its number, and how much its key resembles the one that was looked for, in [0, 1]."""

    number: int
    similarity: float


class ValueIndex:
    """Values are numbered from 0 in the order of `columns`, each column's in their own order."""

    def __init__(self, columns: Sequence[ColumnValues]) -> None:
        texts = [value for column in columns for value in column.values]
        self.columns: tuple[ColumnKey, ...] = tuple(column.key for column in columns)
        self.complete = tuple(not column.more for column in columns)
        """Whether a column has no other values than these."""
        self._starts = np.cumsum([0, *(len(column.values) for column in columns)])
        encoded = [text.encode() for text in texts]
        self._text = b"".join(encoded)
        self._ends = _ends(encoded)
        keys = [folding.key(text) for text in texts]
        self._hashes, self._numbers = _sorted([*_typed(texts, keys), *_initials(columns)])
        self._grams, self._lists, self._sizes = _grams([key.encode() for key in keys])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def text(self, number: int) -> str:
        """The value as the database holds it."""
        return self._text[self._ends[number] : self._ends[number + 1]].decode()

    def column(self, number: int) -> ColumnKey:
        """The column that holds it."""
        return self.columns[self.place(number)]

    def place(self, number: int) -> int:
        """Where its column stands in `columns`."""
        return int(np.searchsorted(self._starts, number, side="right")) - 1

    def values(self, place: int, limit: int) -> list[str]:
        """The first values of a column."""
        start, end = int(self._starts[place]), int(self._starts[place + 1])
        return [self.text(number) for number in range(start, min(end, start + limit))]

    def count(self, place: int) -> int:
        """How many values of a column there are here."""
        return int(self._starts[place + 1] - self._starts[place])

    def visible(self, columns: Iterable[ColumnKey]) -> NDArray[np.bool_]:
        """For each place of `columns`, whether it is among the given ones."""
        allowed = frozenset(columns)
        return np.array([key in allowed for key in self.columns], dtype=bool)

    def exact(self, keys: Sequence[str], seen: NDArray[np.bool_]) -> list[list[int]]:
        """For each key the values of columns marked in `seen` that have it."""
        hashes = np.array([hash(key) for key in keys], dtype=np.int64)
        low = np.searchsorted(self._hashes, hashes, side="left")
        high = np.searchsorted(self._hashes, hashes, side="right")
        return [self._seen(self._numbers[a:b], seen).tolist() for a, b in zip(low, high, strict=True)]

    def near(self, key: str, least: float, seen: NDArray[np.bool_]) -> list[Near]:
        """Values whose key is like `key` by letters (optimal string alignment), at least `least`; best first."""
        found = [
            Near(number, OSA.normalized_similarity(key, other, score_cutoff=least))
            for number, other in self._sharing(key, seen, edits=max(1, round((1 - least) * len(key))))
        ]
        return sorted((near for near in found if near.similarity >= least), key=lambda n: -n.similarity)

    def holding(self, key: str, seen: NDArray[np.bool_]) -> list[int]:
        """Values whose key holds `key` and more."""
        return [
            number
            for number, other in self._sharing(key, seen, edits=0)
            if key in other and len(other) > len(key)
        ]

    def _sharing(self, key: str, seen: NDArray[np.bool_], *, edits: int) -> list[tuple[int, str]]:
        """(number, key) of the values that share most with `key`; without edits what only holds it as well."""
        text = key.encode()
        codes = np.unique(_codes(_EDGE + text + _EDGE if edits else text))
        if not len(self) or not len(codes):
            return []
        spans = sorted((int(self._grams[c]), int(self._grams[c + 1])) for c in codes)
        spans.sort(key=lambda span: span[1] - span[0])
        read: list[Positions] = []
        room = POSTINGS
        for start, end in spans:
            room -= end - start
            if room < 0 and read:
                break
            read.append(self._lists[start:end])
        # An edit changes four codes at most (two letters exchanged): what shares fewer has more edits.
        need = max(min(2, len(read)), len(read) - 4 * edits)
        counts = np.bincount(np.concatenate(read), minlength=len(self))
        numbers = self._seen(np.flatnonzero(counts >= need), seen)
        if len(numbers) > CANDIDATES:
            score = counts[numbers] / (len(codes) + self._sizes[numbers])
            numbers = numbers[np.argpartition(-score, CANDIDATES)[:CANDIDATES]]
        return [(int(number), folding.key(self.text(int(number)))) for number in numbers]

    def _seen(self, numbers: NDArray[np.integer], seen: NDArray[np.bool_]) -> NDArray[np.integer]:
        places = np.searchsorted(self._starts, numbers, side="right") - 1
        return numbers[seen[places]] if len(numbers) else numbers


def _ends(encoded: Sequence[bytes]) -> Numbers:
    return np.cumsum([0, *map(len, encoded)], dtype=np.int64)


def _typed(texts: Sequence[str], keys: Sequence[str]) -> list[tuple[int, int]]:
    """(hash of a key, number): every value under its own key, dates under their day as well."""
    found = [(hash(key), number) for number, key in enumerate(keys) if key]
    for number, text in enumerate(texts):
        if text[:1].isalnum() and text[-2:].isdigit() and (day := folding.date_key(text)) is not None:
            found.append((hash(day), number))
            found.append((hash(day[:7]), number))
    return found


def _initials(columns: Sequence[ColumnValues]) -> Iterator[tuple[int, int]]:
    start = 0
    for column in columns:
        if len(column.values) <= NAMED:
            for number, text in enumerate(column.values, start):
                short = folding.initials(text)
                if short is not None:
                    yield hash(short), number
        start += len(column.values)


def _sorted(pairs: Sequence[tuple[int, int]]) -> tuple[Numbers, Positions]:
    hashes = np.fromiter((pair[0] for pair in pairs), dtype=np.int64, count=len(pairs))
    numbers = np.fromiter((pair[1] for pair in pairs), dtype=np.int32, count=len(pairs))
    order = np.argsort(hashes, kind="stable")
    return hashes[order], numbers[order]


def _codes(text: bytes) -> Numbers:
    """The buckets of each three bytes that follow one another."""
    data = np.frombuffer(text, dtype=np.uint8).astype(np.int64)
    whole = (data[:-2] << 16) | (data[1:-1] << 8) | data[2:]
    return (whole * 2_654_435_761 >> 7) % _BUCKETS


def _grams(keys: Sequence[bytes]) -> tuple[Numbers, Positions, Positions]:
    """Where each bucket's list begins, the lists one after another, and how many buckets each value is in."""
    lengths = np.array([len(key) + 2 for key in keys], dtype=np.int64)
    text = b"".join(_EDGE + key + _EDGE for key in keys)
    if len(text) < 3:  # noqa: PLR2004  three bytes make a code
        return np.zeros(_BUCKETS + 1, np.int64), np.zeros(0, np.int32), np.zeros(len(keys), np.int32)
    owners = np.repeat(np.arange(len(keys), dtype=np.int64), lengths)
    # A code belongs to a value where its three bytes do.
    inside = owners[:-2] == owners[2:]
    pairs = np.unique((_codes(text)[inside] << 32) | owners[:-2][inside])
    codes, numbers = pairs >> 32, (pairs & 0xFFFF_FFFF).astype(np.int32)
    begins = np.searchsorted(codes, np.arange(_BUCKETS + 1))
    return begins, numbers, np.bincount(numbers, minlength=len(keys)).astype(np.int32)
