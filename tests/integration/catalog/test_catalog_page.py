"""docs/catalog.md and docs/privacy.md: blocks of SQL that a reader would paste, as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from tests.conftest import COPY, ROOT
from tests.support.commands import runner
from tests.support.statements import execute_now, fetch_now

ROLES = ("analysts", "bob", "bi")


def statements(page: str, heading: str) -> list[str]:
    """Those of the first block of SQL below the heading, without comments."""
    text = (ROOT / "docs" / page).read_text("utf-8").partition(f" {heading}\n")[2]
    found = re.search(r"^```sql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return [each.strip() for each in re.sub(r"--.*", "", found[1]).split(";") if each.strip()]


@pytest.fixture
def store(server: Cluster, empty_store: str) -> Iterator[str]:
    """The DSN of a store with the databases of these pages, and their roles."""
    made = [f"CREATE ROLE {role}" for role in ROLES]
    execute_now(server.dsn(), f"CREATE DATABASE page TEMPLATE {empty_store} {COPY}", *made)
    execute_now(server.dsn(), "CREATE DATABASE crm", "CREATE DATABASE hr")
    execute_now(server.dsn("crm"), "CREATE TABLE person (id int, email text)")
    execute_now(server.dsn("hr"), "CREATE TABLE job (id int)")
    run = runner(catalog_app(lambda: server.dsn("page")))
    assert [run("add", name).exit_code for name in ("crm", "hr")] == [0, 0]
    yield server.dsn("page")
    gone = [f"DROP DATABASE {name} WITH (FORCE)" for name in ("page", "crm", "hr")]
    execute_now(server.dsn(), *gone, *(f"DROP ROLE {role}" for role in ROLES))


def test_limits_are_set_as_the_page_says(store: str) -> None:
    execute_now(store, *statements("catalog.md", "Who may ask"))
    rows = fetch_now(store, "SELECT role FROM nl_catalog.quotas ORDER BY 1")
    assert {"public", "bi"} <= {row[0] for row in rows}


@pytest.mark.parametrize("heading", ["Local databases", "Masked columns"])
def test_privacy_is_set_as_the_page_says(store: str, heading: str) -> None:
    execute_now(store, *statements("privacy.md", heading))
