"""`pgparley catalog export --to`: what was said in the forms of other tools, and back without loss, on a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pgparley.catalog_commands import catalog_app
from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.support.commands import Run, runner
from tests.support.statements import execute_now

TABLES = tuple(
    Table(schema, name, TableKind.TABLE, tuple(Column(column, "integer") for column in columns.split()))
    for schema, name, columns in (
        ("public", "customers", "id status"),
        ("public", "orders", "id customer_id net batch Rate"),
        ("public", "it's", "id"),
        ("Old Books", "gl", "amt customer_id id"),
        ("Old Books", "never.said", "id"),
    )
)

SAID = """
    SELECT nl_catalog.describe('sales', 'what was sold');
    SELECT nl_catalog.add_synonym('sales', 'shop');
    SELECT nl_catalog.set_rules('sales', 'revenue is without VAT');
    SELECT nl_catalog.describe('sales.orders', 'one line an order' || chr(10) || '{{ no template }}');
    SELECT nl_catalog.add_synonym('sales.orders', 'purchase'), nl_catalog.add_synonym('sales.orders', 'buying, all');
    SELECT nl_catalog.set_attribute('sales.orders', 'status', 'deprecated');
    SELECT nl_catalog.set_attribute('sales.orders.id', 'key', 'unique');
    SELECT nl_catalog.set_attribute('sales.orders.net', 'unit', 'EUR');
    SELECT nl_catalog.set_attribute('sales.orders.net', 'time_zone', 'Europe/Berlin');
    SELECT nl_catalog.set_attribute('sales.orders.net', 'sensitivity', 'sensitive');
    SELECT nl_catalog.describe('sales.orders."Rate"', 'true'), nl_catalog.hide('sales.orders.batch');
    SELECT nl_catalog.hide('sales.customers');
    SELECT nl_catalog.describe('sales."Old Books".gl.amt', 'no');
    SELECT nl_catalog.declare_join('sales.orders.customer_id', 'sales.customers.id');
    SELECT nl_catalog.declare_join('sales.customers.id', 'sales."Old Books".gl.customer_id', 'one-to-many');
    SELECT nl_catalog.declare_join('sales."Old Books".gl.id', 'sales.orders.id', 'one-to-one');
    SELECT nl_catalog.declare_join('sales.orders.id', 'sales."it''s".id', 'many-to-one');
    SELECT nl_catalog.define_term('sales', 'net_revenue', 'sum( orders.net )', 'after returns');
    SELECT nl_catalog.define_term('sales', 'Booked', 'sum("Old Books".gl.amt)');
    SELECT nl_catalog.define_term('sales', 'a kept customer', 'customers.status = 1');
    SELECT nl_catalog.verify('sales', 'How many orders?', 'SELECT count(*)' || chr(10) || 'FROM orders', '{kpi,a}');
"""


@pytest.fixture
def store(make_store_now: Callable[..., str]) -> str:
    """The DSN of a store in which much was said of the database sales, and nothing of hr."""
    dsn = make_store_now(*(Snapshot(name, ("public",), TABLES) for name in ("sales", "hr")))
    execute_now(dsn, SAID)
    return dsn


@pytest.fixture
def run(store: str) -> Run:
    return runner(catalog_app(lambda: store))


@pytest.mark.parametrize("tool", ["dbt", "osi"])
def test_what_is_exported_comes_back_into_an_empty_catalog(run: Run, tmp_path: Path, tool: str) -> None:
    ours, file = run("export", "sales").output, tmp_path / "sales.yml"
    exported = run("export", "sales", "--to", tool)
    assert exported.exit_code == 0, exported.output
    file.write_text(exported.output, "utf-8")
    assert run("diff", str(file), "--from", tool).output == ""
    empty = tmp_path / "empty.yaml"
    empty.write_text("version: 1\ndatabases:\n- name: sales\n", "utf-8")
    assert run("import", str(empty)).exit_code == 0
    assert run("export", "sales").output == "version: 1\ndatabases:\n- name: sales\n"
    imported = run("import", str(file), "--from", tool)
    assert imported.exit_code == 0, imported.output
    assert "!" not in imported.output
    assert run("export", "sales", "--to", tool).output == exported.output
    # Of a join the side that refers comes first.
    assert sorted(run("export", "sales").output.split()) == sorted(
        ours.replace("cardinality: one-to-many", "").split()
    )


@pytest.mark.parametrize("tool", ["dbt", "osi"])
def test_what_another_program_changed_in_the_file_counts(run: Run, tmp_path: Path, tool: str) -> None:
    file = tmp_path / "sales.yml"
    text = run("export", "sales", "--to", tool).output
    file.write_text(text.replace("purchase", "acquisition").replace(": 'no'", ": booked"), "utf-8")
    assert run("diff", str(file), "--from", tool).output.splitlines() == [
        '~ sales."Old Books".gl.amt description: no → booked',
        "+ sales.public.orders synonym: acquisition",
        "- sales.public.orders synonym: purchase",
    ]


@pytest.mark.parametrize("tool", ["dbt", "osi"])
def test_it_can_be_taken_for_another_database_behind_what_people_say(
    run: Run, tmp_path: Path, tool: str
) -> None:
    file = tmp_path / "sales.yml"
    file.write_text(run("export", "sales", "--to", tool).output, "utf-8")
    taken = run("import", str(file), "--from", tool, "--database", "hr")
    assert taken.exit_code == 0, taken.output
    for line in (
        "+ hr join public.orders.customer_id = public.customers.id: many-to-one",
        "+ hr.public.orders synonym: buying, all",
        '+ hr."Old Books".gl.amt description: no',
    ):
        assert line in taken.output.splitlines()
    terms = {
        '+ hr term Booked: SUM("Old Books".gl.amt)',
        "+ hr term net revenue: SUM(orders.net); after returns",
    }
    assert tool != "osi" or terms <= set(taken.output.splitlines())
    assert "hidden" not in taken.output


NO_JSON = """\
version: 0.2.0.dev0
semantic_model:
- name: sales
  datasets: []
  custom_extensions:
  - {vendor_name: pgparley, data: '{'}
"""
NO_FLAG = "sources:\n- name: public\n  meta: {pgparley: {name: sales, hidden: perhaps}}\n"
NO_EXPORT = "is no export of this catalog"


def test_what_is_no_export_of_ours_says_so(run: Run, tmp_path: Path) -> None:
    for text, tool, said in (
        ("version: 2\nsources: []\n", "dbt", f"{NO_EXPORT}; --database says what it is about."),
        ("version: 0.2.0.dev0\nsemantic_model: []\n", "osi", NO_EXPORT),
        (NO_JSON, "osi", "x.yml, line 3: the data of pgparley are no JSON"),
        (NO_FLAG, "dbt", "x.yml, line 2: Expected `bool`, got `str` ($.hidden)."),
    ):
        (tmp_path / "x.yml").write_text(text, "utf-8")
        refused = run("import", str(tmp_path / "x.yml"), "--from", tool)
        assert (refused.exit_code, said in refused.output) == (1, True), refused.output
