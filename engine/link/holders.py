"""Which databases hold a value that a question names, without a look into each: by the hashes of their values' keys.

Owns eight bytes a value, of every database whose values were ever read here; the values themselves, and who may see
them, are `engine.link.source`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.question.question import Question
from engine.question.spans import SpanKind
from schema_catalog.values import Version

_UNTOLD = frozenset({SpanKind.NUMBER, SpanKind.DATE})
"""Kinds of spans that tell no database from another."""

Hashes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Joined:
    """All hashes `of` the databases, sorted, and of each the number of its database in `names`."""

    of: Mapping[str, tuple[Version, Hashes]]
    hashes: Hashes
    owners: NDArray[np.int32]
    names: tuple[str, ...]


class Holders:
    """The databases by what they hold. `of` may run in other threads than `put` and `keep`."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[Version, Hashes]] = {}
        self._joined: _Joined | None = None

    def put(self, database: str, version: Version, hashes: Hashes) -> None:
        """Replaces what is known of a database. `hashes`: of its values' keys."""
        self._of = {**self._of, database: (version, np.unique(hashes))}

    def keep(self, versions: Mapping[str, Version], asked: frozenset[str]) -> list[str]:
        """Those of `versions` that are not known in that version; forgets what of `asked` has none any more."""
        gone = self._of.keys() & (asked - versions.keys())
        if gone:
            self._of = {name: held for name, held in self._of.items() if name not in gone}
        return [name for name, version in versions.items() if self._of.get(name, (None,))[0] != version]

    def of(self, question: Question) -> frozenset[str]:
        """The databases of which a value has the key of a span of `question`, numbers and dates apart."""
        keys = [span.key for span in question.spans if span.kind not in _UNTOLD]
        joined, known = self._joined, self._of
        if joined is None or joined.of is not known:
            self._joined = joined = _join(known)
        wanted = np.array([hash(key) for key in keys], dtype=np.int64)
        low = np.searchsorted(joined.hashes, wanted, side="left")
        high = np.searchsorted(joined.hashes, wanted, side="right")
        found = {int(n) for a, b in zip(low, high, strict=True) for n in joined.owners[a:b]}
        return frozenset(joined.names[number] for number in found)


def _join(known: Mapping[str, tuple[Version, Hashes]]) -> _Joined:
    parts = [hashes for _, hashes in known.values()]
    every = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    order = np.argsort(every, kind="stable")
    owners = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    return _Joined(known, every[order], owners[order], tuple(known))
