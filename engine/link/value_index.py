"""An index of one database's values, for lookup by key and by similarity.

Memory layout: one text of all values, the sorted hashes of their keys, and the posting lists of byte trigrams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from engine.question import normalise as folding
from schema_catalog.types import ColumnKey
from schema_catalog.values import ColumnValues

POSTINGS = 120_000
"""Entries of posting lists read by one search at most, shortest lists first."""

CANDIDATES = 48
"""Values compared by edit distance at most: those with the most trigrams in common."""

NAMED = 1_000
"""Values of a column with an index of initials, at most: countries and organisations, not people."""

_BUCKETS = 1 << 18
_EDGE = b"\x01"
"""Put before and after each key, so that its beginning and end have trigrams of their own."""

Numbers = NDArray[np.int64]
Positions = NDArray[np.int32]


class ValueIndex:
    """Values are numbered from 0 in the order of `columns`, each column's in their own order."""

    def __init__(self, columns: Sequence[ColumnValues]) -> None:
        self.columns: tuple[ColumnKey, ...] = tuple(column.key for column in columns)
        self.complete = tuple(not column.more for column in columns)
        """For each of `columns`, whether these are all its values."""
        self._starts = np.cumsum([0, *(len(column.values) for column in columns)])
        # Column by column, so that only one's texts and keys are objects at a time.
        parts = [_part(column, int(start)) for column, start in zip(columns, self._starts, strict=False)]
        self._text = b"".join(part.text for part in parts)
        self._ends = np.cumsum(_joined([np.zeros(1, np.int64), *(part.lengths for part in parts)]))
        hashes, numbers = _joined([part.hashes for part in parts]), _joined([part.numbers for part in parts])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._numbers = hashes[order], numbers[order].astype(np.int32)
        grams = np.sort(_joined([part.grams for part in parts]))
        self._lists = (grams & 0xFFFF_FFFF).astype(np.int32)
        self._grams = np.searchsorted(grams >> 32, np.arange(_BUCKETS + 1))
        self._sizes = np.bincount(self._lists, minlength=len(self)).astype(np.int32)

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

    @property
    def hashes(self) -> Numbers:
        """Of all keys, sorted; a key that several values have stands there as often."""
        return self._hashes

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

    def similar(self, key: str, least: float, seen: NDArray[np.bool_]) -> list[tuple[int, float]]:
        """Values whose key has an OSA similarity, in [0, 1], to `key` of at least `least`, with it, best first."""
        found = [
            (number, OSA.normalized_similarity(key, other, score_cutoff=least))
            for number, other in self._sharing(key, seen, edits=max(1, round((1 - least) * len(key))))
        ]
        return sorted((each for each in found if each[1] >= least), key=lambda each: -each[1])

    def containing(self, key: str, seen: NDArray[np.bool_], *, edits: int = 0) -> list[int]:
        """Values whose key is longer than `key` and contains it, or may contain it except for so many edits."""
        return [
            number
            for number, other in self._sharing(key, seen, edits=edits, whole=False)
            if len(other) > len(key) and (edits or key in other)
        ]

    def _sharing(
        self, key: str, seen: NDArray[np.bool_], *, edits: int, whole: bool = True
    ) -> list[tuple[int, str]]:
        """(number, key) of the values with the most trigrams in common; not `whole`: also of keys that are longer."""
        text = key.encode()
        codes = np.unique(_codes(_EDGE + text + _EDGE if whole else text))
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
            score = counts[numbers] / (len(codes) + whole * self._sizes[numbers])
            numbers = numbers[np.argpartition(-score, CANDIDATES)[:CANDIDATES]]
        return [(int(number), folding.key(self.text(int(number)))) for number in numbers]

    def _seen(self, numbers: NDArray[np.integer], seen: NDArray[np.bool_]) -> NDArray[np.integer]:
        places = np.searchsorted(self._starts, numbers, side="right") - 1
        return numbers[seen[places]] if len(numbers) else numbers


@dataclass(frozen=True, slots=True)
class _Part:
    """One column's part of the index. `grams`: (bucket << 32) | number, each once."""

    text: bytes
    lengths: Numbers
    hashes: Numbers
    numbers: Numbers
    grams: Numbers


def _part(column: ColumnValues, start: int) -> _Part:
    encoded = [text.encode() for text in column.values]
    keys = [folding.key(text) for text in column.values]
    pairs = list(_keyed(column.values, keys, start))
    return _Part(
        text=b"".join(encoded),
        lengths=np.fromiter(map(len, encoded), np.int64, len(encoded)),
        hashes=np.fromiter((found for found, _ in pairs), np.int64, len(pairs)),
        numbers=np.fromiter((number for _, number in pairs), np.int64, len(pairs)),
        grams=_grams([key.encode() for key in keys], start),
    )


def _joined(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


def _keyed(texts: Sequence[str], keys: Sequence[str], start: int) -> Iterator[tuple[int, int]]:
    """(hash of a key, number): by each value's key, a date's day and month, a name's initials."""
    for number, (text, own) in enumerate(zip(texts, keys, strict=True), start):
        if own:
            yield hash(own), number
        if text[:1].isalnum() and text[-2:].isdigit() and (day := folding.date_key(text)) is not None:
            yield hash(day), number
            yield hash(day[:7]), number
        if len(texts) <= NAMED and (short := folding.initials(text)) is not None:
            yield hash(short), number


def _codes(text: bytes) -> Numbers:
    """The buckets of each three bytes that follow one another."""
    data = np.frombuffer(text, dtype=np.uint8).astype(np.int64)
    whole = (data[:-2] << 16) | (data[1:-1] << 8) | data[2:]
    return (whole * 2_654_435_761 >> 7) % _BUCKETS


def _grams(keys: Sequence[bytes], start: int) -> Numbers:
    """(bucket << 32) | number for each bucket of each key, sorted."""
    text = b"".join(_EDGE + key + _EDGE for key in keys)
    if len(text) < 3:  # noqa: PLR2004  three bytes make a code
        return np.zeros(0, np.int64)
    owners = np.repeat(np.arange(start, start + len(keys)), [len(key) + 2 for key in keys])
    # A code belongs to a value where its three bytes do.
    inside = owners[:-2] == owners[2:]
    return np.unique((_codes(text)[inside] << 32) | owners[:-2][inside])
