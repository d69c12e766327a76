"""The gold statements: the questions as the benchmark's scorer reads them, and what each statement finds.

Owns that each database is scored on its own, with its first schema as the search path, and what a gold statement must
do: run, find something that a person can read, and be found right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import asyncpg
from rich.console import Console

from benchmarks.harness.questions import QuestionSet
from benchmarks.harness.scorer import Right, Scorer
from benchmarks.real.databases import RESHAPED, SCHEMAS
from benchmarks.real.questions import RealQuestion
from pgparley.cluster import Cluster
from schema_catalog.pg import Connection

ROWS = 1_000
"""That an answer may have at most: more is no answer for a person."""


def question_set(name: str, questions: Sequence[RealQuestion]) -> QuestionSet:
    """The questions as a set; its file's name stands for their texts and for the data, on which answers depend."""
    told = [[each.id, each.text] for each in questions] + [[each.digest()] for each in RESHAPED]
    return QuestionSet(name, json.dumps(told))


@dataclass(frozen=True, slots=True)
class PerDatabase:
    """`benchmarks.harness.scorer.Judging` of questions on several databases. `folder`: for what it reads and writes."""

    bench: Path
    running: Cluster
    folder: Path
    questions: Sequence[RealQuestion]

    def judge(self, of: QuestionSet, wanted: Mapping[str, Sequence[str]]) -> dict[str, tuple[Right, ...]]:
        """See `Scorer.judge`."""
        found: dict[str, tuple[Right, ...]] = {}
        for database in dict.fromkeys(each.database for each in self.questions):
            own = [each for each in self.questions if each.database == database and each.id in wanted]
            if own:
                file = self._written(database, own)
                scorer = Scorer(self.bench, self.running.dsn(database), self.folder / database)
                asked = QuestionSet(of.name, str(file.resolve()))
                found |= scorer.judge(asked, {each.id: wanted[each.id] for each in own})
        return found

    def _written(self, database: str, questions: Sequence[RealQuestion]) -> Path:
        """The file of the questions."""
        file = self.folder / database / "questions.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            {
                "id": each.id,
                "db": SCHEMAS[database][0],
                "question": each.text,
                "gold": each.gold[0],
                "gold_alternatives": each.gold[1:],
            }
            for each in questions
        ]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return file


def refused(scorer: PerDatabase, questions: Sequence[RealQuestion]) -> list[str]:
    """The gold statements that the scorer does not find right: none, unless it cannot tell their ties."""
    right = scorer.judge(QuestionSet("gold", ""), {each.id: each.gold for each in questions})
    return [
        f"{each.id}: {sql}"
        for each in questions
        for sql, (ok, _) in zip(each.gold, right[each.id], strict=True)
        if not ok
    ]


async def found_by(running: Cluster, questions: Sequence[RealQuestion], console: Console) -> None:
    """Prints a line for each statement; raises `ValueError` that names the questions whose gold is no good."""
    wrong = []
    for database, some in groupby(questions, key=lambda each: each.database):
        path = {"search_path": SCHEMAS[database][0]}
        connection = await asyncpg.connect(running.dsn(database), server_settings=path, command_timeout=60)
        try:
            for each in some:
                problem = await _problem(connection, each, console)
                wrong += [f"{each.id}: {problem}"] if problem else []
        finally:
            await connection.close()
    if wrong:
        raise ValueError("\n".join(wrong))


async def _problem(connection: Connection, question: RealQuestion, console: Console) -> str | None:
    console.print(f"{question.id}: {question.text}", markup=False, highlight=False)
    for sql in question.gold:
        try:
            rows = await connection.fetch(sql)
        except asyncpg.PostgresError as error:
            return str(error)
        shown = ", ".join(map(str, rows[0])) if rows else ""
        console.print(f"    {len(rows)} rows: {shown}", markup=False, highlight=False)
        if not any(value not in {None, 0} for row in rows for value in row):
            return "nothing is found"
        if len(rows) > ROWS:
            return f"{len(rows)} rows are found"
    return None
