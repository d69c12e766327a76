"""The sets: which databases they need, what is asked of whom, and how much of what is shown is right.

Owns the three of them. Gold is read where answers are judged and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from benchmarks.harness.drawing import Item, read_items
from benchmarks.harness.questions import clear_of_half_a, unrecorded
from benchmarks.harness.report import write_lines
from benchmarks.harness.scorer import scored
from benchmarks.harness.site import DATA, forget_store, load, named, prepared, readable
from benchmarks.quality.workday.cases import run_cases
from pgparley.cluster import Cluster
from pgparley.demo.questions import answers
from schema_catalog.types import Database

HERE = Path(__file__).parent

NOWHERE = ""
"""The database of somebody who is connected to none that is registered."""

SECONDS = 20.0
"""For a statement that is judged: a product of whole tables is no answer."""

CLEAR, AMBIGUOUS = 60, 46
"""Of AMBROSIA: clear questions of its half A, and ambiguous ones that no recording holds."""


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it is put. `connected`: to which database; `db`: the one that is named, None where none is."""

    id: str
    text: str
    own: str
    connected: str = NOWHERE
    db: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What an asker sees of one: a database and a statement each, the first one first."""

    put: Put
    rows: tuple[tuple[str, str], ...]


Judged = Callable[[Cluster, Path, Path, Sequence[Shown]], Awaitable[Mapping[str, float]]]
"""Figures of a server, the bench's folder, a folder to write in, and what was shown."""


@dataclass(frozen=True, slots=True)
class AskedSet:
    """`made`: its databases on a server; `puts`: its questions; `judged`: what of the answers is right."""

    name: str
    made: Callable[[Cluster, Path], Awaitable[Sequence[Database]]]
    puts: Callable[[Path], Sequence[Put]]
    judged: Judged


def everyday_items() -> list[Item]:
    """The questions, each with its database and the statements that are right."""
    return list(read_items(HERE / "questions.jsonl"))


def everyday_files() -> list[Path]:
    """The files that make the databases, which have their names."""
    return sorted((HERE / "databases").glob("*.sql"))


async def everyday_made(running: Cluster, _: Path | None = None) -> Sequence[Database]:
    """The databases on `running`, made where they are missing."""
    found = []
    for file in everyday_files():
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


def _everyday_puts(_: Path) -> Sequence[Put]:
    return [
        Put(
            f"{item['id']}-{'connected' if connected else 'elsewhere'}",
            item["question"],
            item["db"],
            connected,
        )
        for item in everyday_items()
        for connected in (item["db"], NOWHERE)
    ]


async def _everyday_judged(
    running: Cluster, _: Path, __: Path, found: Sequence[Shown]
) -> Mapping[str, float]:
    golds = {item["id"]: item["golds"] for item in everyday_items()}
    right = {"connected": 0, "elsewhere": 0}
    for each in found:
        question, how = each.put.id.rsplit("-", 1)
        if each.rows and each.rows[0][0] == each.put.own:
            right[how] += await right_everyday(running, each.put.own, each.rows[0][1], golds[question])
    return {f"{how}_first": float(n) for how, n in right.items()}


async def right_everyday(running: Cluster, name: str, sql: str, golds: Sequence[str]) -> bool:
    """Whether a statement gives the rows of one of `golds` in time."""
    connection = await asyncpg.connect(running.dsn(name), command_timeout=SECONDS)
    try:
        got = [tuple(row) for row in await connection.fetch(sql)]
        return any([answers(got, [tuple(row) for row in await connection.fetch(gold)]) for gold in golds])
    except TimeoutError:
        return False
    finally:
        await connection.close()


def field_database(case: str) -> str:
    """The catalog's name of a case's database."""
    return f"workday_{case}"


def field_items(bench: Path) -> list[Item]:
    """The cases after public reports."""
    return list(read_items(bench / "field/questions.jsonl"))


async def field_made(running: Cluster, bench: Path) -> Sequence[Database]:
    """The cases' databases on `running`, made anew; the catalog of before is forgotten."""
    await forget_store(running)
    await asyncio.to_thread(run_cases, bench, running.dsn(), "load", "--cases", str(bench / "field"))
    names = [field_database(case) for case in dict.fromkeys(item["case"] for item in field_items(bench))]
    return [readable(Database(name, running.dsn(name), name, ("public",))) for name in names]


def _field_puts(bench: Path) -> Sequence[Put]:
    return [
        Put(item["id"], item["question"], name, name)
        for item in field_items(bench)
        for name in (field_database(item["case"]),)
    ]


async def _field_judged(
    running: Cluster, bench: Path, folder: Path, found: Sequence[Shown]
) -> Mapping[str, float]:
    given = [
        {"id": each.put.id, "candidates": [{"sql": sql} for name, sql in each.rows if name == each.put.own]}
        for each in found
    ]
    ranks = list((await field_ranks(running, bench, folder, given)).values())
    return {"first": float(ranks.count(1)), "in_the_set": float(sum(rank is not None for rank in ranks))}


async def field_ranks(
    running: Cluster, bench: Path, folder: Path, given: Sequence[Item]
) -> dict[str, int | None]:
    """The place of the first right statement of each prediction, from 1, by its id."""
    predictions, report = folder / "field.jsonl", folder / "field.json"
    write_lines(predictions, given)
    words = (
        "score",
        "--cases",
        str(bench / "field"),
        "--predictions",
        str(predictions),
        "--json",
        str(report),
    )
    await asyncio.to_thread(run_cases, bench, running.dsn(), *words)
    return {item["id"]: item["rank"] for item in json.loads(report.read_text())["items"]}


def ambrosia_items(bench: Path) -> list[Item]:
    """Those that no recording holds, by the hash of their ids: ambiguous ones, and clear ones of half A."""
    ambiguous = [item for item in unrecorded(bench) if item["ambiguous"]]
    return [*ambiguous[:AMBIGUOUS], *clear_of_half_a(bench)[:CLEAR]]


async def _ambrosia_made(running: Cluster, bench: Path) -> Sequence[Database]:
    await prepared(running, DATA)
    await asyncio.to_thread(load, running, bench, ("ambrosia",))
    return [named(running, name) for name in sorted({item["db"] for item in ambrosia_items(bench)})]


def _ambrosia_puts(bench: Path) -> Sequence[Put]:
    return [Put(item["id"], item["question"], item["db"], db=item["db"]) for item in ambrosia_items(bench)]


async def _ambrosia_judged(
    running: Cluster, bench: Path, folder: Path, found: Sequence[Shown]
) -> Mapping[str, float]:
    given = [{"id": each.put.id, "candidates": [{"sql": sql} for _, sql in each.rows]} for each in found]
    questions = bench / "ambrosia/questions.jsonl"
    report = await asyncio.to_thread(
        scored, bench, "readings", questions, given, folder / "ambrosia", dsn=running.dsn(DATA)
    )
    return {str(name): float(value) for name, value in report["figures"].items() if value is not None}


SETS = (
    AskedSet("everyday", everyday_made, _everyday_puts, _everyday_judged),
    AskedSet("field", field_made, _field_puts, _field_judged),
    AskedSet("ambrosia", _ambrosia_made, _ambrosia_puts, _ambrosia_judged),
)
