"""`pgparley init`: six questions, or as many options, and a file that the program reads."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pgparley.cli import app
from pgparley.config import load


def init(folder: Path, *options: str, typed: str | None = None) -> Result:
    file = folder / "pgparley.toml"
    return CliRunner().invoke(app, ["--config", str(file), "init", *options], input=typed)


def test_six_answers_become_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    places = "db.example:5433", "*:7000", 'postgresql:///it"s', "http://127.0.0.1:8000/v1"
    done = init(tmp_path, typed="\n".join([*places, "dba, other", "none", ""]))
    assert done.exit_code == 0, done.output
    file = tmp_path / "pgparley.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    config = load(file, {})
    gateway = config.gateway
    assert (gateway.upstream_host, gateway.upstream_port) == ("db.example", 5433)
    assert (gateway.listen_addr, gateway.listen_port, gateway.admin_users) == ("*", 7000, "dba, other")
    assert (config.engine.store, config.model.base_url) == ('postgresql:///it"s', "http://127.0.0.1:8000/v1")


def test_nothing_is_asked_where_the_defaults_will_do(tmp_path: Path) -> None:
    assert init(tmp_path, "--yes", "--server", "/run/postgresql").exit_code == 0
    config = load(tmp_path / "pgparley.toml", {})
    (tmp_path / "empty.toml").touch()
    default = load(tmp_path / "empty.toml", {})
    assert config.gateway.upstream_host == "/run/postgresql"
    assert (config.model, config.gateway.admin_users) == (default.model, "")


@pytest.mark.parametrize(
    ("options", "store", "login", "made"),
    [
        (
            (),
            "postgresql://pgparley@127.0.0.1:5432/pgparley_store",
            "postgresql://pgparley_catalog@127.0.0.1:5432/pgparley_store",
            ("pgparley", "pgparley_store"),
        ),
        (
            ("--store", "host=db user=Keeper password=secret dbname=kept"),
            "postgresql://Keeper:secret@/kept?host=db",
            "postgresql://pgparley_catalog@/kept?host=db",
            ('"Keeper"', "kept"),
        ),
    ],
)
def test_store_and_catalog_get_roles_of_their_own_that_are_no_superusers(
    tmp_path: Path, options: tuple[str, ...], store: str, login: str, made: tuple[str, str]
) -> None:
    done = init(tmp_path, "--yes", *options)
    config = load(tmp_path / "pgparley.toml", {})
    assert (config.engine.store, config.catalog.login) == (store, login)
    role, database = made
    assert f"CREATE ROLE {role} LOGIN;\nCREATE ROLE pgparley_catalog LOGIN;\n" in done.output
    assert f"CREATE DATABASE {database} OWNER {role};" in done.output
    assert not {"SUPERUSER", "CREATEROLE", "secret"} & set(done.output.replace(";", " ").split())


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "pgparley.toml").write_text("workers = 3\n", encoding="utf-8")
    refused = init(tmp_path, "--yes")
    assert (refused.exit_code, "--force" in refused.output) == (1, True)
    assert load(tmp_path / "pgparley.toml", {}).workers == 3
    assert init(tmp_path, "--yes", "--force").exit_code == 0
    assert load(tmp_path / "pgparley.toml", {}).workers == 1


@pytest.mark.parametrize(
    ("written", "host", "port"),
    [("db", "db", 5432), ("::1", "::1", 5432), ("[::1]:7", "::1", 7), ("/run/pg:7", "/run/pg", 7)],
)
def test_addresses(tmp_path: Path, written: str, host: str, port: int) -> None:
    assert init(tmp_path, "--yes", "--server", written).exit_code == 0
    gateway = load(tmp_path / "pgparley.toml", {}).gateway
    assert (gateway.upstream_host, gateway.upstream_port) == (host, port)


def test_what_cannot_be_read_back_is_not_written(tmp_path: Path) -> None:
    for options in (["--server", "db:port"], ["--store", "postgresql:///\x7f"], ["--store", "no string"]):
        refused = init(tmp_path, "--yes", *options)
        assert refused.exit_code == 1
        assert refused.output.startswith("pgparley: ")
        assert list(tmp_path.iterdir()) == []
