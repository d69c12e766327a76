"""`pgparley catalog values`: permissions, what is read, what is never read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from typer.testing import CliRunner, Result

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from tests.support.statements import execute_now, fetch_now

Run = Callable[..., Result]

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
def run(server: Cluster) -> Iterator[Run]:
    """Runs a command on a store of its own, in which the database `shop` is registered."""
    execute_now(server.dsn(), "CREATE DATABASE values_store", "CREATE DATABASE shop")
    execute_now(server.dsn("shop"), SHOP)
    app = catalog_app(lambda: server.dsn("values_store"))

    def go(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "160", "TERM": "dumb"})

    assert go("add", "shop").exit_code == 0
    yield go
    execute_now(server.dsn(), "DROP DATABASE values_store WITH (FORCE)", "DROP DATABASE shop WITH (FORCE)")


def stored(server: Cluster, column: str) -> list[str] | None:
    rows = fetch_now(
        server.dsn("values_store"),
        f"""SELECT stored FROM pgparley.value_column WHERE "column" = '{column}'""",
    )
    return rows[0]["stored"] if rows else None


def problems(run: Run) -> dict[str, str | None]:
    return {row["column"]: row["problem"] for row in json.loads(run("values", "shop", "--json").output)}


def test_no_value_is_read_until_it_is_allowed(run: Run, server: Cluster) -> None:
    assert run("refresh", "shop").output == "shop: unchanged\n"
    assert "No value of shop may be shown" in run("values", "shop").output
    assert fetch_now(server.dsn("values_store"), "SELECT * FROM pgparley.value_column") == []


def test_a_permission_from_its_start_to_its_end(run: Run, server: Cluster) -> None:
    allowed = run("values", "shop", "--allow", "customer.city", "--allow", "public.customer.code")
    assert allowed.output == "shop: 2 columns are allowed\n  values: 4 of 2 columns\n"
    assert stored(server, "city") == ["Oslo", "Rome"], "the commonest first"
    assert stored(server, "code") == ["NO", "IT"]
    assert stored(server, "name") is None
    execute_now(server.dsn("shop"), "INSERT INTO customer VALUES (5, 'Di', 'Bonn', 'DE')")
    assert run("refresh", "shop").output == "shop: unchanged\n  values: 6 of 2 columns\n"
    assert stored(server, "city") == ["Oslo", "Bonn", "Rome"]
    assert run("values", "shop", "--deny", "customer.city").output == "shop: 1 columns are allowed\n"
    assert stored(server, "city") is None
    assert run("values", "shop", "--deny-all").output == "shop: 0 columns are allowed\n"
    assert stored(server, "code") is None


def test_all_text_is_the_text_that_there_is(run: Run, server: Cluster) -> None:
    output = run("values", "shop", "--allow-all-text", "--deny", "customer.name").output
    assert output.startswith("shop: 7 columns are allowed\n")
    assert set(problems(run)) == {"city", "code", "note", "owner", "word", "Some.Thing"}
    assert stored(server, "Some.Thing") == ["x\"y'z"]
    execute_now(server.dsn("shop"), "ALTER TABLE customer ADD later text DEFAULT 'new'")
    assert run("refresh", "shop").exit_code == 0
    assert stored(server, "later") is None, "a new column needs a permission of its own"


def test_what_could_pass_for_a_prompt_or_is_long_is_left_out(run: Run, server: Cluster) -> None:
    run("values", "shop", "--allow", "customer.note")
    assert stored(server, "note") == []


def test_what_shows_each_role_other_rows_is_never_read(run: Run, server: Cluster) -> None:
    output = run("values", "shop", "--allow", "secret.word", "--allow", "oslo.name").output
    assert "! no values of public.secret.word: row-level security shows each role other rows" in output
    assert "! no values of public.oslo.name: a view may show each role other rows" in output
    assert (stored(server, "word"), stored(server, "name")) == ([], [])
    run("values", "shop", "--allow", "cities.city")
    assert sorted(stored(server, "city") or []) == ["Oslo", "Rome"]


def test_values_go_when_row_level_security_comes(run: Run, server: Cluster) -> None:
    run("values", "shop", "--allow", "customer.city")
    assert stored(server, "city")
    execute_now(server.dsn("shop"), "ALTER TABLE customer ENABLE ROW LEVEL SECURITY")
    run("refresh", "shop")
    assert stored(server, "city") == []


def test_a_column_that_is_gone(run: Run, server: Cluster) -> None:
    run("values", "shop", "--allow", "customer.code")
    execute_now(server.dsn("shop"), "ALTER TABLE customer DROP code")
    assert "no values of public.customer.code: it does not exist any more" in run("refresh", "shop").output
    assert stored(server, "code") == []
    assert run("values", "shop", "--deny", "public.customer.code").exit_code == 0


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
    output = run(
        "values", "mine", "--allow", "customer.city", "--allow", "customer.name", "--allow", "trapped.v"
    ).output
    assert "no values of public.customer.name: permission denied for table customer" in output
    assert 'no values of public.trapped.v: reading that could run code of role "mallory"' in output
    assert "sprung" not in output
    assert "values: 2 of 1 columns" in output
    execute_now(
        server.dsn("shop"),
        "DROP TABLE trapped; DROP FUNCTION trap; DROP OWNED BY reader; DROP ROLE reader, mallory",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("values", "nowhere"), 'database "nowhere" is not registered'),
        (("values", "shop", "--allow", "customer.citi"), 'did you mean "customer.city"?'),
        (("values", "shop", "--deny", "zzz"), 'there is no column "zzz"'),
    ],
)
def test_mistakes(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in result.output


def test_a_name_in_two_schemas_is_asked_back(run: Run, server: Cluster) -> None:
    execute_now(server.dsn("shop"), "CREATE SCHEMA b; CREATE TABLE b.customer (city text)")
    run("refresh", "shop")
    assert (
        "may be several columns: b.customer.city, public.customer.city"
        in run("values", "shop", "--allow", "customer.city").output
    )
