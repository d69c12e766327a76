"""Approximate nearest-neighbour search of tables in a very large catalog.

HNSW (Malkov and Yashunin, 2018) by `usearch`, over vectors of 8-bit integers. It gives a shortlist, which
`engine.routing.scoring` compares exactly.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from usearch.index import Index as Graph

_KEPT = 8
"""Graphs kept in the folder."""

Vectors = NDArray[np.float32]
Numbers = NDArray[np.intp]

EXACT = 20_000
"""Tables up to which a question is compared with all of them: 3 ms."""

_AT_ONCE = 2_000
"""Tables added between two checks for `close`."""

_NEIGHBOURS, _ADDING, _SEARCHING = 16, 64, 256
"""HNSW's M, ef for construction, ef for search."""


class Nearest:
    """A graph over `vectors`, unit, (T, d), made in the background: until it is `ready` there are no answers.

    `folder`: where graphs are kept between runs, read through a memory map; None keeps none.
    """

    def __init__(self, vectors: Vectors, folder: Path | None = None) -> None:
        self._vectors, self._folder = vectors, folder
        self._graph: Graph | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._make, name="nearest tables", daemon=True)
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether `find` has answers."""
        return self._graph is not None

    def wait(self) -> None:
        """Until the graph is built, or given up."""
        self._thread.join()

    def close(self) -> None:
        """Stops building the graph."""
        self._closed.set()

    def find(self, vector: Vectors, count: int) -> Numbers:
        """Numbers of the tables nearest to a unit vector, (d,): at most `count`, nearest first; none if not ready."""
        if self._graph is None:
            return np.zeros(0, dtype=np.intp)
        return self._graph.search(vector, count).keys.astype(np.intp)

    def _make(self) -> None:
        from usearch.index import Index as Graph  # noqa: PLC0415  only catalogs that need it load it

        graph = Graph(
            ndim=self._vectors.shape[1],
            metric="cos",
            dtype="i8",
            connectivity=_NEIGHBOURS,
            expansion_add=_ADDING,
            expansion_search=_SEARCHING,
        )
        file = self._file()
        if file is not None and file.is_file():
            graph.view(str(file))
            self._graph = graph
            return
        for start in range(0, len(self._vectors), _AT_ONCE):
            if self._closed.is_set():
                return
            some = self._vectors[start : start + _AT_ONCE]
            graph.add(np.arange(start, start + len(some)), some, threads=1)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            making = file.with_suffix(f".{threading.get_native_id()}")
            graph.save(str(making))
            making.replace(file)
            _forget(file.parent)
        self._graph = graph

    def _file(self) -> Path | None:
        """Named by a digest of the vectors and parameters; None without a folder."""
        if self._folder is None:
            return None
        digest = hashlib.sha256(f"{self._vectors.shape} {_NEIGHBOURS} {_ADDING}".encode())
        digest.update(np.ascontiguousarray(self._vectors).data)
        return self._folder / f"{digest.hexdigest()[:32]}.tables"


def _forget(folder: Path) -> None:
    """Deletes all but the newest graphs."""
    found = sorted(folder.glob("*.tables"), key=lambda file: -file.stat().st_mtime_ns)
    for file in found[_KEPT:]:
        file.unlink(missing_ok=True)
