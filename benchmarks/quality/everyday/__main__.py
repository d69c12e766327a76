"""Asks the everyday questions through a service: see `benchmarks.quality.everyday`.

python -m benchmarks.quality.everyday [--model URL [--name NAME] [--key KEY]] [--json FILE] [--outcomes FILE]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import asyncpg
from rich.console import Console

from benchmarks.harness.command import finished, plain_parser, told_command
from benchmarks.harness.drawing import Item, read_items
from benchmarks.harness.questions import Question
from benchmarks.harness.report import Grid, Part, Run, printed, write_lines, write_result
from benchmarks.harness.site import Site, prepared, readable, serving
from benchmarks.harness.systems import READER, asked_now
from benchmarks.quality.models.recorded import answering_with, asking_for_readings, reply, shown
from engine import pipeline
from engine.api.prompt_log import RecordingModel
from engine.core.deadline import Deadline
from engine.core.tools import Tools
from engine.errors import NLError
from engine.llm.client import ChatModel
from engine.llm.settings import ModelSettings
from engine.types import Asker
from pgparley.cluster import Cluster
from pgparley.config import cache_dir
from pgparley.demo.questions import answers
from schema_catalog.types import Database

MODULE = "benchmarks.quality.everyday"
HERE = Path(__file__).parent
CALLS = 6
"""Of the model for a question at most, as for a user's."""

NOWHERE = ""
"""The database of somebody who is connected to none that is registered."""

CANNOT = "There is nothing about it"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question. `asked`: the model was. `right`: the first statement gives the rows of a gold one.

    `databases`: those that the model was shown. `refusal`: in the asker's words. `error`: of the service, as where a
    recorder has no answer yet.
    """

    id: str
    db: str
    connected: bool
    asked: bool
    right: bool
    databases: tuple[str, ...]
    database: str | None
    sql: str | None
    refusal: str | None
    error: str | None
    seconds: float


def items() -> list[Item]:
    """The questions, each with its database and the statements that are right."""
    return list(read_items(HERE / "questions.jsonl"))


def databases() -> list[Path]:
    """The files that make the databases, which have their names."""
    return sorted((HERE / "databases").glob("*.sql"))


def main() -> int:
    """Measures, prints the figures, returns the exit status (2: a wrong option, another run; 130: stopped)."""
    made = plain_parser(MODULE, __doc__)
    made.add_argument("--work", type=Path, default=cache_dir() / "bench-everyday", help="for the server")
    made.add_argument("--model", help="the service's base address; none: a stand-in that never can")
    made.add_argument("--name", default="strong", help="the model's name there")
    made.add_argument("--key", help="the service's key")
    made.add_argument("--outcomes", type=Path, help="a line of JSON for each question")
    return finished(made.parse_args, _run)


async def _run(options: argparse.Namespace, console: Console) -> None:
    asked = items()
    async with serving(options.work, made) as place, _model(place.tools, asked, options) as tools:
        outcomes = [
            await asked_of(place, tools, item, connected=connected)
            for connected in (True, False)
            for item in asked
        ]
    _told(outcomes, options, console)


async def made(running: Cluster) -> Sequence[Database]:
    """The databases on `running`, made where they are missing."""
    found = []
    for file in databases():
        await prepared(running, file.stem)
        connection = await asyncpg.connect(running.dsn(file.stem))
        try:
            if not await connection.fetchval(
                "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public')"
            ):
                await connection.execute(file.read_text(encoding="utf-8"))
        finally:
            await connection.close()
        found.append(readable(Database(file.stem, running.dsn(file.stem), file.stem, ("public",))))
    return found


@asynccontextmanager
async def _model(tools: Tools, asked: Sequence[Item], options: argparse.Namespace) -> AsyncIterator[Tools]:
    if options.model is None:
        said = {item["question"]: reply(cannot=CANNOT) for item in asked}
        async with answering_with(tools, said) as given:
            yield given
        return
    settings = ModelSettings(base_url=options.model, model=options.name, api_key=options.key or "")
    model = ChatModel(settings, options.model)
    try:
        await model.find_out(Deadline(time.monotonic() + 60))
        yield asking_for_readings(tools, model)
    finally:
        await model.aclose()


async def asked_of(place: Site, tools: Tools, item: Item, *, connected: bool) -> Outcome:
    """One question, of somebody who is connected to its database or to none."""
    begun = asked_now(Question(item["id"], item["question"], None), 3, CALLS)
    asker = Asker(READER, item["db"] if connected else NOWHERE)
    model = RecordingModel(tools.model)
    began, error, refusal, first = time.perf_counter(), None, None, None
    routes: tuple[str, ...] = ()
    try:
        state = await pipeline.run(
            replace(begun, ask=replace(begun.ask, asker=asker)), replace(tools, model=model)
        )
        first = next(iter(shown(state)), None)
        routes = tuple(each.database.name for each in state.routes)
        refusal = None if state.refusal is None else state.refusal.explanation
        if first is None and refusal is None:
            refusal = "no route" if not state.routes else "no statement"
    except NLError as problem:
        error = problem.message
    seconds = time.perf_counter() - began
    right = first is not None and first.database == item["db"] and await _right(place, item, first.sql)
    database, sql = (None, None) if first is None else (first.database, first.sql)
    return Outcome(
        id=item["id"],
        db=item["db"],
        connected=connected,
        asked=bool(model.sent),
        right=right,
        databases=routes if model.sent else (),
        database=database,
        sql=sql,
        refusal=refusal,
        error=error,
        seconds=round(seconds, 3),
    )


async def _right(place: Site, item: Item, sql: str) -> bool:
    connection = await asyncpg.connect(place.cluster.dsn(item["db"]))
    try:
        got = [tuple(row) for row in await connection.fetch(sql)]
        golds = [[tuple(row) for row in await connection.fetch(gold)] for gold in item["golds"]]
    finally:
        await connection.close()
    return any(answers(got, gold) for gold in golds)


def _told(outcomes: Sequence[Outcome], options: argparse.Namespace, console: Console) -> None:
    parts = {}
    for name, connected in (("connected", True), ("not_connected", False)):
        own = [each for each in outcomes if each.connected is connected]
        figures = {
            "asked": sum(each.asked for each in own),
            "own_database_shown": sum(each.db in each.databases for each in own),
            "databases_shown": sum(len(each.databases) for each in own),
            "right": sum(each.right for each in own),
            "refused_unasked": sum(not each.asked for each in own),
            "errors": sum(each.error is not None for each in own),
            "own_ms": 1000 * median(each.seconds for each in own),
        }
        parts[name] = Part(len(own), figures, {key: float(value) for key, value in figures.items()})
    rows = [
        (name, str(part.n), key, f"{value:g}")
        for name, part in parts.items()
        for key, value in part.summary.items()
    ]
    printed(console, [Grid("Everyday questions", ("asker", "n", "figure", "value"), rows)])
    if options.outcomes is not None:
        write_lines(options.outcomes, outcomes)
    if options.json is not None:
        config = {"model": options.name if options.model else "a stand-in", "calls": CALLS}
        write_result(
            options.json, Run("everyday", told_command(MODULE, sys.argv[1:]), options.seed, config), parts
        )


if __name__ == "__main__":
    sys.exit(main())
