"""Has the benchmark's scorer judge answers: it runs as a process of its own and alone knows the gold.

Owns the predictions that it is given and what is read back. A statement for another database than the question's
is replaced by one that cannot run: the scorer would run it where the gold is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality.candidates.journal import Answer
from benchmarks.quality.candidates.questions import Judge, QuestionSet, home, read_items

ELSEWHERE = "SELECT * FROM answered_for_another_database"
"""Fails on every database of the benchmark: none has a table of that name."""


class JudgingError(Exception):
    """The scorer refused its input."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The scorer's words. `right`: by question, for each candidate whether it is right under reading 1 and 2.

    With one reading both are the same.
    """

    n: int
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    right: Mapping[str, tuple[tuple[bool, bool], ...]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """The scorer of `bench` on a loaded server. `folder`: for what it reads and writes."""

    bench: Path
    dsn: str
    folder: Path

    def judge(self, of: QuestionSet, answers: Sequence[Answer]) -> Verdict:
        """The figures of a set's answers; raises `JudgingError`."""
        homes = {item["id"]: home(item, of) for item in read_items(self.bench / of.file)}
        lists = {answer.id: statements(answer, homes[answer.id]) for answer in answers}
        whole = self._score(of, lists)
        return Verdict(
            whole["n"],
            whole["figures"],
            {name: (low, high) for name, (low, high) in whole["intervals95"].items()},
            self._each(of, lists, whole),
        )

    def _each(
        self, of: QuestionSet, lists: Mapping[str, list[str]], whole: Mapping[str, Any]
    ) -> dict[str, tuple[tuple[bool, bool], ...]]:
        """Which candidates are right. By execution the scorer names the first one: the others are asked for alone."""
        if of.judge is Judge.AMBIQT:
            return {
                item["id"]: tuple((bool(a), bool(b)) for a, b in item["right"]) for item in whole["items"]
            }
        found: dict[str, list[bool]] = {item["id"]: [] for item in whole["items"]}
        for place in range(max(map(len, lists.values()), default=0)):
            there = {key: [lists[key][place]] for key in found if len(lists[key]) > place}
            judged = {item["id"]: item["rank"] == 1 for item in self._score(of, there)["items"]}
            for key in there:
                found[key].append(judged[key])
        return {key: tuple((right, right) for right in each) for key, each in found.items()}

    def _score(self, of: QuestionSet, lists: Mapping[str, list[str]]) -> dict[str, Any]:
        predictions, ids, report = (
            self.folder / name for name in ("answers.jsonl", "ids.txt", "report.json")
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = [
            json.dumps({"id": key, "candidates": [{"sql": sql} for sql in each]})
            for key, each in lists.items()
        ]
        predictions.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        ids.write_text("\n".join(lists), encoding="utf-8")
        files = {
            "--questions": self.bench / of.file,
            "--predictions": predictions,
            "--only": ids,
            "--json": report,
            "--cache": self.folder / f"golds-{of.judge}.jsonl",
        }
        command = [sys.executable, str(self.bench / "score.py"), of.judge.value, "--dsn", self.dsn]
        command += [str(word) for pair in files.items() for word in pair]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise JudgingError(done.stderr.strip())
        return dict(json.loads(report.read_text(encoding="utf-8")))


def statements(answer: Answer, database: str) -> list[str]:
    """An answer's statements as the scorer may run them on `database`."""
    return [
        proposal.sql if proposal.database in {None, database} else ELSEWHERE for proposal in answer.proposals
    ]
