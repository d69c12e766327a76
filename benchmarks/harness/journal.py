"""What a system answered, kept question by question: a run that was cut off goes on where it stopped.

Owns the file of one system and one set: a line an answer, each forced to the disk before the next question is asked.
A file belongs to what decides the answers (`identity`), so that answers of other settings or other code are never
taken for these.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec


@dataclass(frozen=True, slots=True)
class Proposal:
    """One statement of an answer, best first."""

    sql: str
    database: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What an answer took: wall seconds, model calls, tokens by kind (`engine.values.messages.Usage`).

    `model_seconds`: those of the model's calls, where they are told apart.
    """

    seconds: float
    calls: int = 0
    prefilled: int = 0
    cached: int = 0
    generated: int = 0
    model_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's answer to one question. `error`: why there is none, as its user would see it.

    `crashed`: the error was an exception that no user should meet. `commit`: of the tree that answered.
    """

    id: str
    proposals: tuple[Proposal, ...]
    cost: Cost
    error: str | None = None
    crashed: bool = False
    commit: str = ""


class Identified(Protocol):
    """Something about one question."""

    @property
    def id(self) -> str: ...  # noqa: D102 - the question's


KeptT = TypeVar("KeptT", bound=Identified)


class Journal(Generic[KeptT]):
    """Answers of a kind in a file, by question."""

    def __init__(self, path: Path, kind: type[KeptT]) -> None:
        self._path = path
        self.answers = {answer.id: answer for answer in _read(path, kind)}

    def add(self, answer: KeptT) -> None:
        """Keeps `answer`; it is on the disk when this returns. Raises `ValueError` where the question has one."""
        if answer.id in self.answers:
            raise ValueError(f"{answer.id} is answered already")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            # A line that was cut off by a kill stays behind, unreadable, on a line of its own.
            start = b"" if file.tell() == 0 or _ends_a_line(self._path) else b"\n"
            file.write(start + msgspec.json.encode(answer) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.answers[answer.id] = answer


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _read(path: Path, kind: type[KeptT]) -> Iterator[KeptT]:
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            yield msgspec.json.decode(line, type=kind)
        except msgspec.DecodeError:
            continue


def identity(settings: str, sources: Iterable[Path]) -> str:
    """A short name for what decides answers: the settings and the text of the code that gives them."""
    digest = hashlib.sha256(settings.encode())
    for path in sorted(sources):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds `folder` for one run; raises `BlockingIOError` where another has it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
