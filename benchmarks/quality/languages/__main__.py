"""Runs the benchmark: see `benchmarks.quality.languages`.

    python -m benchmarks.quality.languages [--half 0|1] [--n N] [--k K]

`--half`: 1 for the questions with odd numbers alone, 0 for those with even ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import asyncpg
from rich.console import Console

from benchmarks.harness.command import Options, finished, options_of, parser, told_command
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import Question
from benchmarks.harness.report import Grid, Part, Run, printed, write_result
from benchmarks.harness.running import replaying
from benchmarks.harness.site import OneDatabase, Site, forget_store, prepared, readable, serving
from benchmarks.harness.systems import asked_now
from engine import pipeline
from engine.core.state import State
from engine.errors import NLError
from pgparley.cluster import Cluster
from schema_catalog.types import Database

MODULE = "benchmarks.quality.languages"


@dataclass(frozen=True, slots=True)
class Read:
    """What became of a question. `calls`: of the model; `said`: where no statement came; `sql`: the first one."""

    id: str
    question: str
    first: bool
    found: bool
    calls: int
    sql: str = ""
    said: str = ""

    @property
    def kind(self) -> str:
        """Its language, and the schema's where that is another."""
        return self.id.rpartition("-")[0]


def cases() -> list[dict[str, Any]]:
    """The databases, each with its questions: id, text, and a statement that gives the right rows."""
    found: list[dict[str, Any]] = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))
    return found


def main() -> int:
    """Measures, prints the table, returns the exit status (2: wrong options, another run; 130: stopped)."""
    return finished(lambda: options_of(parser(MODULE, __doc__, k=3).parse_args()), _run, Console(width=150))


async def _run(options: Options, console: Console) -> None:
    async with serving(options.work, _fill) as place:
        with replaying(place, options.work) as replay, model_server(place.meter, options.work / "model.log"):
            tools = replace(place.tools, model=replay)
            site = replace(place, tools=tools)
            rows = []
            for case in cases():
                for each in _of(case, options):
                    rows.append(await _read(site, case["name"], each, options.k))
                    console.print(asdict(rows[-1]), markup=False)
    kinds = {
        kind: [each for each in rows if each.kind == kind]
        for kind in dict.fromkeys(each.kind for each in rows)
    }
    table = [_counted(kind, some) for kind, some in (*kinds.items(), ("all", rows))]
    printed(console, [Grid("languages", ("language-schema", "n", "first", "in the set"), table)])
    if options.json is not None:
        run = Run("languages", told_command(MODULE, sys.argv[1:]), options.seed, {"k": options.k})
        shares = {
            f"{name}_{what}": int(count) / int(n)
            for name, n, *both in table
            for what, count in zip(("first", "found"), both, strict=True)
        }
        write_result(
            options.json, run, {"languages": Part(len(rows), [asdict(each) for each in rows], shares)}
        )


def _counted(kind: str, some: Sequence[Read]) -> tuple[str, ...]:
    return kind, str(len(some)), str(sum(each.first for each in some)), str(sum(each.found for each in some))


def _of(case: dict[str, Any], options: Options) -> list[list[str]]:
    return [
        each
        for each in case["questions"]
        if options.half is None or int(each[0].rpartition("-")[2]) % 2 == options.half
    ][: options.n]


async def _read(site: Site, database: str, case: Sequence[str], k: int) -> Read:
    key, question, gold = case
    home = site.places[database]
    tools = replace(site.tools, catalog=OneDatabase(home))
    state = asked_now(Question(key, question, database), k)
    try:
        done = await pipeline.run(state, tools, pipeline.CANDIDATE_STAGES)
    except NLError as problem:
        return Read(key, question, first=False, found=False, calls=0, said=problem.message)
    right = await _right(home.database.dsn, done, gold)
    said = "" if done.refusal is None else done.refusal.words
    sql = done.candidates[0].sql if done.candidates else ""
    return Read(key, question, right[:1] == [True], any(right), done.usage.calls, sql, said)


async def _right(dsn: str, state: State, gold: str) -> list[bool]:
    connection = await asyncpg.connect(dsn)
    try:
        wanted = await _rows(connection, gold)
        return [await _rows(connection, each.sql) == wanted for each in state.candidates[: state.k]]
    finally:
        await connection.close()


async def _rows(connection: asyncpg.Connection, sql: str) -> list[list[str]]:
    """Whatever the order of rows and columns, numbers alike."""
    try:
        return sorted(
            sorted(f"{float(each):.6f}" if hasattr(each, "as_tuple") else str(each) for each in row)
            for row in await connection.fetch(sql)
        )
    except asyncpg.PostgresError:
        return []


async def _fill(running: Cluster) -> Sequence[Database]:
    await forget_store(running)
    for case in cases():
        await prepared(running, case["name"])
        connection = await asyncpg.connect(running.dsn(case["name"]))
        await connection.execute(f"DROP SCHEMA public CASCADE; CREATE SCHEMA public; {case['ddl']}")
        await connection.close()
    return tuple(
        readable(Database(each["name"], running.dsn(each["name"]), each["name"], ("public",)))
        for each in cases()
    )


if __name__ == "__main__":
    sys.exit(main())
