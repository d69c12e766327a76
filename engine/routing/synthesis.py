"""Synthetic questions for schemas: walks turned into questions by the language model.

The reverse of routing (DBCopilot §4.3): sample tables, have the model ask for them. Owns the plan, the calls, and the
journal, which is cache and result in one: a stopped run goes on where it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.core.deadline import Deadline
from engine.core.ports import LanguageModel, Prompt
from engine.errors import NLError
from engine.prompting.prompts import prompt
from engine.routing.graph import Graph
from engine.routing.question_filter import Style, Vocabulary, fold, grammar, read_lines
from engine.routing.walks import Walk, walks
from engine.text.tokens import folded_name
from schema_catalog.types import Column, Snapshot, Table

ANSWER_TOKENS = 150
"""Five questions have 60 to 110 tokens."""

NOTE_LENGTH = 40
"""Characters shown of a comment."""

FAILURES = 12
"""Calls that may fail in a row before the run gives up."""


@dataclass(frozen=True, slots=True)
class SynthesisSettings:
    """The amount of questions. `model`: the language model's name, part of a question's key.

    A database gets `per_table` walks a table, `least` to `most` in all. `concurrent`: calls at once, which the
    model server writes as one batch. `timeout`: seconds for one call.
    """

    model: str
    seed: int = 1
    per_table: float = 2.0
    least: int = 8
    most: int = 40
    concurrent: int = 8
    temperature: float = 0.7
    timeout: float = 3600.0


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question for tables of a database; columns as `table.column`.

    A name that two schemas of the database share is written `schema.table`. `key`: digest of the model's call.
    """

    db: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    question: str
    style: Style
    key: str


@dataclass(frozen=True, slots=True)
class Progress:
    """`walks` of `planned` are done, `questions` are in the journal, `failed` calls in this run."""

    database: str
    walks: int
    planned: int
    questions: int
    failed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Task:
    """One walk, by names, and its call. `key`: digest of prompt, grammar and model."""

    database: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    vocabulary: Vocabulary
    prompt: Prompt
    grammar: str
    seed: int
    key: str


class Journal:
    """A JSONL file of `SyntheticQuestion`, appended to a walk at a time; a torn last line is cut off."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.questions: list[SyntheticQuestion] = list(read_questions(path)) if path.exists() else []
        self._keys = {question.key for question in self.questions}
        self._asked = {(question.db, fold(question.question)) for question in self.questions}
        if path.exists() and (text := path.read_bytes()) and not text.endswith(b"\n"):
            path.write_bytes(text[: text.rfind(b"\n") + 1])

    def __contains__(self, key: str) -> bool:
        """Whether the walk with this key has been asked."""
        return key in self._keys

    def add(self, task: Task, lines: Sequence[str]) -> int:
        """Appends those of a walk's questions that are new for its database; returns how many."""
        name = task.database
        fresh = [line for line in lines if (name, fold(line)) not in self._asked]
        made = [
            SyntheticQuestion(name, task.tables, task.columns, line, task.vocabulary.style(line), task.key)
            for line in fresh
        ]
        self._keys.add(task.key)
        self._asked.update((name, fold(line)) for line in fresh)
        self.questions += made
        with self._path.open("ab") as file:
            file.write(b"".join(msgspec.json.encode(question) + b"\n" for question in made))
        return len(made)


def read_questions(path: Path) -> Iterator[SyntheticQuestion]:
    """The questions of a journal, without a torn last line; raises `OSError`, `msgspec.DecodeError`."""
    for line in path.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            yield msgspec.json.decode(line, type=SyntheticQuestion)


def tables_of(question: SyntheticQuestion, snapshot: Snapshot) -> tuple[int, ...] | None:
    """Numbers of a question's tables in today's snapshot; None where one of them is gone."""
    numbers = {name: number for number, name in enumerate(_names(snapshot))}
    found = [numbers.get(name) for name in question.tables]
    known = tuple(number for number in found if number is not None)
    return known if len(known) == len(found) else None


def plan(snapshots: Sequence[Snapshot], settings: SynthesisSettings) -> Iterator[Task]:
    """All walks, interleaved so that databases progress evenly."""
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.database)
    streams = [_tasks(snapshot, settings) for snapshot in ordered]
    for _, task in heapq.merge(*streams, key=lambda item: item[0]):
        yield task


def planned(snapshot: Snapshot, settings: SynthesisSettings) -> int:
    """Walks for one database; none where it has no tables."""
    wanted = round(settings.per_table * len(snapshot.tables))
    return min(max(wanted, settings.least), settings.most) if snapshot.tables else 0


def _tasks(snapshot: Snapshot, settings: SynthesisSettings) -> Iterator[tuple[float, Task]]:
    size = planned(snapshot, settings)
    endless = walks(snapshot, Graph.of(snapshot), settings.seed)
    names = _names(snapshot)
    before: Counter[Walk] = Counter()
    for number, walk in zip(range(size), endless, strict=False):
        yield (number + 0.5) / size, _task(snapshot, names, walk, before[walk], settings)
        before[walk] += 1


def _task(
    snapshot: Snapshot, names: Sequence[str], walk: Walk, before: int, settings: SynthesisSettings
) -> Task:
    """`before`: how often this walk came before: each repetition has a key and seed of its own."""
    picked = [
        (names[t], snapshot.tables[t], [snapshot.tables[t].columns[number] for number in numbers])
        for t, numbers in zip(walk.tables, walk.columns, strict=True)
    ]
    shown = "\n".join(_shown(*one) for one in picked)
    asked = Prompt(
        prompt("question_system"),
        prompt("question_user", database=folded_name(snapshot.database), tables=shown),
    )
    vocabulary = Vocabulary.of(snapshot, walk)
    lark = grammar(vocabulary)
    whole = (asked.system, asked.user, lark, settings.model, settings.temperature, settings.seed)
    digest = hashlib.sha256(repr((*whole, before) if before else whole).encode())
    return Task(
        database=snapshot.database,
        tables=tuple(name for name, _, _ in picked),
        columns=tuple(f"{name}.{column.name}" for name, _, columns in picked for column in columns),
        vocabulary=vocabulary,
        prompt=asked,
        grammar=lark,
        seed=int.from_bytes(digest.digest()[:4], "big"),
        key=digest.hexdigest()[:24],
    )


def _shown(name: str, table: Table, columns: Sequence[Column]) -> str:
    inside = ", ".join(column.name + _note(column.description) for column in columns)
    return f"{name}({inside}){_note(table.description)}"


def _note(description: str | None) -> str:
    return f" ({' '.join(description.split())[:NOTE_LENGTH]})" if description else ""


def _names(snapshot: Snapshot) -> tuple[str, ...]:
    """Each table's name, with its schema where another table has the bare name."""
    times = Counter(table.name for table in snapshot.tables)
    return tuple(
        table.name if times[table.name] == 1 else f"{table.schema}.{table.name}" for table in snapshot.tables
    )


async def synthesise(
    snapshots: Sequence[Snapshot],
    model: LanguageModel,
    journal: Journal,
    settings: SynthesisSettings,
    progress: Callable[[Progress], None],
) -> Progress:
    """Asks for every walk of the plan that is not in the journal; returns the last progress.

    Cancelling stops it with the journal whole. Raises the model's `NLError` after `FAILURES` in a row; a walk
    whose call failed is asked again by the next run.
    """
    run = _Run(model, journal, settings, progress, sum(planned(snapshot, settings) for snapshot in snapshots))
    todo = plan(snapshots, settings)
    try:
        async with asyncio.TaskGroup() as group:
            for number in range(settings.concurrent):
                group.create_task(run.work(todo), name=f"synthesis-{number}")
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from problems
    return run.standing("")


@dataclass(slots=True)
class _Run:
    """The shared state of one run's workers. `in_a_row`: calls that failed since the last success."""

    model: LanguageModel
    journal: Journal
    settings: SynthesisSettings
    progress: Callable[[Progress], None]
    planned: int
    done: int = 0
    failed: int = 0
    in_a_row: int = 0
    started: float = field(default_factory=time.monotonic)

    def standing(self, database: str) -> Progress:
        """The progress so far."""
        seconds = time.monotonic() - self.started
        written = len(self.journal.questions)
        return Progress(database, self.done, self.planned, written, self.failed, seconds)

    async def work(self, todo: Iterator[Task]) -> None:
        """Takes walks until none is left."""
        for task in todo:
            if task.key not in self.journal:
                await self._ask(task)
            self.done += 1
            self.progress(self.standing(task.database))

    async def _ask(self, task: Task) -> None:
        try:
            written = await self.model.complete(
                task.prompt,
                deadline=Deadline(time.monotonic() + self.settings.timeout),
                max_tokens=ANSWER_TOKENS,
                grammar=task.grammar if self.model.grammars else None,
                temperature=self.settings.temperature,
                seed=task.seed,
            )
        except NLError:
            self.failed += 1
            self.in_a_row += 1
            if self.in_a_row >= FAILURES:
                raise
            return
        self.in_a_row = 0
        self.journal.add(task, read_lines(written.text, task.database, finished=written.finished))
