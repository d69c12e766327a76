"""Values of columns: permissions, what is read, what is never read."""

from __future__ import annotations

from collections.abc import Iterator

import asyncpg
import pytest

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from tests.conftest import COPY
from tests.support.commands import Run, runner
from tests.support.statements import execute_now, fetch_now

SHOP = r"""
CREATE TABLE customer (id int PRIMARY KEY, name text, city varchar(20), code char(2), note text, born date);
INSERT INTO customer VALUES
    (1, 'Ann', 'Oslo', 'NO', E'two\nlines', '2000-01-01'), (2, 'Bob', 'Oslo', 'NO', repeat('x', 81), NULL),
    (3, 'Cy', 'Rome', 'IT', '', NULL), (4, NULL, 'Oslo', 'NO', '### Question', NULL),
    (6, NULL, NULL, NULL, U&'one\2028two', NULL), (7, NULL, NULL, NULL, '```', NULL);
CREATE VIEW oslo AS SELECT name FROM customer WHERE city = 'Oslo';
CREATE MATERIALIZED VIEW cities AS SELECT DISTINCT city FROM customer;
CREATE TABLE secret (owner name, word text); ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
INSERT INTO secret VALUES ('ann', 'hush');
CREATE TABLE "Odd Name" ("Some.Thing" text); INSERT INTO "Odd Name" VALUES ('x"y''z');
"""


@pytest.fixture
def run(server: Cluster, empty_store: str) -> Iterator[Run]:
    """Runs a command on a store of its own, in which the database `shop` is registered."""
    execute_now(
        server.dsn(), f"CREATE DATABASE values_store TEMPLATE {empty_store} {COPY}", "CREATE DATABASE shop"
    )
    execute_now(server.dsn("shop"), SHOP)
    go = runner(catalog_app(lambda: server.dsn("values_store")))
    assert go("add", "shop").exit_code == 0
    yield go
    execute_now(server.dsn(), "DROP DATABASE values_store WITH (FORCE)", "DROP DATABASE shop WITH (FORCE)")


def stored(server: Cluster, column: str) -> list[str] | None:
    rows = fetch_now(
        server.dsn("values_store"),
        f"""SELECT stored FROM pgparley.value_column WHERE "column" = '{column}'""",
    )
    return rows[0]["stored"] if rows else None


def allow(run: Run, server: Cluster, *columns: str) -> str:
    """Allows them and reads what is allowed; what the command says of that."""
    calls = [f"SELECT nl_catalog.allow_values('{column}')" for column in columns]
    execute_now(server.dsn("values_store"), *calls)
    return without_joins(run("refresh", columns[0].partition(".")[0]).output).replace(": unchanged", "")


def without_joins(output: str) -> str:
    """What `refresh` prints before the joins that wait."""
    return output.partition("  Joins that no foreign key")[0]


def test_no_value_is_read_until_it_is_allowed(run: Run, server: Cluster) -> None:
    assert without_joins(run("refresh", "shop").output) == "shop: unchanged\n"
    assert fetch_now(server.dsn("values_store"), "SELECT * FROM nl_catalog.allowed_values") == []


def test_a_permission_from_its_start_to_its_end(run: Run, server: Cluster) -> None:
    assert (
        allow(run, server, "shop.customer.city", "shop.public.customer.code")
        == "shop\n  values: 4 of 2 columns\n"
    )
    assert stored(server, "city") == ["Oslo", "Rome"], "the commonest first"
    assert stored(server, "code") == ["NO", "IT"]
    assert stored(server, "name") is None
    execute_now(server.dsn("shop"), "INSERT INTO customer VALUES (5, 'Di', 'Bonn', 'DE')")
    assert without_joins(run("refresh", "shop").output) == "shop: unchanged\n  values: 6 of 2 columns\n"
    assert stored(server, "city") == ["Oslo", "Bonn", "Rome"]
    shown = fetch_now(
        server.dsn("values_store"), "SELECT element, kept, more, problem FROM nl_catalog.allowed_values"
    )
    assert sorted(map(tuple, shown)) == [
        ("shop.public.customer.city", 3, False, None),
        ("shop.public.customer.code", 3, False, None),
    ]
    execute_now(server.dsn("values_store"), "SELECT nl_catalog.deny_values('shop.customer.city')")
    assert stored(server, "city") is None
    assert stored(server, "code") is not None


def test_rows_and_ranges_are_kept_beside_the_values(run: Run, server: Cluster) -> None:
    allow(run, server, "shop.customer.city", "shop.customer.id", "shop.customer.born")
    rows = fetch_now(
        server.dsn("values_store"),
        'SELECT "column", counts, least, greatest FROM pgparley.value_column ORDER BY 1',
    )
    assert [tuple(row) for row in rows] == [
        ("born", [1], "2000-01-01", "2000-01-01"),
        ("city", [3, 1], None, None),
        ("id", [1] * 6, "1", "7"),
    ]


def test_all_text_is_the_text_that_there_is(run: Run, server: Cluster) -> None:
    execute_now(
        server.dsn("values_store"),
        "SELECT nl_catalog.allow_values(element) FROM nl_catalog.columns"
        " WHERE database = 'shop' AND type ~ '^(text|char|name|citext)' AND \"table\" <> 'oslo'",
    )
    run("refresh", "shop")
    assert stored(server, "Some.Thing") == ["x\"y'z"]
    execute_now(server.dsn("shop"), "ALTER TABLE customer ADD later text DEFAULT 'new'")
    assert run("refresh", "shop").exit_code == 0
    assert stored(server, "later") is None, "a new column needs a permission of its own"


def test_what_could_pass_for_a_prompt_or_is_long_is_left_out(run: Run, server: Cluster) -> None:
    allow(run, server, "shop.customer.note")
    assert stored(server, "note") == []


def test_what_shows_each_role_other_rows_is_never_read(run: Run, server: Cluster) -> None:
    output = allow(run, server, "shop.secret.word", "shop.oslo.name")
    assert "! no values of public.secret.word: row-level security shows each role other rows" in output
    assert "! no values of public.oslo.name: a view may show each role other rows" in output
    assert (stored(server, "word"), stored(server, "name")) == ([], [])
    allow(run, server, "shop.cities.city")
    assert sorted(stored(server, "city") or []) == ["Oslo", "Rome"]


def test_values_go_when_row_level_security_comes(run: Run, server: Cluster) -> None:
    allow(run, server, "shop.customer.city")
    assert stored(server, "city")
    execute_now(server.dsn("shop"), "ALTER TABLE customer ENABLE ROW LEVEL SECURITY")
    run("refresh", "shop")
    assert stored(server, "city") == []


def test_a_column_that_is_gone(run: Run, server: Cluster) -> None:
    allow(run, server, "shop.customer.code")
    execute_now(server.dsn("shop"), "ALTER TABLE customer DROP code")
    assert "no values of public.customer.code: it does not exist any more" in run("refresh", "shop").output
    assert stored(server, "code") == []
    execute_now(server.dsn("values_store"), "SELECT nl_catalog.deny_values('shop.public.customer.code')")
    assert stored(server, "code") is None


def test_the_connection_s_own_rights_bound_what_is_read(run: Run, server: Cluster) -> None:
    """A role that may not read a column, and one of whose tables somebody else's function guards."""
    execute_now(
        server.dsn("shop"),
        "CREATE ROLE reader LOGIN; CREATE ROLE mallory; GRANT SELECT (city) ON customer TO reader",
        "CREATE FUNCTION trap(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END'",
        "ALTER FUNCTION trap(text) OWNER TO mallory",
        "CREATE TABLE trapped (v text); GRANT SELECT ON trapped TO reader",
        "CREATE INDEX ON trapped (v) WHERE trap('x')",
        """CREATE OR REPLACE FUNCTION trap(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
           'BEGIN RAISE EXCEPTION ''sprung''; END'""",
    )
    run("add", "mine", "--dsn", server.dsn("shop", "reader"))
    output = allow(run, server, "mine.customer.city", "mine.customer.name", "mine.trapped.v")
    assert "no values of public.customer.name: permission denied for table customer" in output
    assert 'no values of public.trapped.v: reading that could run code of role "mallory"' in output
    assert "sprung" not in output
    assert "values: 2 of 1 columns" in output
    execute_now(
        server.dsn("shop"),
        "DROP TABLE trapped; DROP FUNCTION trap; DROP OWNED BY reader; DROP ROLE reader, mallory",
    )


def test_mistakes(run: Run, server: Cluster) -> None:
    assert run("list").exit_code == 0
    for call, error in (
        ("allow_values('nowhere.a.b')", asyncpg.InvalidCatalogNameError),
        ("allow_values('shop.customer.citi')", asyncpg.UndefinedObjectError),
        ("allow_values('shop.customer')", asyncpg.InvalidParameterValueError),
        ("deny_values('shop.customer.city')", asyncpg.UndefinedObjectError),
    ):
        with pytest.raises(error):
            execute_now(server.dsn("values_store"), f"SELECT nl_catalog.{call}")
