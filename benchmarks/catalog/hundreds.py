"""A question over 502 tables beside the same one over ten of them: seconds of all stages, the model's prompt included.

The ten are a small trading company's, in the schema `trade`. The others stand in seven schemas, have keys among
themselves, 8 to 24 columns or 200 each, and rows. Values of all columns of text are allowed. Needs the embedded model.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import asyncpg
from rich.console import Console

from benchmarks.harness.command import Options
from benchmarks.harness.machine import cpu_seconds
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import Question
from benchmarks.harness.site import OneDatabase, Site, forget_store, readable, serving
from benchmarks.harness.systems import Place, asked_now
from engine.app import pipeline
from engine.values.errors import NLError
from engine.values.state import State
from pgparley.cluster import Cluster
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import Database

SMALL, LARGE = ARMS = ("tables_10", "tables_502")
OTHERS, WIDE, MANY = 492, 200, 25
"""Tables beside the ten; one in `MANY` of them has `WIDE` columns."""

REFERRING = 0.7
"""Share of the others that refer to one of them."""

SCHEMAS = ("finance", "people", "plant", "fleet", "lab", "portal", "archive")
THINGS = """ledger voucher budget posting asset claim grant roster shift course contract applicant machine sensor batch
recipe valve inspection vehicle trip driver fuel route sample assay reagent protocol session page ticket survey visit
consent backup snapshot export audit notice tariff""".split()  # noqa: SIM905 - a list of quoted words reads no better
PARTS = """header item log plan rule type status history detail note target limit reading link group share period
summary""".split()  # noqa: SIM905 - as above
COLUMNS = """code title label remark opened_on closed_on amount quantity ratio priority owner reason region level origin
kind channel unit score total deadline approved batch_no grade reference""".split()  # noqa: SIM905 - as above
TYPES = {"on": "date", "amount": "numeric", "quantity": "integer", "ratio": "numeric", "score": "integer"}

TRADE = """
CREATE SCHEMA trade;
CREATE TABLE trade.customer (customer_id int PRIMARY KEY, name text NOT NULL, city text, since date);
CREATE TABLE trade.supplier (supplier_id int PRIMARY KEY, name text NOT NULL, country text);
CREATE TABLE trade.product (product_id int PRIMARY KEY, name text NOT NULL, list_price numeric,
  supplier_id int REFERENCES trade.supplier);
CREATE TABLE trade.salesperson (salesperson_id int PRIMARY KEY, name text NOT NULL, hired date);
CREATE TABLE trade.sales_order (order_id int PRIMARY KEY, customer_id int REFERENCES trade.customer,
  salesperson_id int REFERENCES trade.salesperson, ordered_on date);
CREATE TABLE trade.order_line (order_id int REFERENCES trade.sales_order, line_no int,
  product_id int REFERENCES trade.product, pieces int, PRIMARY KEY (order_id, line_no));
CREATE TABLE trade.warehouse (warehouse_id int PRIMARY KEY, town text, square_meters int);
CREATE TABLE trade.stock (warehouse_id int REFERENCES trade.warehouse, product_id int REFERENCES trade.product,
  on_hand int, PRIMARY KEY (warehouse_id, product_id));
CREATE TABLE trade.delivery (delivery_id int PRIMARY KEY, order_id int REFERENCES trade.sales_order, carrier text,
  delivered_on date);
CREATE TABLE trade.complaint (complaint_id int PRIMARY KEY, delivery_id int REFERENCES trade.delivery, said text);
INSERT INTO trade.customer SELECT n, 'Customer ' || n, (ARRAY['Graz', 'Linz', 'Turin'])[n % 3 + 1],
  date '2020-01-01' + 40 * n FROM generate_series(1, 24) n;
INSERT INTO trade.supplier SELECT n, 'Supplier ' || n, (ARRAY['Italy', 'Austria'])[n % 2 + 1]
  FROM generate_series(1, 7) n;
INSERT INTO trade.product SELECT n, 'Product ' || n, 3 * n + 1, n % 7 + 1 FROM generate_series(1, 30) n;
INSERT INTO trade.salesperson SELECT n, 'Seller ' || n, date '2018-03-01' + 100 * n FROM generate_series(1, 5) n;
INSERT INTO trade.sales_order SELECT n, n % 20 + 1, n % 5 + 1, date '2025-01-01' + n FROM generate_series(1, 90) n;
INSERT INTO trade.order_line SELECT n % 90 + 1, n / 90 + 1, n % 29 + 1, n % 9 + 1 FROM generate_series(0, 249) n;
INSERT INTO trade.warehouse VALUES (1, 'Villach', 900), (2, 'Trieste', 1400), (3, 'Wels', 650);
INSERT INTO trade.stock SELECT n % 3 + 1, n / 3 + 1, n * 7 % 40 FROM generate_series(0, 80) n;
INSERT INTO trade.delivery SELECT n, n, (ARRAY['Falcon', 'Hermelin'])[n % 2 + 1], date '2025-01-04' + n
  FROM generate_series(1, 80) n;
INSERT INTO trade.complaint SELECT n, 3 * n, (ARRAY['late', 'broken', 'wrong item'])[n % 3 + 1]
  FROM generate_series(1, 20) n;
"""

QUESTIONS = {
    "How many customers are in Turin?": "SELECT count(*) FROM trade.customer WHERE city = 'Turin'",
    "What is the average list price of the products?": "SELECT avg(list_price) FROM trade.product",
    "Which warehouse has the most square meters? Give the town.": (
        "SELECT town FROM trade.warehouse ORDER BY square_meters DESC LIMIT 1"
    ),
    "How many deliveries did the carrier Hermelin make?": (
        "SELECT count(*) FROM trade.delivery WHERE carrier = 'Hermelin'"
    ),
    "How many sales orders did each salesperson take? Show the name and the number.": (
        "SELECT s.name, count(*) FROM trade.salesperson s JOIN trade.sales_order USING (salesperson_id) GROUP BY s.name"
    ),
    "List the names of the products of suppliers from Austria.": (
        "SELECT p.name FROM trade.product p JOIN trade.supplier s USING (supplier_id) WHERE s.country = 'Austria'"
    ),
    "How many pieces of Product 7 are on hand in all warehouses together?": (
        "SELECT sum(on_hand) FROM trade.stock JOIN trade.product USING (product_id) WHERE name = 'Product 7'"
    ),
    "How many complaints said that something was broken?": (
        "SELECT count(*) FROM trade.complaint WHERE said = 'broken'"
    ),
}
"""With a statement that gives the right rows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a question. `seconds`: of the processor, the engine's and the model's; `wall`: by the clock.

    `prefilled`: tokens of prompts that the model had to read. `said`: where no statement came.
    """

    question: str
    seconds: float
    wall: float
    prefilled: int
    stages: dict[str, float]
    first: bool
    found: bool
    said: str = ""


async def measured(options: Options, console: Console) -> dict[str, list[Asked]]:
    """What became of the questions, by the number of tables; a question before the first of each is not counted."""

    async def fill(running: Cluster) -> Sequence[Database]:
        await _fill(running, options.work / "filled")
        named = (*SCHEMAS, "trade")
        return tuple(
            readable(Database(arm, running.dsn(arm), arm, ("trade",) if arm == SMALL else named))
            for arm in ARMS
        )

    async with serving(options.work, fill) as place:
        found: dict[str, list[Asked]] = {}
        for arm in ARMS:
            with model_server(place.meter, options.work / "model.log") as server:
                clock = partial(_processor, server)
                asked = (next(iter(QUESTIONS)), *[*QUESTIONS][: options.n])
                rows = []
                for each in asked:
                    rows.append(await _asked(place, arm, each, clock))
                    console.print(arm, asdict(rows[-1]), markup=False)
            found[arm] = rows[1:]
        return found


def summary(found: dict[str, list[Asked]]) -> dict[str, float | None]:
    """The median seconds of each arm, and what the many tables take more; shares of the right ones."""
    told: dict[str, float | None] = {}
    for arm, some in found.items():
        told[f"{arm}_p50_s"] = statistics.median(each.seconds for each in some)
        told[f"{arm}_first"] = sum(each.first for each in some) / len(some)
        told[f"{arm}_found"] = sum(each.found for each in some) / len(some)
        told[f"{arm}_answered"] = sum(not each.said for each in some) / len(some)
    told["tables_502_to_10"] = (told[f"{LARGE}_p50_s"] or 0) / (told[f"{SMALL}_p50_s"] or 1)
    return told


def _processor(server: int) -> float:
    return time.process_time() + cpu_seconds((server,))


async def _asked(site: Site, arm: str, question: str, clock: Callable[[], float]) -> Asked:
    home = site.places[arm]
    tools = replace(site.tools, catalog=OneDatabase(home))
    await asyncio.to_thread(tools.router.prepare, [home.snapshot])
    site.meter.take(0.0)
    began, spent = time.perf_counter(), clock()
    said, state = "", None
    try:
        state = await pipeline.run(asked_now(Question("", question, arm), 3), tools, pipeline.STAGES)
        said = "" if state.refusal is None else state.refusal.words
    except NLError as problem:
        said = problem.message
    used, cost = clock() - spent, site.meter.take(time.perf_counter() - began)
    right = [] if state is None else await _right(home, state, QUESTIONS[question])
    stages = {} if state is None else {each.stage: each.seconds for each in state.timings}
    first, found = right[:1] == [True], any(right)
    return Asked(question, used, cost.seconds, cost.prefilled, stages, first, found, said)


async def _right(home: Place, state: State, gold: str) -> list[bool]:
    path = ", ".join(map(quote_ident, home.snapshot.search_path))
    connection = await asyncpg.connect(home.database.dsn, server_settings={"search_path": path})
    try:
        wanted = await _rows(connection, gold)
        return [await _rows(connection, each.sql) == wanted for each in state.candidates[: state.k]]
    finally:
        await connection.close()


async def _rows(connection: asyncpg.Connection, sql: str) -> list[list[str]]:
    try:
        return sorted(sorted(map(str, row)) for row in await connection.fetch(sql))
    except asyncpg.PostgresError:
        return []


async def _fill(running: Cluster, mark: Path) -> None:
    if mark.is_file():  # noqa: ASYNC240 - nothing else runs yet
        return
    await forget_store(running)
    for arm in ARMS:
        connection = await asyncpg.connect(running.dsn())
        await connection.execute(f"DROP DATABASE IF EXISTS {arm}")
        await connection.execute(f"CREATE DATABASE {arm}")
        await connection.close()
        connection = await asyncpg.connect(running.dsn(arm))
        await connection.execute("SET search_path = trade; " + TRADE)
        for statement in others() if arm == LARGE else ():
            await connection.execute(statement)
        await connection.execute("ANALYZE")
        await connection.close()
    mark.touch()  # noqa: ASYNC240 - as above


def others() -> Iterator[str]:
    """The statements that make the other tables, each with five rows, the same ones in every run."""
    chance = random.Random(7)  # noqa: S311 - names, no secrets
    names = [f"{thing}_{part}" for thing in THINGS for part in PARTS]
    chance.shuffle(names)
    made: list[str] = []
    for name in SCHEMAS:
        yield f"CREATE SCHEMA {name}"
    for number in range(OTHERS):
        schema = SCHEMAS[number % len(SCHEMAS)]
        table = f"{schema}.{names[number]}"
        key = f"{names[number]}_id"
        columns = _columns(chance, WIDE if number % MANY == 0 else chance.randint(8, 24))
        referred = chance.choice(made) if made and chance.random() < REFERRING else None
        refers = f", parent_id int REFERENCES {referred}" if referred else ""
        body = ", ".join(f"{column} {kind}" for column, kind in columns)
        yield f"CREATE TABLE {table} ({key} int PRIMARY KEY, {body}{refers})"
        values = ", ".join(_value(column, kind) for column, kind in columns)
        yield f"INSERT INTO {table} SELECT n, {values}{', n' if referred else ''} FROM generate_series(1, 5) n"  # noqa: S608 - our own
        made.append(table)


def _columns(chance: random.Random, count: int) -> list[tuple[str, str]]:
    pairs = [f"{thing}_{column}" for thing in chance.sample(THINGS, 12) for column in COLUMNS]
    names = [*chance.sample(COLUMNS, min(8, count)), *chance.sample(pairs, max(0, count - 8))]
    return [(name, TYPES.get(name.rsplit("_", 1)[-1], "text")) for name in names]


def _value(column: str, kind: str) -> str:
    if kind == "text":
        return f"{quote_literal(column.replace('_', ' ') + ' ')} || n"
    return "current_date - n" if kind == "date" else "n"
