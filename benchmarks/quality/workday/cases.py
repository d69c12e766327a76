"""The cases: their questions without the gold, databases loaded on the day of asking, and their own judge."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness.drawing import read_items
from benchmarks.harness.questions import QuestionSet
from benchmarks.harness.report import write_lines
from benchmarks.harness.scorer import JudgingError, Right
from benchmarks.harness.site import forget_store, readable
from pgparley.cluster import Cluster
from schema_catalog.types import Database


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of `bench`, and what loads and judges them there. `folder`: for what is written."""

    bench: Path
    folder: Path

    @property
    def items(self) -> list[dict[str, Any]]:
        """The questions; gold is read by the judge alone."""
        kept = ("id", "case", "mechanism", "question")
        return [
            {key: item[key] for key in kept} for item in read_items(self.bench / "workday/questions.jsonl")
        ]

    @property
    def version(self) -> str:
        """What decides the rows: the scripts, and the day of loading."""
        digest = hashlib.sha256(datetime.now(UTC).date().isoformat().encode())
        for path in sorted((self.bench / "workday").glob("*.sql")):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    async def fill(self, running: Cluster) -> Sequence[Database]:
        """Loads the cases anew unless those that are there are today's; the catalog reads them in every run."""
        await forget_store(running)
        mark = self.folder / "loaded"
        if not mark.is_file() or mark.read_text() != self.version:
            await asyncio.to_thread(self.command, running.dsn(), "load")
            mark.write_text(self.version)
        names = [f"workday_{case}" for case in dict.fromkeys(item["case"] for item in self.items)]
        return tuple(readable(Database(name, running.dsn(name), name, ("public",))) for name in names)

    def command(self, dsn: str, *words: str) -> None:
        """Runs the cases' own command; raises `JudgingError`."""
        run_cases(self.bench, dsn, *words)


def run_cases(bench: Path, dsn: str, *words: str) -> None:
    """Runs the command of `bench` that loads and scores cases; raises `JudgingError`."""
    command = [sys.executable, str(bench / "workday.py"), *words, "--dsn", dsn]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise JudgingError(done.stderr.strip())


@dataclass(frozen=True, slots=True)
class Judge:
    """`benchmarks.harness.scorer.Judging` by the cases' own scorer."""

    cases: Cases
    dsn: str

    def judge(self, of: QuestionSet, wanted: Mapping[str, Sequence[str]]) -> dict[str, tuple[Right, ...]]:  # noqa: ARG002 - there is one set
        """See `Scorer.judge`: each statement of a question is asked for alone."""
        found: dict[str, list[Right]] = {key: [] for key in wanted}
        for place in range(max(map(len, wanted.values()), default=0)):
            there = {key: each[place] for key, each in wanted.items() if len(each) > place}
            ranks = self._ranks(there)
            for key in there:
                found[key].append((ranks[key] == 1,) * 2)
        return {key: tuple(each) for key, each in found.items()}

    def _ranks(self, statements: Mapping[str, str]) -> dict[str, int | None]:
        predictions, report = (self.cases.folder / name for name in ("answers.jsonl", "report.json"))
        given: dict[str, list[dict[str, str]]] = {item["id"]: [] for item in self.cases.items}
        given |= {key: [{"sql": sql}] for key, sql in statements.items()}
        write_lines(predictions, [{"id": key, "candidates": each} for key, each in given.items()])
        words = ("score", "--predictions", str(predictions), "--json", str(report))
        self.cases.command(self.dsn, *words)
        return {item["id"]: item["rank"] for item in json.loads(report.read_text())["items"]}
