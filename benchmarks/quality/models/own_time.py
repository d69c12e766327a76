"""What pgparley itself takes for a question, and what its prompt holds, by the number of tables.

The model answers at once. Tables have forty rows; their text may be shown.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import asyncpg

from benchmarks.harness.questions import Question
from benchmarks.harness.site import Site
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.recorded import answering_with, reply
from engine.app import pipeline
from engine.app.prompt_log import RecordingModel
from engine.app.warmup import prepared
from engine.values.ports import Prompt
from pgparley.cluster import Cluster

SIZES = (10, 60, 300, 1_000)
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
_ROWS = (
    "SELECT n, 'no. ' || n, (ARRAY['open', 'paid', 'sent', 'lost'])[1 + n % 4], n, current_date - n,"
    " 'city ' || n % 20, CASE WHEN n % 2 = 0 THEN 'call first' END FROM generate_series(1, 40) AS n"
)
_VALUES = re.compile(r" \[[^\]\n]*\]")
TOKEN = 3.6
"""Characters of a token, of the tokenizers of most services, in schemas."""


def schema(size: int) -> str:
    """The name of a schema of so many tables."""
    return f"tables_{size}"


async def made(running: Cluster, database: str) -> Sequence[str]:
    """Makes the schemas where they are missing; their names."""
    connection = await asyncpg.connect(running.dsn(database))
    try:
        for size in SIZES:
            if not await connection.fetchval("SELECT to_regnamespace($1) IS NOT NULL", schema(size)):
                names = [f"{schema(size)}.{_table(n)}" for n in range(size)]
                tables = "".join(
                    f"CREATE TABLE {name} ({_COLUMNS}); INSERT INTO {name} {_ROWS};" for name in names
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


@dataclass(frozen=True, slots=True)
class Own:
    """`prepared_ms`: what an engine does by itself when it meets a schema. `first_ms`: the first question thereafter.

    `later_ms`: the median of the others.

    `characters`, `tokens`: of the prompt. `values`: share of its schema that are values. `cached`: least share of a
    prompt that begins as the one before.
    """

    prepared_ms: float
    first_ms: float
    later_ms: float
    characters: float
    tokens: float
    values: float
    cached: float


async def own(place: Site, size: int) -> Own:
    """Of the questions to a schema of `size` tables, the wait for the model among the time."""
    asked = [_question(number, size) for number in range(ASKED)]
    said = {text: reply((text, sql)) for text, sql in asked}
    took, prompts = list[float](), list[Prompt]()
    began = time.perf_counter()
    await prepared(place.tools, [(each.database, each.snapshot) for each in (place.places[schema(size)],)])
    preparing = time.perf_counter() - began
    async with answering_with(place.tools, said) as tools:
        for text, _ in asked:
            model = RecordingModel(tools.model)
            began = time.perf_counter()
            state = await pipeline.run(
                asked_now(Question("", text, schema(size)), 3), replace(tools, model=model)
            )
            took.append(time.perf_counter() - began)
            prompts.append(model.sent[0])
            if not state.candidates:
                raise ValueError(f"no answer to {text}: {state.trace[-1].detail}")
    texts = [f"{each.system}\n{each.user}" for each in prompts]
    described = prompts[-1].user.partition("\n\n### ")[0]
    return Own(
        prepared_ms=1000 * preparing,
        first_ms=1000 * took[0],
        later_ms=1000 * median(took[UNCOUNTED:]),
        characters=float(len(texts[-1])),
        tokens=len(texts[-1]) / TOKEN,
        values=sum(map(len, _VALUES.findall(described))) / len(described),
        cached=min(_common(*pair) / len(pair[1]) for pair in pairwise(texts)),
    )


def _common(one: str, other: str) -> int:
    """Characters with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
