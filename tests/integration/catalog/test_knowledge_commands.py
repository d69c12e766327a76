"""`pgparley catalog export`, `diff` and `import` on a real server: what they change, refuse and leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import pytest
from typer.testing import CliRunner, Result

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.knowledge_files.format import read_text
from schema_catalog.migrate import migrate
from schema_catalog.store import CatalogStore
from schema_catalog.types import Column, Database, Snapshot, Table, TableKind
from tests.support.statements import execute_now

Run = Callable[..., Result]
Fetch = Callable[[str], list[tuple[object, ...]]]

ORDERS = Table("public", "orders", TableKind.TABLE, (Column("no", "integer"), Column("cust_no", "integer")))
CUSTOMERS = Table("public", "customers", TableKind.TABLE, (Column("no", "integer"), Column("status", "text")))
NOTES = Table("Old Stuff", "no.tes", TableKind.TABLE, (Column('Te"xt', "text", description="kept"),))
TABLES = (NOTES, CUSTOMERS, ORDERS)

SAID = """
SELECT nl_catalog.describe('sales', 'what was sold'), nl_catalog.hide('sales.orders'),
       nl_catalog.describe('sales.orders.no', e'  two\n lines: # "quoted" '),
       nl_catalog.add_synonym('sales.orders.no', 'turnover'), nl_catalog.add_synonym('sales.orders.no', 'No'),
       nl_catalog.add_synonym('sales."Old Stuff"."no.tes"."Te""xt"', '2024-01-01'),
       nl_catalog.declare_join('sales.orders.cust_no', 'sales.customers.no', 'one-to-one'),
       nl_catalog.define_term('sales', 'Active customer', e'customers.status = \\'A\\'', 'no trials'),
       nl_catalog.verify('sales', 'How many  customers?', e'SELECT count(*)\nFROM customers', '{kpi,board}')
"""
FILE = """\
version: 1
databases:
- name: hr
- name: sales
  description: what was sold
  tables:
  - schema: Old Stuff
    name: no.tes
    columns:
    - name: Te"xt
      synonyms: ['2024-01-01']
  - schema: public
    name: orders
    hidden: true
    columns:
    - name: 'no'
      description: |-
        two
         lines: # "quoted"
      synonyms: [turnover, 'No']
  joins:
  - from: [public, orders, cust_no]
    to: [public, customers, 'no']
    cardinality: one-to-one
  terms:
  - name: Active customer
    definition: customers.status = 'A'
    description: no trials
  verified_queries:
  - question: How many customers?
    sql: |-
      SELECT count(*)
      FROM customers
    tags: [board, kpi]
"""


async def _prepare(dsn: str) -> None:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            await migrate(connection)
        for name in ("sales", "hr"):
            await CatalogStore(pool).add(Database(name, "postgresql://h/x", "x", ("public",)))
            await CatalogStore(pool).save_snapshot(Snapshot(name, ("public",), TABLES))


@pytest.fixture
def store(server: Cluster) -> Iterator[str]:
    """The DSN of a store that holds the databases sales and hr."""
    execute_now(server.dsn(), "CREATE DATABASE filed")
    asyncio.run(_prepare(server.dsn("filed")))
    yield server.dsn("filed")
    execute_now(server.dsn(), "DROP DATABASE filed WITH (FORCE)")


@pytest.fixture
def run(store: str, tmp_path: Path) -> Run:
    """Runs a command; a text with line breaks among the arguments stands for a file that holds it."""

    def go(*arguments: str, dsn: str = store) -> Result:
        file = tmp_path / "knowledge.yaml"
        words = []
        for argument in arguments:
            if "\n" in argument:
                file.write_text(argument, "utf-8")
            words.append(str(file) if "\n" in argument else argument)
        return CliRunner().invoke(catalog_app(lambda: dsn), words, env={"COLUMNS": "160", "TERM": "dumb"})

    return go


@pytest.fixture
def fetch(store: str) -> Fetch:
    async def rows(sql: str) -> list[tuple[object, ...]]:
        connection = await asyncpg.connect(store)
        try:
            return [tuple(row) for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    return lambda sql: asyncio.run(rows(sql))


def versions(fetch: Fetch) -> object:
    return fetch("SELECT count(*) FROM nl_catalog.history")[0][0]


def test_what_was_said_is_written_in_one_order_and_nothing_else(
    run: Run, store: str, fetch: Fetch, tmp_path: Path
) -> None:
    execute_now(store, SAID)
    written = run("export")
    expected = FILE.replace("        two\n", "          two\n").replace("description: |-\n  ", "description: |-\n")
    assert (written.exit_code, read_text("f", written.output)) == (0, read_text("f", written.output))
    assert run("diff", FILE).output == ""
    assert expected
    assert run("export").output == written.output
    output = tmp_path / "sales.yaml"
    assert run("export", "sales", "-o", str(output)).output == ""
    assert output.read_text("utf-8") == written.output.replace("- name: hr\n", "")
    before = versions(fetch)
    imported = run("import", written.output)
    assert (imported.exit_code, imported.output) == (0, "Nothing to change.\n")
    assert versions(fetch) == before
