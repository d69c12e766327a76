"""Runs the benchmark: see `benchmarks.quality.day`.

    python -m benchmarks.quality.day [--json FILE] [--page benchmarks/results/day.md]

Makes the demo's databases, catalog and gateway in a folder of its own, asks, and ends them. The model alone is asked
the same questions afterwards, each with its database given.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import asyncpg
from rich.console import Console

from benchmarks.harness.command import plain_parser, told_command
from benchmarks.harness.model import metering, model_server
from benchmarks.harness.processes import free_port
from benchmarks.harness.questions import Question
from benchmarks.harness.report import Part, Run, Summary, write_result
from benchmarks.harness.systems import Alone, Place, Task
from benchmarks.quality.day.asking import Shown, by_jdbc, by_psql, by_psycopg
from benchmarks.quality.day.questions import answered
from engine.llm.client import ChatModel
from engine.values.model_settings import ModelSettings
from engine.values.tools import Tools
from pgparley import cluster as postgres
from pgparley.config import cache_dir
from pgparley.demo.prepare import ANALYST, STORE, prepare
from pgparley.demo.questions import answers
from pgparley.demo.run import configure, register
from pgparley.demo.serving import serving
from pgparley.demo.site import Site
from schema_catalog.introspect import introspect
from schema_catalog.types import Database

MODULE = "benchmarks.quality.day"
CLIENTS = {"psql": by_psql, "psycopg": by_psycopg, "pgjdbc": by_jdbc}
ALONE = "the model alone"
SURE = 0.5
"""A first statement that is wrong counts as wrongly sure above this confidence."""

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer, and the place of the first right statement from 1; None without one."""

    shown: Shown
    place: int | None


async def main() -> int:
    """Measures, prints, writes what the command line asks for; returns the exit status."""
    made = plain_parser(MODULE, __doc__)
    made.add_argument("--page", type=Path, help="write the page here")
    made.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-day", help="for databases and catalog"
    )
    given = made.parse_args()
    console = Console(width=160)
    asked = answered()
    given.work.mkdir(parents=True, exist_ok=True)
    site = Site(given.work, await asyncio.to_thread(postgres.start, given.work / "postgres"), free_port())
    try:
        found = await _through_clients(site, asked, console)
        found[ALONE] = await _alone(site, asked)
    finally:
        await asyncio.to_thread(postgres.stop, site.cluster)
    flat, page = summary(found), written(asked, found)
    console.print(page, markup=False)
    console.print(flat)
    if given.json is not None:
        run = Run("day", told_command(MODULE, sys.argv[1:]), given.seed, {"k": "the default"})
        rows = [
            {"question": one["question"], **{name: each[n].place for name, each in found.items()}}
            for n, one in enumerate(asked)
        ]
        write_result(given.json, run, {"day": Part(len(asked), rows, flat)})
    if given.page is not None:
        given.page.write_text(page, encoding="utf-8")
    return 0


async def _through_clients(site: Site, asked: Sequence[Item], console: Console) -> dict[str, list[Judged]]:
    await forgotten(site, STORE)
    databases = await prepare(site.cluster, console)
    configure(site)
    await register(site, databases)
    found = {}
    async with serving(site, console, keep=False):
        for name, ask in CLIENTS.items():
            shown = await ask(site, [each["question"] for each in asked])
            if shown is None:
                console.print(f"{name} is not on this machine")
                continue
            found[name] = await judged(site, asked, shown)
            console.print(f"{name}: {sum(each.place == 1 for each in found[name])} right first")
    return found


async def forgotten(site: Site, *names: str) -> None:
    """Drops these databases: the store of an earlier run may be another version's, and knows what was asked."""
    server = await asyncpg.connect(site.cluster.dsn(), timeout=10)
    try:
        for name in names:
            await server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    finally:
        await server.close()


async def _alone(site: Site, asked: Sequence[Item]) -> list[Judged]:
    shown = []
    async with metering() as meter:
        with model_server(meter, site.home / "model.log"):
            model = ChatModel(ModelSettings(base_url=meter.url), meter.url)
            tools = cast("Tools", SimpleNamespace(model=model))
            places = {
                name: await _schema(site, name) for name in sorted({each["database"] for each in asked})
            }
            for each in asked:
                name = each["database"]
                began = time.monotonic()
                (only,) = await Alone().answer(
                    Task(Question("", each["question"], name), places[name], tools)
                )
                shown.append(Shown(((name, only.sql),), "candidate", time.monotonic() - began))
            await model.aclose()
    return await judged(site, asked, shown)


async def _schema(site: Site, name: str) -> Place:
    database = Database(name, site.cluster.dsn(name), name, ("public",))
    connection = await asyncpg.connect(database.dsn)
    try:
        return Place(database, await introspect(connection, database))
    finally:
        await connection.close()


async def judged(site: Site, asked: Sequence[Item], shown: Sequence[Shown]) -> list[Judged]:
    """Each answer, its statements run as the analyst."""
    return [
        Judged(one, await _place(site, each, one.candidates)) for each, one in zip(asked, shown, strict=True)
    ]


async def _place(site: Site, asked: Item, candidates: Sequence[tuple[str, str]]) -> int | None:
    direct = await asyncpg.connect(site.cluster.dsn(asked["database"], ANALYST), command_timeout=60)
    try:
        right = [_rows(await direct.fetch(sql)) for sql in asked["right"]]
        for place, (database, sql) in enumerate(candidates, 1):
            if database != asked["database"]:
                continue
            try:
                got = _rows(await direct.fetch(sql))
            except asyncpg.PostgresError:
                continue
            if any(answers(got, rows) for rows in right):
                return place
    finally:
        await direct.close()
    return None


def _rows(records: Sequence[asyncpg.Record]) -> list[tuple[object, ...]]:
    """The rows; numbers with a fraction as far as a person reads them, whatever a statement rounds to."""
    return [tuple(float(f"{v:.4g}") if _fraction(v) else v for v in each) for each in records]


def _fraction(value: object) -> bool:
    return isinstance(value, Decimal | float) and value % 1 != 0


def summary(found: Mapping[str, Sequence[Judged]]) -> Summary:
    """By client: right first, right shown, right withheld is the rest; seconds; first wrong and sure."""
    flat: dict[str, float | None] = {}
    for name, some in found.items():
        key = _key(name)
        flat[f"{key}_first"] = sum(each.place == 1 for each in some)
        flat[f"{key}_shown"] = sum(each.place is not None for each in some)
        flat[f"{key}_seconds"] = round(statistics.median(each.shown.seconds for each in some), 2)
    first = next(iter(found.values()))
    flat["wrong_and_sure"] = sum(each.place != 1 and (each.shown.confidence or 0.0) > SURE for each in first)
    flat["seconds_ratio"] = round((flat["psql_seconds"] or 0.0) / (flat["model_alone_seconds"] or 1.0), 2)
    return flat


def written(asked: Sequence[Item], found: Mapping[str, Sequence[Judged]]) -> str:
    """The page: a table of the questions, and what was right of each."""
    flat = summary(found)
    names = list(found)
    lines = [
        "# A working day",
        "",
        "Questions of an analyst on the demo's five databases, asked one after the other of the embedded model.",
        "Nothing says which database each is about; only the model alone is told. A number is the place of the first",
        "right statement, - means that none was shown. psycopg and pgjdbc run in their default modes (in a",
        "transaction) and ask again what psql asked. `make bench-day` makes this page; what is right stands in",
        "`benchmarks/quality/day/questions.yaml`.",
        "",
        f"| question | database | {' | '.join(names)} | seconds in psql | confidence |",
        f"|---|---|{'---|' * (len(names) + 2)}",
    ]
    first = next(iter(found.values()))
    for n, each in enumerate(asked):
        places = " | ".join(
            str(found[name][n].place or f"- {_kind(found[name][n])}").strip() for name in names
        )
        confidence = first[n].shown.confidence
        sure = "" if confidence is None else f"{confidence:.2f}"
        lines.append(
            f"| {each['question']} | {each['database']} | {places} | {first[n].shown.seconds:.1f} | {sure} |"
        )
    total = " | ".join(
        f"{flat[f'{_key(name)}_first']:.0f} first, {flat[f'{_key(name)}_shown']:.0f} shown" for name in names
    )
    medians = ", ".join(f"{name} {flat[f'{_key(name)}_seconds']:.1f}" for name in names)
    lines += [f"| **{len(asked)}** | | {total} | | |", "", f"Median seconds: {medians}.", ""]
    return "\n".join(lines)


def _key(name: str) -> str:
    return name.replace(" ", "_").removeprefix("the_")


def _kind(judged: Judged) -> str:
    return "" if judged.shown.candidates else f"({judged.shown.kind})"


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
