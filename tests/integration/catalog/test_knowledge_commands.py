"""`pgparley catalog export`, `diff` and `import` on a real server: what they change, refuse and leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import asyncpg
import pytest
from typer.testing import Result

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.dsn import with_user
from schema_catalog.knowledge_files.format import (
    ColumnBlock,
    DatabaseBlock,
    KnowledgeFile,
    TableBlock,
    read_text,
    write_text,
)
from schema_catalog.knowledge_files.merge import apply
from schema_catalog.store import CatalogStore
from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.support.commands import Run, runner
from tests.support.statements import connected, execute_now, fetch_now
from tests.support.waiting import until

Fetch = Callable[[str], list[asyncpg.Record]]

ORDERS = Table("public", "orders", TableKind.TABLE, (Column("no", "integer"), Column("cust_no", "integer")))
CUSTOMERS = Table("public", "customers", TableKind.TABLE, (Column("no", "integer"), Column("status", "text")))
NOTES = Table("Old Stuff", "no.tes", TableKind.TABLE, (Column('Te"xt', "text", description="kept"),))
TABLES = (NOTES, CUSTOMERS, ORDERS)

SAID = """
SELECT nl_catalog.describe('sales', 'what was sold'), nl_catalog.hide('sales.orders'),
       nl_catalog.describe('sales.orders.no', e'  two\n lines: # "quoted"'),
       nl_catalog.add_synonym('sales.orders.no', 'turnover'), nl_catalog.add_synonym('sales.orders.no', 'No'),
       nl_catalog.add_synonym('sales."Old Stuff"."no.tes"."Te""xt"', '2024-01-01'),
       nl_catalog.declare_join('sales.orders.cust_no', 'sales.customers.no', 'one-to-one'),
       nl_catalog.define_term('sales', 'Active customer', e'customers.status = \\'A\\'', 'no trials'),
       nl_catalog.verify('sales', 'How many  customers?', e'SELECT count(*)\nFROM customers', '{kpi,board}')
"""
EXPORTED = """\
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


@pytest.fixture
def store(make_store_now: Callable[..., str]) -> str:
    """The DSN of a store that holds the databases sales and hr."""
    return make_store_now(*(Snapshot(name, ("public",), TABLES) for name in ("sales", "hr")))


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
        return runner(catalog_app(lambda: dsn))(*words)

    return go


@pytest.fixture
def fetch(store: str) -> Fetch:
    return partial(fetch_now, store)


def versions(fetch: Fetch) -> object:
    return fetch("SELECT count(*) FROM nl_catalog.history")[0][0]


def test_what_was_said_is_written_in_one_order_and_nothing_else(
    run: Run, store: str, fetch: Fetch, tmp_path: Path
) -> None:
    execute_now(store, SAID)
    written = run("export")
    assert (written.exit_code, written.output) == (0, EXPORTED)
    assert write_text(read_text("file", EXPORTED).content) == EXPORTED
    compared = run("diff", EXPORTED)
    assert (compared.exit_code, compared.output) == (0, "")
    output = tmp_path / "sales.yaml"
    assert run("export", "sales", "-o", str(output)).output == ""
    assert output.read_text("utf-8") == EXPORTED.replace("- name: hr\n", "")
    before = versions(fetch)
    imported = run("import", EXPORTED)
    assert (imported.exit_code, imported.output) == (0, "Nothing to change.\n")
    assert versions(fetch) == before


def test_an_import_says_what_the_file_says_and_takes_back_what_it_lacks(
    run: Run, store: str, fetch: Fetch
) -> None:
    lines = """\
+ sales description: what was sold
+ sales."Old Stuff"."no.tes"."Te""xt" synonym: 2024-01-01
+ sales.public.orders hidden
+ sales.public.orders.no description: two\\n lines: # "quoted"
+ sales.public.orders.no synonym: No
+ sales.public.orders.no synonym: turnover
+ sales join public.orders.cust_no = public.customers.no: one-to-one
+ sales term Active customer: customers.status = 'A'; no trials
+ sales verified query How many customers?: SELECT count(*)\\nFROM customers #board #kpi
"""
    compared = run("diff", EXPORTED)
    assert (compared.exit_code, compared.output) == (1, lines)
    rehearsed = run("import", "--dry-run", EXPORTED)
    assert (rehearsed.exit_code, rehearsed.output) == (0, lines + "9 changes, all taken back.\n")
    assert versions(fetch) == 0
    assert run("import", EXPORTED).output == lines + "9 changes.\n"
    assert run("export").output == EXPORTED
    assert run("import", EXPORTED).output == "Nothing to change.\n"
    execute_now(store, "SELECT nl_catalog.describe('hr', 'people'), nl_catalog.hide('hr.orders')")
    other = """\
version: 1
databases:
- name: sales
  tables:
  - schema: public
    name: orders
    columns:
    - {name: no, description: the number, synonyms: [no, turnover]}
  joins:
  - {from: [public, customers, no], to: [public, orders, cust_no], cardinality: one-to-many}
  terms:
  - {name: active  customer, definition: " customers.status = 'B' "}
  verified_queries:
  - {question: how many customers, sql: SELECT 2, tags: [kpi]}
"""
    assert (
        run("import", other).output
        == """\
- sales description: what was sold
- sales."Old Stuff"."no.tes"."Te""xt" synonym: 2024-01-01
- sales.public.orders hidden
~ sales.public.orders.no description: two\\n lines: # "quoted" → the number
- sales.public.orders.no synonym: No
+ sales.public.orders.no synonym: no
~ sales join public.orders.cust_no = public.customers.no: one-to-one → many-to-one
~ sales term active customer: customers.status = 'A'; no trials → customers.status = 'B'
~ sales verified query how many customers: SELECT count(*)\\nFROM customers #board #kpi → SELECT 2 #kpi
9 changes.
"""
    )
    assert run("diff", other).exit_code == 0
    assert fetch("SELECT element, description, synonyms, hidden FROM nl_catalog.said ORDER BY element") == [
        ("hr", "people", [], False),
        ("hr.public.orders", None, [], True),
        ("sales.public.orders.no", "the number", ["turnover", "no"], False),
    ]
    nothing = "version: 1\ndatabases:\n- name: sales\n"
    assert run("import", nothing).exit_code == 0
    assert run("export", "sales").output == nothing
    assert fetch("SELECT DISTINCT database FROM nl_catalog.said") == [("hr",)]


SYNONYMS = "synonyms: [turnover, 'No']"
BAD = (
    ("name: sales", "name: shop", 'database "shop" is not registered, or not open to you'),
    ('name: Te"xt', "name: Text", 'sales."Old Stuff"."no.tes"."Text"'),
    ("name: orders", "name: buys", "sales.public.buys"),
    ("[public, customers,", "[public, clients,", "sales.public.clients.no"),
    (SYNONYMS, "synonyms: [turnover, 'turnover ']", "is given twice"),
    (SYNONYMS, 'synonyms: ["a\\x01b"]', "cannot be a synonym; A synonym is 1 to 60"),
    # Late in the file; what the format does not see and the functions refuse takes back what came before.
    ("tags: [board, kpi]", 'tags: ["a\\x01b"]', "cannot be a tag"),
)


def test_a_bad_file_changes_nothing_and_the_error_says_where(run: Run, fetch: Fetch) -> None:
    for good, bad, message in BAD:
        # Of a definition it says where that begins.
        begins = EXPORTED.index("- question:" if "tags" in good else good)
        line = EXPORTED[:begins].count("\n") + 1
        result = run("import", EXPORTED.replace(good, bad, 1))
        assert result.exit_code == 1
        assert f"knowledge.yaml, line {line}: " in result.output, message
        assert message in result.output
        assert versions(fetch) == 0


def test_a_store_of_an_older_version_is_left_as_it_is(run: Run, server: Cluster) -> None:
    for command in (("export",), ("diff", EXPORTED), ("import", EXPORTED)):
        result = run(*command, dsn=server.dsn())
        assert result.exit_code in (1, 2)
        assert "run `pgparley store migrate` first" in result.output


def test_a_steward_imports_for_their_databases_alone(run: Run, store: str, fetch: Fetch) -> None:
    roles = "steward_of_files", "reader_of_files"
    execute_now(
        store,
        f"CREATE ROLE {roles[0]} LOGIN IN ROLE nl_steward; CREATE ROLE {roles[1]} LOGIN",
        f"SELECT nl_catalog.grant_database('sales', '{roles[0]}'), nl_catalog.describe('hr', 'secret')",
    )
    try:
        theirs = with_user(store, roles[0])
        both = run("import", EXPORTED, dsn=theirs)
        assert (both.exit_code, "line 3: " in both.output) == (1, True)
        assert 'database "hr" is not registered, or not open to you' in both.output
        sales = EXPORTED.replace("- name: hr\n", "")
        assert run("import", sales, dsn=theirs).exit_code == 0
        assert run("export", dsn=theirs).output == sales
        assert run("diff", sales, dsn=theirs).exit_code == 0
        assert fetch("SELECT DISTINCT changed_by FROM nl_catalog.history WHERE database = 'sales'") == [
            (roles[0],)
        ]
        refused = run("export", dsn=with_user(store, roles[1]))
        assert (refused.exit_code, "for members of nl_admin and nl_steward" in refused.output) == (1, True)
    finally:
        execute_now(store, f"DROP ROLE {', '.join(roles)}")


def test_of_two_imports_at_once_the_second_sees_what_the_first_did(run: Run, store: str) -> None:
    one = read_text("one", EXPORTED)
    later = EXPORTED.replace("synonyms: [turnover, 'No']", "synonyms: [net]")
    two = read_text("two", later)

    async def both() -> list[int]:
        async with connected(store) as first, connected(store) as second:
            transaction = first.transaction()
            await transaction.start()
            done = len(await apply(first, one))

            async def other() -> int:
                async with second.transaction():
                    return len(await apply(second, two))

            waiting = asyncio.create_task(other())
            blocked = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"
            await until(lambda: first.fetchval(blocked))
            assert not waiting.done()
            await transaction.commit()
            return [done, await waiting]

    assert asyncio.run(both()) == [9, 3]
    assert run("diff", later).exit_code == 0


def test_more_descriptions_than_locks_come_in_at_once_and_hold_a_bounded_number_of_them(
    run: Run, store: str, fetch: Fetch
) -> None:
    tables = tuple(
        Table("public", f"t{n:03}", TableKind.TABLE, tuple(Column(f"c{c:02}", "text") for c in range(49)))
        for n in range(24)
    )

    async def widen() -> None:
        async with asyncpg.create_pool(store, min_size=1, max_size=1) as pool:
            await CatalogStore(pool).save_snapshot(Snapshot("hr", ("public",), tables))

    async def locks_of_describing_all() -> int:
        async with connected(store) as connection, connection.transaction():
            await connection.execute(
                "SELECT nl_catalog.describe(element, 'x') FROM nl_catalog.columns WHERE database = 'hr'"
            )
            held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
            return int(await connection.fetchval(held))

    asyncio.run(widen())
    text = "what it means to those who ask, in some sixty characters: "
    described = [
        TableBlock(
            table.schema,
            table.name,
            f"{text}{table.name}",
            columns=tuple(
                ColumnBlock(column.name, f"{text}{table.name}, {column.name}") for column in table.columns
            ),
        )
        for table in tables
    ]
    file = write_text(KnowledgeFile(1, (DatabaseBlock("hr", tables=tuple(described)),)))
    imported = run("import", file)
    assert (imported.exit_code, imported.output.splitlines()[-1]) == (0, "1200 changes.")
    assert run("export", "hr").output == file
    assert run("diff", file).exit_code == 0
    assert 500 < asyncio.run(locks_of_describing_all()) <= 1024
