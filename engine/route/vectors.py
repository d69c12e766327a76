"""Vectors of schema texts, computed once: a file that restarts and engines share, and whose loss costs time alone."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.values.ports import Encoder

Vectors = NDArray[np.float32]

_AT_ONCE = 500
"""Texts looked up in one statement (SQLite allows 999 parameters in its oldest versions)."""


class VectorCache:
    """`Encoder` that keeps the vectors of `encoder` in the file `path`, if any, by `model`, the encoder's name."""

    def __init__(self, encoder: Encoder, *, model: str, path: Path | None) -> None:
        self._encoder = encoder
        self._model = model
        self._path = path
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension)."""
        if self._path is None or not texts:
            return self._encoder.encode(texts)
        keys = [hashlib.sha256(f"{self._model}\0{text}".encode()).digest() for text in texts]
        with self._lock, closing(self._open(self._path)) as file:
            found = dict(self._read(file, keys))
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            if missing:
                vectors = self._encoder.encode(list(missing.values()))
                found.update(zip(missing, vectors, strict=True))
                with file:
                    rows = [(key, found[key].tobytes()) for key in missing]
                    file.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", rows)
        return np.stack([found[key] for key in keys])

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = sqlite3.connect(path, timeout=30)
        file.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        return file

    @staticmethod
    def _read(file: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Vectors]]:
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, value FROM vector WHERE key IN ({marks})"  # noqa: S608  question marks alone
            for key, value in file.execute(query, some):
                yield key, np.frombuffer(value, dtype=np.float32)
