"""`pgparley catalog` and `pgparley store` as a DBA runs them, with PostgreSQL's own dump and restore."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.values.settings import UpstreamSettings
from pgparley.catalog_commands import catalog_app
from pgparley.cli import app
from pgparley.cluster import Cluster
from pgparley.config import load
from pgparley.store_commands import store_app
from schema_catalog.dsn import user_of
from schema_catalog.migrate import bundled
from tests.conftest import COPY, Postgres
from tests.support.commands import Run, runner
from tests.support.statements import execute_now, fetch_now


@pytest.fixture
def run(server: Cluster, empty_store: str) -> Iterator[Run]:
    """Runs a command on a store of its own; the server also has a database `shop`."""
    execute_now(server.dsn(), f"CREATE DATABASE store TEMPLATE {empty_store} {COPY}", "CREATE DATABASE shop")
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


def test_what_is_not_there_is_not_registered_and_no_password_is_said(run: Run) -> None:
    for command in ("refresh", "remove"):
        result = run(command, "nobody")
        assert result.exit_code == 1
        assert '"nobody" is not registered' in result.output
        assert "catalog list" in result.output
    for dsn, said in (
        ("postgresql://u:hunter2@127.0.0.1:1/d", "cannot connect"),
        ("hunter2", "postgresql://"),
    ):
        result = run("add", "far", "--dsn", dsn)
        assert result.exit_code == 1
        assert said in result.output
        assert "hunter2" not in result.output
        assert json.loads(run("list", "--json").output) == []
    for name in (" shop", "", "a\nb"):
        result = run("add", name, "--dsn", "postgresql://127.0.0.1:1/d")
        assert (result.exit_code, "at least one character" in result.output) == (1, True)


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


ROOT = Path(__file__).parents[3]

NAMES = [migration.name for migration in bundled()]


@pytest.fixture
def store(server: Cluster) -> Iterator[str]:
    execute_now(server.dsn(), "CREATE DATABASE kept", "CREATE DATABASE restored")
    yield server.dsn("kept")
    execute_now(server.dsn(), "DROP DATABASE kept WITH (FORCE)", "DROP DATABASE restored WITH (FORCE)")


def migrate(dsn: str, *options: str) -> Result:
    return CliRunner().invoke(store_app(lambda: dsn), ["migrate", *options])


def test_a_dry_run_applies_all_and_leaves_nothing(store: str) -> None:
    for _ in range(2):
        tried = migrate(store, "--dry-run")
        assert tried.exit_code == 0
        assert re.findall(r"would apply (\S+)", tried.output) == NAMES
    done = migrate(store)
    assert re.findall(r"applied (\S+)", done.output) == NAMES
    assert migrate(store).output == migrate(store, "--dry-run").output == "the store is up to date\n"


def test_a_dry_run_says_where_the_store_is_newer(store: str) -> None:
    migrate(store)
    execute_now(store, "INSERT INTO pgparley.migration (name, digest) VALUES ('9999_later.sql', '')")
    tried = migrate(store, "--dry-run")
    assert tried.exit_code == 1
    assert "newer than this version: upgrade pgparley" in tried.output


def documented(command: str) -> list[str]:
    """The words of a command of docs/operations.md; the page has it once, on a line of its own."""
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    (line,) = re.findall(rf"^{command} .+$", page, re.MULTILINE)
    return line.split()


def test_the_documented_backup_brings_everything_back(store: str, server: Cluster, tmp_path: Path) -> None:
    catalog = catalog_app(lambda: store)
    assert CliRunner().invoke(catalog, ["add", "kept"]).exit_code == 0
    before = CliRunner().invoke(catalog, ["list", "--json"]).output
    target = server.dsn("restored")
    for command, dsn in (("pg_dump", store), ("pg_restore", target)):
        words = [re.sub(r"postgresql://\S+", dsn, word) for word in documented(command)]
        words[0] = str(server.bin_dir / command)
        subprocess.run(words, check=True, cwd=tmp_path)  # noqa: S603 - PostgreSQL's own program
    assert migrate(target).output == "the store is up to date\n"
    assert CliRunner().invoke(catalog_app(lambda: target), ["list", "--json"]).output == before


def test_roles_of_dbas_are_made_or_it_is_said_who_has_to(postgres: Postgres) -> None:
    with postgres("roles") as made:
        execute_now(made.dsn(), "CREATE ROLE owner LOGIN", "CREATE DATABASE kept OWNER owner")
        said = migrate(made.dsn("kept", "owner")).output
        call = re.search(r"A superuser runs, in the store's database: (SELECT .*;)", said)
        assert call is not None, said
        execute_now(made.dsn("kept"), call[1])
        assert migrate(made.dsn("kept", "owner")).output == "the store is up to date\n"
        (row,) = fetch_now(
            made.dsn("kept"), "SELECT has_schema_privilege('nl_steward', 'nl_catalog', 'USAGE')"
        )
        assert row[0]


def test_init_makes_what_is_missing_once(postgres: Postgres, tmp_path: Path) -> None:
    with postgres("init") as made:
        file = tmp_path / "pgparley.toml"
        server = f"{made.socket_dir}:{made.port}"
        words = ["--config", str(file), "init", "--yes", "--force", "--server", server, "--superuser"]
        first, second = (CliRunner().invoke(app, [*words, "postgres"]).output for _ in range(2))
        assert "made: CREATE DATABASE pgparley_store OWNER pgparley;" in first
        assert "are there already" in second
        found = migrate(load(file, {}).engine.store).output
        assert "superuser" not in found
        nobody = CliRunner().invoke(app, [*words, "nobody"])
        assert (nobody.exit_code, "CREATE ROLE nl_admin;" in nobody.output) == (1, True)
