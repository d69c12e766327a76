"""The demo's questions, asked through a real psql, and the verdict on each answer."""

from __future__ import annotations

import asyncio
import csv
import os
import tempfile
import time
from pathlib import Path

import asyncpg
from rich.console import Console

from pgparley.demo.prepare import ANALYST
from pgparley.demo.questions import ASKED_BACK, QUESTIONS, REFUSED, Question, answers
from pgparley.demo.site import Site

RIGHT = "right"

_RECORDS = "\\set QUIET on\n\\pset format wrapped\n\\x on\n"
"""Answers are shown whole, in 100 columns."""

_TABLE = "\\pset format aligned\n\\x auto\n"


async def ask_all(site: Site, console: Console) -> int:
    """Asks every question, chooses the first candidate, and returns the number of right answers."""
    console.print(f"$ psql {site.uri}\n")
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, question in enumerate(QUESTIONS, 1):
            answer = Path(folder) / f"answer-{number}.csv"
            rows = Path(folder) / f"rows-{number}.csv"
            began = time.monotonic()
            console.print(await _psql(site, _script(question, answer, rows)), markup=False, end="")
            verdict = await _judge(site, question, _read(answer), _read(rows))
            right += verdict == RIGHT
            console.print(f"-- {verdict}, {time.monotonic() - began:.1f} s\n", style="dim", markup=False)
    return right


async def talk(site: Site, console: Console) -> bool:
    """Asks a question that needs an answer, and one that has none; returns whether both went so."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = []
        for number, lines in enumerate((ASKED_BACK, REFUSED), 1):
            first = Path(folder) / f"first-{number}.csv"
            shown = f"\\set ECHO none\nNL SHOW \\g (format=csv expanded=off) {first}\n\\set ECHO queries\n"
            # What the five questions taught would answer what is to be asked back.
            forgotten = "\\set ECHO none\nNL FORGET ALL \\g /dev/null\n\\set ECHO queries\n"
            script = f"{forgotten}{_RECORDS}NL: $${lines[0]}$$;\n{shown}" + "".join(
                f"{line};\n" for line in lines[1:]
            )
            console.print(await _psql(site, script), markup=False)
            kinds.append({row["kind"] for row in _read(first)})
    return kinds == [{"option"}, {"abstain"}]


def _script(question: Question, answer: Path, rows: Path) -> str:
    """What the analyst types, and each result once more as CSV for the judge."""
    return (
        "\\set ECHO none\nSET nl.ask = off;\n\\set ECHO queries\n"
        f"{_RECORDS}NL: $${question.text}$$;\n"
        f"{_TABLE}NL CHOOSE 1;\n"
        "\\set ECHO none\n"
        f"NL SHOW \\g (format=csv expanded=off) {answer}\n"
        f"NL CHOOSE 1 \\g (format=csv expanded=off) {rows}\n"
    )


async def _psql(site: Site, script: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(str(site.psql), "--echo-queries", site.uri),
        env={**os.environ, "PSQLRC": str(site.psqlrc)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    return (await process.communicate(script.encode()))[0].decode()


def _read(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


async def _judge(
    site: Site, question: Question, answer: list[dict[str, str]], rows: list[dict[str, str]]
) -> str:
    """`RIGHT`, or the fault. The hand-written statements run directly on the database."""
    if not answer:
        return "no answer"
    if answer[0]["database"] != question.database:
        return f"wrong database: {answer[0]['database'] or 'none'}"
    got = [tuple(row.values()) for row in rows]
    direct = await asyncpg.connect(site.cluster.dsn(question.database, ANALYST))
    try:
        for statement in question.gold:
            if answers(got, [tuple(row) for row in await direct.fetch(statement)]):
                return RIGHT
    finally:
        await direct.close()
    return "other rows than the hand-written statements give"
