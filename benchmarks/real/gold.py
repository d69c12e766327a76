"""Runs the gold statements and shows what they find, for whoever reviews them.

Owns what a gold statement must do: run, and find something that a person can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import asyncpg
from rich.console import Console

from benchmarks.real.databases import SCHEMAS
from benchmarks.real.questions import RealQuestion
from pgparley.cluster import Cluster
from schema_catalog.pg import Connection

ROWS = 1_000
"""That an answer may have at most: more is no answer for a person."""


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
