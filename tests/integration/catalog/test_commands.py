"""`pgparley catalog …` as a DBA runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from engine.values.settings import UpstreamSettings
from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.dsn import user_of
from tests.support.commands import Run, runner
from tests.support.statements import execute_now


@pytest.fixture
def run(server: Cluster) -> Iterator[Run]:
    """Runs a command on a store of its own; the server also has a database `shop`."""
    execute_now(server.dsn(), "CREATE DATABASE store", "CREATE DATABASE shop")
    execute_now(
        server.dsn("shop"),
        """CREATE TABLE "Order" (id int PRIMARY KEY, note text);
           COMMENT ON TABLE "Order" IS E'[bold]bought\\033[31m';
           CREATE TABLE item (order_id int NOT NULL REFERENCES "Order", sku text UNIQUE);
           CREATE SCHEMA other; CREATE TABLE other.thing (a int)""",
    )
    go = runner(catalog_app(lambda: server.dsn("store")))
    yield go
    execute_now(server.dsn(), "DROP DATABASE store WITH (FORCE)", "DROP DATABASE shop WITH (FORCE)")


def test_joins_that_wait_are_counted_each_time(run: Run, server: Cluster) -> None:
    execute_now(server.dsn("shop"), "CREATE TABLE vtr (vtrnr int); CREATE TABLE auf (aufnr int, vtrnr int)")
    waiting = (
        "no foreign key declares: 1, in nl_catalog.proposed_joins; SELECT nl_catalog.accept_joins('shop')"
    )
    added = run("add", "shop").output
    assert waiting in added
    assert "Of 1 no values were compared" in added
    execute_now(server.dsn("shop"), "INSERT INTO vtr VALUES (1); INSERT INTO auf VALUES (1, 1)")
    read = run("refresh", "shop").output
    assert waiting in read
    assert "compared" not in read
    execute_now(server.dsn("store"), "SELECT nl_catalog.accept_joins('shop')")
    assert run("refresh", "shop").output == "shop: unchanged\n"


def test_a_database_from_its_registration_to_its_end(run: Run, server: Cluster) -> None:
    assert "No database is registered" in run("list").output
    added = run("add", "shop")
    assert (added.exit_code, added.output) == (
        0,
        "shop: 3 tables and views, 5 columns\n"
        "Who asks from another database needs a login: `pgparley catalog login shop ASKER`.\n",
    )
    listed = json.loads(run("list", "--json").output)
    assert [(entry["name"], entry["dbname"], entry["search_path"]) for entry in listed] == [
        ("shop", "shop", ["public"])
    ]
    assert listed[0]["taken_at"] is not None
    assert run("refresh", "shop").output == "shop: unchanged\n"
    execute_now(
        server.dsn("shop"),
        "ALTER TABLE item ALTER sku TYPE varchar(9), ADD price money; DROP TABLE other.thing",
    )
    assert run("refresh").output == (
        "shop: 3 changes\n"
        "  - table other.thing\n"
        "  ~ column public.item.sku (text → character varying(9))\n"
        "  + column public.item.price\n"
    )
    assert run("remove", "shop").exit_code == 0
    assert json.loads(run("list", "--json").output) == []


def test_a_database_of_the_stores_server_is_read_by_the_catalogs_login(run: Run, server: Cluster) -> None:
    execute_now(server.dsn(), "CREATE ROLE reading LOGIN")
    app = catalog_app(lambda: server.dsn("store"), login=lambda: server.dsn(user="reading"))
    try:
        added = CliRunner().invoke(app, ["add", "shop"])
        assert (added.exit_code, added.output.partition("\n")[0]) == (
            0,
            "shop: 3 tables and views, 5 columns",
        )
        (listed,) = json.loads(run("list", "--json").output)
        assert (user_of(listed["dsn"]), listed["dbname"]) == ("reading", "shop")
    finally:
        execute_now(server.dsn(), "DROP ROLE reading")


def test_registering_names_the_owners_that_have_to_be_trusted(run: Run, server: Cluster) -> None:
    execute_now(
        server.dsn("shop"),
        'CREATE ROLE "Keeper"; CREATE ROLE clerk; CREATE ROLE known; CREATE ROLE elsewhere',
        'ALTER TABLE item OWNER TO "Keeper"; ALTER SCHEMA other OWNER TO clerk',
        'ALTER TABLE "Order" OWNER TO known; CREATE SCHEMA aside AUTHORIZATION elsewhere',
    )
    trusting = catalog_app(lambda: server.dsn("store"), lambda: UpstreamSettings(trusted_owners=("known",)))
    told = CliRunner().invoke(trusting, ["add", "shop"]).output.splitlines()
    assert told[2:] == [
        'Nobody else can ask about what belongs to "Keeper", clerk: if you trust their code with every asker\'s '
        "rights, add them to trusted_owners in [upstream]."
    ]
    part = run("add", "part", "--dsn", server.dsn("shop"), "--schema", "other").output
    assert "belongs to clerk:" in part
    execute_now(
        server.dsn("shop"),
        'REASSIGN OWNED BY "Keeper", clerk, known, elsewhere TO postgres',
        'DROP ROLE "Keeper", clerk, known, elsewhere',
    )


@pytest.mark.parametrize("command", ["refresh", "remove"])
def test_an_unknown_name(run: Run, command: str) -> None:
    result = run(command, "nobody")
    assert result.exit_code == 1
    assert '"nobody" is not registered' in result.output
    assert "catalog list" in result.output


@pytest.mark.parametrize(
    ("dsn", "said"),
    [
        ("postgresql://u:hunter2@127.0.0.1:1/d", "cannot connect"),
        ("hunter2", "postgresql://"),
    ],
)
def test_what_cannot_be_reached_is_not_registered_and_no_password_is_said(
    run: Run, dsn: str, said: str
) -> None:
    result = run("add", "far", "--dsn", dsn)
    assert result.exit_code == 1
    assert said in result.output
    assert "hunter2" not in result.output
    assert json.loads(run("list", "--json").output) == []


def test_a_database_that_went_away_is_reported_and_the_others_are_refreshed(
    run: Run, server: Cluster
) -> None:
    execute_now(server.dsn(), "CREATE DATABASE gone")
    run("add", "gone")
    run("add", "shop")
    execute_now(server.dsn(), "DROP DATABASE gone WITH (FORCE)")
    result = run("refresh")
    assert result.exit_code == 1
    assert 'gone: cannot connect: database "gone" does not exist' in result.output
    assert "shop: unchanged" in result.output


def test_a_store_that_does_not_answer() -> None:
    result = runner(catalog_app(lambda: "postgresql://u:hunter2@127.0.0.1:1/d"))("list")
    assert result.exit_code == 1
    assert "the store does not answer" in result.output
    assert "postgresql://u:***@127.0.0.1:1/d" in result.output
    assert "hunter2" not in result.output


def test_a_name_that_cannot_be_typed_is_refused(run: Run) -> None:
    for name in (" shop", "", "a\nb"):
        result = run("add", name, "--dsn", "postgresql://127.0.0.1:1/d")
        assert (result.exit_code, "at least one character" in result.output) == (1, True)
