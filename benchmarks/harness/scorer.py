"""Has the benchmark's scorer judge statements: it runs as a process of its own and alone knows the gold.

Owns what it is given, what is read back, and the file of verdicts: each statement is judged once, whoever shows it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from benchmarks.harness.drawing import Item, digest
from benchmarks.harness.questions import Judge, QuestionSet
from benchmarks.harness.report import write_lines

ELSEWHERE = "SELECT * FROM answered_for_another_database"
"""Fails on every database of the benchmark: none has a table of that name."""

Right = tuple[bool, bool]
"""Whether a statement is right under reading 1 and 2 of its question; with one reading both are the same."""


class JudgingError(Exception):
    """The scorer refused its input."""


class Judging(Protocol):
    """What tells right statements from wrong ones."""

    def judge(self, of: QuestionSet, wanted: Mapping[str, Sequence[str]]) -> dict[str, tuple[Right, ...]]:
        """For each statement of each question whether it is right; raises `JudgingError`. Blocks for seconds."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """`Judging` by the scorer of `bench` on a loaded server. `folder`: for what it reads and writes."""

    bench: Path
    dsn: str
    folder: Path

    def judge(self, of: QuestionSet, wanted: Mapping[str, Sequence[str]]) -> dict[str, tuple[Right, ...]]:
        """For each statement of each question whether it is right; raises `JudgingError`.

        By execution the scorer tells which statement of a question is the first right one: each is asked for alone.
        """
        if of.judge is Judge.AMBIQT:
            items = self._score(of, wanted)
            return {item["id"]: tuple((bool(a), bool(b)) for a, b in item["right"]) for item in items}
        found: dict[str, list[Right]] = {key: [] for key in wanted}
        for place in range(max(map(len, wanted.values()), default=0)):
            there = {key: [each[place]] for key, each in wanted.items() if len(each) > place}
            for item in self._score(of, there):
                right = item["first"] if of.judge is Judge.READINGS else item["rank"] == 1
                found[item["id"]].append((bool(right),) * 2)
        return {key: tuple(each) for key, each in found.items()}

    def _score(self, of: QuestionSet, lists: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
        given = [{"id": key, "candidates": [{"sql": sql} for sql in each]} for key, each in lists.items()]
        cache = {"dsn": self.dsn, "cache": self.folder / f"golds-{of.judge}.jsonl"}
        report = scored(self.bench, of.judge, self.bench / of.file, given, self.folder, **cache)
        items: list[dict[str, Any]] = report["items"]
        return items


def scored(
    bench: Path, judge: str, questions: Path, predictions: Sequence[Item], folder: Path, **options: object
) -> dict[str, Any]:
    """What the scorer's subcommand `judge` reports of the questions that are predicted; raises `JudgingError`.

    `folder`: for what it reads and writes; `options`: its other ones. Blocks for seconds.
    """
    answers, ids, report = (folder / name for name in ("answers.jsonl", "ids.txt", "report.json"))
    write_lines(answers, predictions)
    ids.write_text("\n".join(each["id"] for each in predictions), encoding="utf-8")
    options |= {"questions": questions, "predictions": answers, "only": ids, "json": report}
    command = [sys.executable, str(bench / "score.py"), judge]
    command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise JudgingError(done.stderr.strip())
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    set: str
    id: str
    sql: str
    right: Right


class Verdicts:
    """Verdicts by set, question and statement. `file`: where those stay whose rows are the same each day."""

    def __init__(self, scorer: Judging, file: Path | None = None) -> None:
        self._scorer = scorer
        self._file = file
        self._known: dict[tuple[str, str], dict[str, Right]] = defaultdict(dict)
        for text in file.read_bytes().splitlines() if file is not None and file.is_file() else ():
            self._keep(msgspec.json.decode(text, type=_Line))

    def judge(self, of: QuestionSet, wanted: Mapping[str, Iterable[str]]) -> None:
        """Has the statements of questions judged that are not yet; raises `JudgingError`. Blocks for seconds."""
        unknown = {
            key: [sql for sql in dict.fromkeys(statements) if sql not in self._known[of.name, key]]
            for key, statements in wanted.items()
        }
        unknown = {key: each for key, each in unknown.items() if each}
        if not unknown:
            return
        found = self._scorer.judge(of, unknown)
        lines = [
            _Line(of.name, key, sql, right)
            for key, each in unknown.items()
            for sql, right in zip(each, found[key], strict=True)
        ]
        for line in lines:
            self._keep(line)
        if self._file is not None and not of.dated:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab") as file:
                file.writelines(msgspec.json.encode(line) + b"\n" for line in lines)

    def right(self, of: QuestionSet, identity: str, sql: str) -> Right:
        """The verdict on a judged statement; raises `KeyError` where it was not judged."""
        return self._known[of.name, identity][sql]

    def _keep(self, line: _Line) -> None:
        self._known[line.set, line.id][line.sql] = line.right


def both(verdicts: Sequence[Right]) -> bool:
    """Whether the first five hold a statement right only under reading 1 and one right only under 2 (BothInTop5)."""
    top = verdicts[:5]
    return any(one and not two for one, two in top) and any(two and not one for one, two in top)


def meant(identity: str) -> int:
    """Which of two readings, 0 or 1, the question with that id means where it has to mean one."""
    return digest(f"reading:{identity}") % 2
