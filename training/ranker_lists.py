"""Makes the ranker's training data: what the embedded model writes for Spider's training questions, right or wrong.

    python -m training.ranker_lists --bench FOLDER --out FILE --work FOLDER --minutes N

For each question one greedy answer, greedy answers with one element of the schema masked that the first one used, and
samples at a high temperature, all under the engine's grammar; each runs on PostgreSQL and is judged by the benchmark's
own comparison. The questions are drawn by a seed, a few from each database, those of a database together, so that
the model computes its schema once. A run that is stopped goes on from there: a line of the file is a question.

Owns the drawing, the asking and the file. Starts a PostgreSQL and a model server of its own and stops both.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.quality.candidates.meter import metering
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import Item, read_items
from engine.core.deadline import Deadline
from engine.core.elements import WHOLE_TABLE
from engine.core.ports import Completion, Prompt
from engine.decoding.sql_grammar import sql_grammar
from engine.errors import NLError
from engine.guard.analyse import UnreadableError
from engine.llm.client import ChatModel
from engine.llm.settings import ModelSettings
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from engine.rewrite.driver import Rewritten, repair
from engine.rewrite.rule import Context
from engine.sql.resolution import resolve
from pgparley import cluster
from schema_catalog.introspect import introspect
from schema_catalog.types import ColumnKey, Database, Snapshot

DATA = "bench"
LONGEST = 3_500
"""Characters of schema: computing a longer one takes the time of several questions."""

EACH_TURN = 3
"""Questions of a database asked together, before the next database's turn."""

MASKED, SAMPLES, TEMPERATURE = 2, 2, 0.9
TOKENS = 120
"""Of an answer: Spider's longest statements have about a hundred."""

SECONDS = 900.0
"""For the questions of a turn, on a machine that may stand still meanwhile."""

_LINE_BREAK = re.compile(r" *\n *(?=[A-Z(])")


@dataclass(frozen=True, slots=True)
class Written:
    """One statement. `masked`: what it was not allowed to name. `logprob`: mean over its tokens."""

    sql: str
    right: bool
    runs: bool
    logprob: float | None
    masked: tuple[ColumnKey, ...]
    temperature: float


@dataclass(frozen=True, slots=True)
class Place:
    """A database's schema as the model is told it."""

    snapshot: Snapshot
    text: str


class Judge:
    """The benchmark's comparison, on its own connection."""

    def __init__(self, bench: Path, dsn: str) -> None:
        sys.path.insert(0, str(bench))
        self._database: Any = importlib.import_module("benchtools.database")
        self._compare: Any = importlib.import_module("benchtools.compare")
        self._connection = self._database.Database(dsn)

    def verdicts(self, item: Item, statements: Sequence[str]) -> list[tuple[bool, bool]] | None:
        """For each statement whether it gives the gold's rows, and whether it runs; None where the gold does not."""
        with self._connection.namespace():
            gold = self._connection.gold(item["db"], item["gold"], cached=False)
            if isinstance(gold, self._database.Failed):
                return None
            return [self._verdict(item, gold, sql) for sql in statements]

    def _verdict(self, item: Item, gold: Any, sql: str) -> tuple[bool, bool]:
        rows = self._connection.rows(item["db"], sql, gold.take + 1)
        if isinstance(rows, self._database.Failed):
            return False, False
        return bool(self._compare.matches(gold, rows.columns, rows.rows)), True


def drawn(items: Sequence[Item], seed: int) -> Iterator[list[Item]]:
    """Turns of a few questions on one database, each database once before any is there again."""
    by_database: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda item: _hashed(seed, item["id"])):
        if item["gold_rows"]:
            by_database.setdefault(item["db"], []).append(item)
    order = sorted(by_database, key=lambda name: _hashed(seed, name))
    for start in range(0, max(map(len, by_database.values())), EACH_TURN):
        for name in order:
            if turn := by_database[name][start : start + EACH_TURN]:
                yield turn


def _hashed(seed: int, text: str) -> str:
    return hashlib.sha256(f"{seed}:{text}".encode()).hexdigest()


class Author:
    """Writes the statements for one question."""

    def __init__(self, model: ChatModel, place: Place, item: Item, seed: int) -> None:
        self._model = model
        self._place = place
        self._random = random.Random(f"{seed}:{item['id']}")  # noqa: S311 - a seeded draw, no secret
        user = prompt("generate_user", schema=place.text, values="", question=item["question"])
        self._prompt = Prompt(prompt("generate_system"), user, "```sql\n")
        self._deadline = Deadline(time.monotonic() + SECONDS)

    async def write(self) -> list[Written]:
        """Distinct statements, the greedy one first; they are not judged yet."""
        first = await self._complete((), 0.0, 0)
        wanted: list[tuple[tuple[ColumnKey, ...], float]] = [((mask,), 0.0) for mask in self._masks(first)]
        wanted += [((), TEMPERATURE)] * (SAMPLES + MASKED - len(wanted))
        others = await asyncio.gather(
            *(self._complete(mask, heat, seed) for seed, (mask, heat) in enumerate(wanted, 1))
        )
        distinct: dict[str, Written] = {}
        for each in (first, *others):
            if each is not None:
                distinct.setdefault(each.sql, each)
        return list(distinct.values())

    def _masks(self, first: Written | None) -> list[ColumnKey]:
        if first is None:
            return []
        try:
            read = resolve(first.sql, self._place.snapshot)
        except (NLError, UnreadableError):
            return []
        tables = {key[:2] for key in read.columns}
        used = [*read.columns, *((*table, WHOLE_TABLE) for table in read.tables if table not in tables)]
        return self._random.sample(sorted(used), min(MASKED, len(used)))

    async def _complete(self, mask: tuple[ColumnKey, ...], heat: float, seed: int) -> Written | None:
        try:
            grammar = sql_grammar(self._place.snapshot, frozenset(mask))
            done = await self._model.complete(
                self._prompt,
                deadline=self._deadline,
                max_tokens=TOKENS,
                grammar=grammar,
                temperature=heat,
                seed=seed,
            )
        except (NLError, ValueError):
            return None
        return self._written(done, mask, heat) if done.finished else None

    def _written(self, done: Completion, mask: tuple[ColumnKey, ...], heat: float) -> Written:
        text = _LINE_BREAK.sub(" ", done.text.split("```", maxsplit=1)[0].strip().rstrip(";").strip())
        sql = repair(Rewritten(text), Context(self._place.snapshot)).sql
        return Written(sql, right=False, runs=False, logprob=done.logprob, masked=mask, temperature=heat)


async def _ask(options: argparse.Namespace, dsn: str, model: ChatModel) -> None:
    judge = Judge(options.bench, dsn)
    until = time.monotonic() + 60 * options.minutes
    done = _done(options.out)
    with options.out.open("a", encoding="utf-8") as out:
        for turn in drawn(read_items(options.bench / "spider" / "train.jsonl"), options.seed):
            if time.monotonic() > until:
                return
            left = [item for item in turn if item["id"] not in done]
            place = await _place(dsn, turn[0]["db"])
            if not left or len(place.text) > LONGEST:
                continue
            authors = [Author(model, place, item, options.seed) for item in left]
            answers = await asyncio.gather(*(author.write() for author in authors))
            for item, written in zip(left, answers, strict=True):
                verdicts = judge.verdicts(item, [each.sql for each in written])
                if verdicts is not None:
                    out.write(json.dumps(_line(item, written, verdicts)) + "\n")
            out.flush()


def _line(item: Item, written: list[Written], verdicts: list[tuple[bool, bool]]) -> dict[str, object]:
    candidates = [
        {**asdict(each), "right": right, "runs": runs}
        for each, (right, runs) in zip(written, verdicts, strict=True)
    ]
    kept = {key: item[key] for key in ("id", "db", "question", "gold")}
    return {**kept, "candidates": candidates}


def _done(out: Path) -> Collection[str]:
    return {item["id"] for item in read_items(out)} if out.exists() else set()


async def _place(dsn: str, name: str) -> Place:
    connection = await asyncpg.connect(dsn, statement_cache_size=0)
    try:
        snapshot = await introspect(connection, Database(name, dsn, DATA, (name,), (name,)))
    finally:
        await connection.close()
    text, shown = schema_text(snapshot, ())
    return Place(shown, text)


@asynccontextmanager
async def loaded(bench: Path, work: Path) -> AsyncIterator[str]:
    """The DSN of a PostgreSQL that holds Spider's data, which is kept in `work` and stopped at the end."""
    running = await asyncio.to_thread(cluster.start, work / "postgres")
    try:
        connection = await asyncpg.connect(running.dsn())
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", DATA):
            await connection.execute(f"CREATE DATABASE {DATA}")
        await connection.close()
        dsn = running.dsn(DATA)
        loader = [sys.executable, str(bench / "load.py"), "--dsn", dsn, "--what", "spider"]
        await asyncio.to_thread(subprocess.run, loader, check=True, capture_output=True)
        yield dsn
    finally:
        await asyncio.to_thread(cluster.stop, running)


async def _run(options: argparse.Namespace) -> None:
    async with loaded(options.bench, options.work) as dsn, metering() as meter:
        with model_server(meter, options.work / "model.log"):
            model = ChatModel(ModelSettings(base_url=meter.url), meter.url)
            await _ask(options, dsn, model)
            await model.aclose()


def main() -> int:
    """Asks until the minutes are over or all is asked; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="the data's folder")
    parser.add_argument("--out", type=Path, required=True, help="the file to write or to go on with")
    parser.add_argument("--work", type=Path, required=True, help="for PostgreSQL's data and the model's log")
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(_run(parser.parse_args()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
