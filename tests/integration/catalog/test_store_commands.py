"""`pgparley store …`, and a store that goes through PostgreSQL's own dump and restore."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pgparley.catalog_commands import catalog_app
from pgparley.cli import app
from pgparley.cluster import Cluster
from pgparley.config import load
from pgparley.store_commands import store_app
from schema_catalog.migrate import bundled
from tests.conftest import Postgres
from tests.support.statements import execute_now, fetch_now

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
