"""What a system is, and what it is handed: a question, the database where it is given, and the engine's tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.quality.candidates.journal import Proposal
from benchmarks.quality.candidates.questions import Question
from engine.core.tools import Tools
from schema_catalog.types import Database, Snapshot

READER = "bench_reader"
"""The role that asks: it may read every schema and nothing else."""


@dataclass(frozen=True, slots=True)
class Place:
    """A database that the question names, and its schema."""

    database: Database
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Task:
    """One question for one system. `place`: None where the database is to be found."""

    question: Question
    place: Place | None
    tools: Tools


class System(Protocol):
    """Something that answers questions with statements, best first.

    `name`: in the results. `sets`: the names of the sets that it is measured on. `sources`: the files that decide its
    answers, beside `settings`.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - see the class

    @property
    def sets(self) -> tuple[str, ...]: ...  # noqa: D102 - see the class

    @property
    def settings(self) -> str: ...  # noqa: D102 - see the class

    @property
    def sources(self) -> tuple[Path, ...]: ...  # noqa: D102 - see the class

    async def prepare(self, task: Task) -> None:
        """Makes once a database what is not part of answering; neither timed nor counted."""

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """Statements, best first. Raises `NLError` for what its user would be told instead."""
