"""`pgparley store …`, and a store that goes through PostgreSQL's own dump and restore."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from pgparley.store_commands import store_app
from schema_catalog.migrate import bundled
from tests.support.statements import execute_now

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
