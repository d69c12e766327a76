"""`pgparley catalog import --from`: files of other tools on a real server, below what people say and below comments."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import asyncpg
import pytest
import yaml

from pgparley.catalog_commands import catalog_app
from schema_catalog.catalog import CachedCatalog
from schema_catalog.store import CatalogStore
from schema_catalog.types import Snapshot
from tests.support.commands import Run, runner
from tests.support.dbt_project import LEFT_OUT, PROPERTIES, TABLES, TAKEN
from tests.support.statements import execute_now, fetch_now

Fetch = Callable[[str], list[asyncpg.Record]]


@pytest.fixture
def store(make_store_now: Callable[..., str]) -> str:
    """The DSN of a store that holds the databases sales and hr."""
    return make_store_now(*(Snapshot(name, ("public",), TABLES) for name in ("sales", "hr")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A dbt project that was never compiled."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "schema.yml").write_text(PROPERTIES, "utf-8")
    return tmp_path


@pytest.fixture
def run(store: str) -> Run:
    return runner(catalog_app(lambda: store))


@pytest.fixture
def fetch(store: str) -> Fetch:
    return partial(fetch_now, store)


def of_dbt(command: str, path: Path, *options: str) -> tuple[str, ...]:
    return (command, str(path), "--from", "dbt", "--database", "sales", *options)


def test_a_dbt_project_is_taken_over_once(run: Run, fetch: Fetch, project: Path) -> None:
    rehearsed = run(*of_dbt("import", project, "--dry-run"))
    assert rehearsed.exit_code == 0, rehearsed.output
    assert fetch("SELECT count(*) FROM nl_catalog.history") == [(0,)]
    compared = run(*of_dbt("diff", project))
    assert compared.exit_code == 1
    assert rehearsed.output.startswith(compared.output)
    imported = run(*of_dbt("import", project))
    lines = imported.output.splitlines(keepends=True)
    assert sorted(line for line in lines if line[0] == "+") == sorted(TAKEN.splitlines(keepends=True))
    assert set(LEFT_OUT.splitlines(keepends=True)) <= set(lines)
    again = run(*of_dbt("import", project))
    assert again.output.endswith("Nothing to change.\n")
    assert run(*of_dbt("diff", project)).exit_code == 0


def test_people_and_comments_stand_before_an_import(
    run: Run, fetch: Fetch, store: str, project: Path
) -> None:
    execute_now(
        store,
        "SELECT nl_catalog.describe('sales.orders', 'what was ordered'),"
        " nl_catalog.add_synonym('sales.orders', 'Purchase'),"
        " nl_catalog.define_term('sales', 'net revenue', 'sum(orders.net)')",
    )
    imported = run(*of_dbt("import", project))
    assert (
        "! metric Net revenue is not taken over: a DBA defined it already (schema.yml, line 67)"
        in imported.output
    )
    assert "2 descriptions stand behind others: nl_catalog.conflicts shows them" in imported.output
    assert fetch(
        "SELECT description, synonyms FROM nl_catalog.tables WHERE element = 'sales.public.orders'"
    ) == [("what was ordered", ["Purchase", "buying"])]
    assert fetch(
        "SELECT element, problem, description, comment, source, imported FROM nl_catalog.conflicts ORDER BY 1"
    ) == [
        ("sales.public.customers.name", "import differs", None, "as in the contract", "dbt", "who pays"),
        ("sales.public.orders", "import differs", "what was ordered", None, "dbt", "one line an order"),
    ]
    assert fetch("SELECT count(*) FROM nl_catalog.said") == [(1,)]
    exported = run("export", "sales").output
    assert "turnover" not in exported
    assert "food" not in exported

    async def seen() -> Snapshot:
        async with asyncpg.create_pool(store, min_size=1, max_size=1) as pool:
            entries = await CachedCatalog(CatalogStore(pool)).entries()
            return next(snapshot for database, snapshot in entries if database.name == "sales")

    customers, orders, raw = asyncio.run(seen()).tables
    assert (orders.description, orders.synonyms) == ("what was ordered", ("Purchase", "buying"))
    assert [column.description for column in customers.columns] == [None, "as in the contract"]
    assert orders.columns[2].synonyms == ("turnover", "revenue")
    assert raw.description == "as they came"
    execute_now(store, "SELECT nl_catalog.describe('sales.orders', NULL)")
    assert asyncio.run(seen()).tables[1].description == "one line an order"


def test_what_an_import_says_can_be_taken_back_and_restored(
    run: Run, fetch: Fetch, store: str, project: Path
) -> None:
    run(*of_dbt("import", project))
    said = "SELECT element, description, synonyms FROM nl_catalog.imported ORDER BY 1"
    before = fetch(said)
    [(version,)] = fetch(
        "SELECT max(version) FROM nl_catalog.history WHERE element = 'sales.public.orders' AND source = 'dbt'"
    )
    execute_now(
        store, "UPDATE pgparley.snapshot SET body = jsonb_set(body, '{tables}', (body -> 'tables') - 1)"
    )
    execute_now(store, "UPDATE pgparley.database SET newest = newest")
    assert ("gone",) in fetch(
        "SELECT problem FROM nl_catalog.conflicts WHERE element = 'sales.public.orders'"
    )
    (project / "models" / "schema.yml").write_text("models: []\n", "utf-8")
    emptied = run(*of_dbt("import", project))
    assert emptied.exit_code == 0, emptied.output
    assert fetch(said) == []
    assert fetch("SELECT * FROM nl_catalog.terms") == []
    asyncio.run(_newest(store))
    execute_now(store, f"SELECT nl_catalog.restore({version})")
    assert fetch(said) == [each for each in before if each[0] == "sales.public.orders"]
    assert fetch("SELECT count(*) FROM nl_catalog.said") == [(0,)]


async def _newest(dsn: str) -> None:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        await CatalogStore(pool).save_snapshot(Snapshot("sales", ("public",), TABLES))


MANIFEST = """
nodes:
  model.shop.customers:
    {name: customers, resource_type: model, schema: public, alias: customers, description: who buys,
     columns: {id: {name: id, description: '', meta: {synonyms: [number]}}},
     config: {materialized: table, meta: {}}}
  model.shop.orders: {name: stg, resource_type: model, schema: public, alias: orders, columns: {}}
  model.shop.part: {name: part, resource_type: model, schema: public, config: {materialized: ephemeral}}
  test.shop.one:
    {name: one, resource_type: test, attached_node: model.shop.orders, column_name: customer_id,
     test_metadata: {name: relationships, kwargs: {to: ref('customers'), field: id, column_name: customer_id}}}
sources: {}
metrics:
  metric.shop.net:
    {name: net, type: simple,
     type_params: {metric_aggregation_params: {semantic_model: o, agg: sum, expr: net}}}
semantic_models:
  semantic_model.shop.o: {name: o, node_relation: {alias: orders, schema_name: public}}
"""


def test_a_manifest_says_the_same(run: Run, project: Path) -> None:
    (project / "target").mkdir()
    manifest = json.dumps(yaml.safe_load(MANIFEST))
    (project / "target" / "manifest.json").write_text(manifest, "utf-8")
    imported = run(*of_dbt("import", project))
    assert imported.output == (
        "+ sales.public.customers description: who buys\n"
        "+ sales.public.customers.id synonym: number\n"
        "+ sales join public.orders.customer_id = public.customers.id: many-to-one\n"
        "+ sales term net: SUM(orders.net)\n"
        "4 changes.\n"
    )


OSI = """\
version: 0.2.0.dev0
semantic_model:
- name: shop
  datasets:
  - name: o
    source: warehouse.public.orders
    primary_key: [id]
    description: one line an order
    ai_context: {synonyms: [purchase], instructions: be kind}
    fields:
    - name: amount
      expression: {dialects: [{dialect: SNOWFLAKE, expression: x}, {dialect: ANSI_SQL, expression: net}]}
      description: without VAT
    - name: doubled
      expression: {dialects: [{dialect: ANSI_SQL, expression: net * 2}]}
  - name: c
    source: {kind: table, object: public.customers}
  - name: q
    source: select 1
  relationships:
  - {name: buys, from: o, to: c, from_columns: [customer_id], to_columns: [id]}
  metrics:
  - name: net_revenue
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(o.amount)}]}
    ai_context: {synonyms: [turnover]}
  - name: both
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(o.amount) / count(c.id)}]}
  - name: of_field
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(o.doubled)}]}
"""


def test_an_open_semantic_file_is_taken_over(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(OSI, "utf-8")
    imported = run("import", str(file), "--from", "osi", "--database", "sales")
    assert imported.output == (
        "+ sales.public.orders description: one line an order\n"
        "+ sales.public.orders synonym: purchase\n"
        "+ sales.public.orders.id key: unique\n"
        "+ sales.public.orders.net description: without VAT\n"
        "+ sales join public.orders.customer_id = public.customers.id: many-to-one\n"
        "+ sales term net revenue: SUM(orders.net)\n"
        "+ sales term turnover: SUM(orders.net)\n"
        "! field o.doubled is not taken over: it is no column of the table (shop.yaml, line 14)\n"
        "! dataset q is not taken over: its source is no name of a table (shop.yaml, line 18)\n"
        "! metric of_field is not taken over: it reads the field doubled, which is no column of the table"
        " (shop.yaml, line 28)\n"
        "! metric both is not taken over: it reads several tables (shop.yaml, line 26)\n"
        "7 changes.\n"
    )


BOMB = "a: &a [x]\nb: [*a, *a]\n"


def test_what_is_no_file_of_the_tool_is_refused(run: Run, fetch: Fetch, tmp_path: Path) -> None:
    for name, text, said in (
        ("schema.yml", BOMB, "line 1: anchors and aliases (& and *) are not taken; write it out."),
        ("schema.yml", "models:\n- description: x\n", "line 2: Object missing required field `name`"),
        ("manifest.json", "{", "this is no JSON:"),
        ("manifest.json", '{"nodes": ' + "[" * 100_000, ""),
        ("schema.yml", "x" * 20_000_001, "is too large: 20 MB are allowed."),
        ("manifest.json", " " * 50_000_001, "is too large: 50 MB are allowed."),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        refused = run(*of_dbt("import", tmp_path / name))
        assert refused.exit_code == 1
        assert name in refused.output
        assert said in refused.output
        assert len(refused.output) < 1000
        assert fetch("SELECT count(*) FROM nl_catalog.history") == [(0,)]


def test_hostile_texts_are_data(run: Run, fetch: Fetch, tmp_path: Path) -> None:
    text = "'); DROP TABLE pgparley.imported; -- <script>alert(1)</script>\x1b[2J $$ \\ %s"
    node = {
        "name": "orders",
        "resource_type": "model",
        "schema": "public",
        "description": text + "\x00",
        "meta": {"synonyms": ["'; DROP", "a\x1bb", "x" * 61, 7, None]},
        "columns": {text: {"name": text, "description": "x"}},
    }
    metric = {"name": "m", "type": "simple", "type_params": {"measure": text}, "label": text}
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps({"nodes": {"model.x": node}, "metrics": {"metric.m": metric}}), "utf-8")
    imported = run(*of_dbt("import", file))
    assert imported.exit_code == 0, imported.output
    assert "\x1b" not in imported.output
    assert fetch("SELECT element, description, synonyms FROM nl_catalog.imported") == [
        ("sales.public.orders", text, ["'; DROP"])
    ]


def test_an_import_neither_hides_nor_verifies_nor_changes_what_people_say(store: str, fetch: Fetch) -> None:
    execute_now(store, "SELECT nl_catalog.define_term('sales', 'mine', 'sum(orders.net)')")
    for call, state in (
        ("hide('sales.orders')", "22023"),
        ("verify('sales', 'how many?', 'SELECT 1')", "42501"),
        ("define_term('sales', 'mine', 'max(orders.net)')", "42501"),
        ("drop_term('sales', 'mine')", "42501"),
        ("import_as('Robert''); DROP')", "22023"),
    ):
        with pytest.raises(asyncpg.PostgresError) as refused:
            execute_now(store, f"BEGIN; SELECT nl_catalog.import_as('dbt'); SELECT nl_catalog.{call}")
        assert refused.value.sqlstate == state
        assert refused.value.detail
        assert refused.value.hint
    assert fetch("SELECT definition, source FROM nl_catalog.terms") == [("sum(orders.net)", None)]
