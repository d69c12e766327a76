"""Plays what is right as a model's only reading: none of it may be replaced, and none may be doubted.

    python -m benchmarks.quality.models.played [--bench FOLDER] [--json FILE] [--outcomes FILE]

The questions name periods in many ways, and ask for what small databases of many trades hold. It is a ceiling: what a
model that is always right would be shown as. Needs no model.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import asyncpg
from rich.console import Console

from benchmarks.harness.command import Options, measuring, parser, told_command
from benchmarks.harness.drawing import read_items
from benchmarks.harness.questions import Question
from benchmarks.harness.report import Grid, Part, Run, printed, write_lines, write_result
from benchmarks.harness.site import DATA, Site, named, prepared, serving
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.recorded import answering_with, reply, shown
from engine.app import pipeline
from engine.llm.replies import statement
from engine.values.errors import NLError
from pgparley.cluster import Cluster
from schema_catalog.types import Database

MODULE = "benchmarks.quality.models.played"

CALLS = 6
SURE = 0.5
"""What is first with less is doubted."""

SALES = """CREATE TABLE sale (sale_id int PRIMARY KEY, sold_on date NOT NULL, amount numeric NOT NULL);
INSERT INTO sale SELECT n, date '2024-01-01' + n * 7 % 1090, n FROM generate_series(1, 2000) AS n"""
"""What the questions about periods are asked of."""


@dataclass(frozen=True, slots=True)
class Given:
    """A question, and what is right. `schema`: of the database that it is asked of."""

    id: str
    set: str
    schema: str
    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of it. `first`: it stands first as it was written; `confidence`: of what does, None of nothing.

    `doubted`: the asker is told that it is hardly what was asked.
    """

    id: str
    set: str
    sql: str
    first: bool
    confidence: float | None
    shown: tuple[str, ...] = ()
    why: str = ""
    doubted: bool = False


def main() -> int:
    """Measures, prints what was lost, returns the exit status (2: no data; 130: stopped)."""
    return measuring(parser(MODULE, __doc__, k=3), Options, _run)


def given(bench: Path) -> list[Given]:
    """The questions of both sets."""
    periods = read_items(bench / "strong/periods.jsonl")
    field = read_items(bench / "field/questions.jsonl")
    return [
        *(Given(each["id"], "periods", "periods", each["question"], each["statement"]) for each in periods),
        *(Given(each["id"], "field", each["case"], each["question"], each["golds"][0]) for each in field),
    ]


async def _run(options: Options, console: Console) -> None:
    asked = given(options.bench)[: options.n]
    schemas = {each.schema: options.bench / "field" / f"{each.schema}.sql" for each in asked}

    async def fill(running: Cluster) -> tuple[Database, ...]:
        await prepared(running, DATA)
        connection = await asyncpg.connect(running.dsn(DATA))
        for name, script in schemas.items():
            sql = script.read_text(encoding="utf-8") if script.is_file() else SALES
            await connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")
            await connection.execute(f"SET search_path TO {name}; {sql}")
        await connection.close()
        return tuple(named(running, name) for name in schemas)

    async with serving(options.work, fill) as place:
        found = [await _fate(each, place, options.k) for each in asked]
    parts = {f"played_{name}": _part([each for each in found if each.set == name]) for name in _names(found)}
    lost = [
        (each.id, each.sql, f"{each.confidence or 0:.3f}", each.why) for each in found if not _whole(each)
    ]
    printed(
        console, [Grid("Not shown as it was written, or doubted", ("question", "given", "at", "why"), lost)]
    )
    console.print({name: dict(part.summary) for name, part in parts.items()})
    if options.outcomes is not None:
        write_lines(options.outcomes, found)
    if options.json is not None:
        run = Run(
            "models", told_command(MODULE, sys.argv[1:]), options.seed, {"k": options.k, "calls": CALLS}
        )
        write_result(options.json, run, parts)


def _names(found: Sequence[Fate]) -> list[str]:
    return list(dict.fromkeys(each.set for each in found))


def _whole(fate: Fate) -> bool:
    return fate.first and not fate.doubted and (fate.confidence or 0.0) > SURE


def _part(found: Sequence[Fate]) -> Part:
    name = found[0].set
    counts = {
        f"{name}_overridden": float(sum(not each.first for each in found)),
        f"{name}_doubted": float(sum(each.first and not _whole(each) for each in found)),
        f"{name}_alone": float(sum(_whole(each) and len(each.shown) == 1 for each in found)),
    }
    return Part(len(found), [asdict(each) for each in found if not _whole(each)], counts)


async def _fate(asked: Given, place: Site, k: int) -> Fate:
    async with answering_with(place.tools, {asked.question: reply((asked.question, asked.sql))}) as tools:
        try:
            state = await pipeline.run(
                asked_now(Question(asked.id, asked.question, asked.schema), k, CALLS), tools
            )
        except NLError as error:
            return Fate(asked.id, asked.set, asked.sql, first=False, confidence=None, why=error.message)
    rows = shown(state)
    if not rows:
        why = state.refusal.words if state.refusal is not None else state.trace[-1].detail
        return Fate(asked.id, asked.set, asked.sql, first=False, confidence=None, why=why)
    return Fate(
        asked.id,
        asked.set,
        asked.sql,
        first=rows[0].sql == statement(asked.sql),
        confidence=rows[0].confidence,
        shown=tuple(each.sql for each in rows),
        why="; ".join(change.how for each in rows for change in each.changes),
        doubted=state.doubtful,
    )


if __name__ == "__main__":
    sys.exit(main())
