"""What pgparley itself takes for a question, by the number of tables, with a model that answers at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import asyncpg

from benchmarks.harness.questions import Question
from benchmarks.harness.site import Site
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.recorded import answering_with, reply
from engine import pipeline
from pgparley.cluster import Cluster

SIZES = (10, 300)
ASKED = 40
"""Questions of each size; none is asked twice, and the first ones, of a schema that is not known yet, do not count."""

UNCOUNTED = 5
_THINGS = (
    "order",
    "invoice",
    "customer",
    "product",
    "shipment",
    "payment",
    "visit",
    "contract",
    "ticket",
    "course",
)
_COLUMNS = "id int PRIMARY KEY, title text, state text, amount numeric, made_on date, city text, note text"


def schema(size: int) -> str:
    """The name of a schema of so many tables."""
    return f"tables_{size}"


async def made(running: Cluster, database: str) -> Sequence[str]:
    """Makes the schemas where they are missing; their names."""
    connection = await asyncpg.connect(running.dsn(database))
    try:
        for size in SIZES:
            if not await connection.fetchval("SELECT to_regnamespace($1) IS NOT NULL", schema(size)):
                tables = "".join(
                    f"CREATE TABLE {schema(size)}.{_table(n)} ({_COLUMNS});" for n in range(size)
                )
                await connection.execute(f"CREATE SCHEMA {schema(size)};{tables}")
    finally:
        await connection.close()
    return [schema(size) for size in SIZES]


def _table(number: int) -> str:
    return f"{_THINGS[number % len(_THINGS)]}_{number}"


def _question(number: int, size: int) -> tuple[str, str]:
    table = _table(number * 7 % size)
    text = f"What is the total amount of {table.replace('_', ' ')} above {number + 10} in Graz?"
    return text, f"SELECT sum(amount) FROM {table} WHERE amount > {number + 10} AND city = 'Graz'"  # noqa: S608 - our own names


async def own_milliseconds(place: Site, size: int) -> float:
    """The median of the questions to a schema of `size` tables, the wait for the model among it."""
    asked = [_question(number, size) for number in range(ASKED)]
    said = {text: reply((text, sql)) for text, sql in asked}
    took = []
    async with answering_with(place.tools, said) as tools:
        for text, _ in asked:
            began = time.perf_counter()
            state = await pipeline.run(asked_now(Question("", text, schema(size)), 3), tools)
            took.append(time.perf_counter() - began)
            if not state.candidates:
                raise ValueError(f"no answer to {text}: {state.trace[-1].detail}")
    return 1000 * median(took[UNCOUNTED:])
