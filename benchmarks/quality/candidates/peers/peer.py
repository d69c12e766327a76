"""What peers have in common: an instance a database, made before the clock runs, that writes one statement."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.quality.candidates.journal import Proposal
from benchmarks.quality.candidates.tasks import Place, Task


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer as a system. `url`, `model`: of an OpenAI-compatible server. `package`: decides its answers.

    `make` gives the function from a question to SQL for one database; it and the function block.
    """

    name: str
    package: str
    make: Callable[[Place, str, str], Callable[[str], str]]
    url: str
    model: str
    sets: tuple[str, ...] = ("spider", "defog")
    made: dict[str, Callable[[str], str]] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        """What of this decides answers, beside the code."""
        return f"{self.package} {importlib.metadata.version(self.package)}"

    @property
    def sources(self) -> tuple[Path, ...]:
        """The adapters, and what they are told of a schema."""
        return (*Path(__file__).parent.glob("*.py"), Path(__file__).parents[1] / "ddl.py")

    async def prepare(self, task: Task) -> None:
        """Makes the instance for the task's database; those of other databases are let go."""
        if task.place is None:
            raise ValueError(f"{self.name} is made for one database")
        name = task.place.database.name
        if name not in self.made:
            made = await asyncio.to_thread(self.make, task.place, self.url, self.model)
            self.made.clear()
            self.made[name] = made

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """Its one statement."""
        written = await asyncio.to_thread(self.made[task.question.database or ""], task.question.text)
        return (Proposal(written.strip().rstrip(";").strip()),)
