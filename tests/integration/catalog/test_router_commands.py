"""`pgparley router …` as a DBA runs it: a real store and the real encoder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.routing.questioner import QuestionerSettings
from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from pgparley.config import load
from pgparley.router_commands import router_app
from tests.support.statements import execute_now

Run = Callable[..., Result]


@pytest.fixture
def run(server: Cluster, tmp_path: Path) -> Iterator[Run]:
    """Runs `catalog …` or `router …` on a store of its own; the server also has the databases music and zoo."""
    execute_now(server.dsn(), "CREATE DATABASE store", "CREATE DATABASE music", "CREATE DATABASE zoo")
    execute_now(server.dsn("music"), "CREATE TABLE singer (id int PRIMARY KEY, name text, kind text)")
    execute_now(server.dsn("zoo"), "CREATE TABLE animal (id int PRIMARY KEY, kind text, weight int)")
    config = load(None, {"XDG_CACHE_HOME": str(tmp_path)})
    config = replace(config, engine=replace(config.engine, store=server.dsn("store")))
    apps = {
        "catalog": catalog_app(lambda: server.dsn("store"), lambda: config.upstream),
        "router": router_app(lambda: (config, None)),
    }

    def go(command: str, *arguments: str) -> Result:
        environment = {"COLUMNS": "160", "TERM": "dumb"}
        return CliRunner().invoke(apps[command], list(arguments), env=environment)

    yield go
    for name in ("store", "music", "zoo"):
        execute_now(server.dsn(), f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.timeout(300)  # it trains a network, which takes ten times as long on a machine that others use
def test_a_router_from_its_training_to_its_rollback(run: Run, server: Cluster, tmp_path: Path) -> None:
    assert "no registered database holds a table" in run("router", "train").output
    for name in ("music", "zoo"):
        run("catalog", "add", name)
    fresh = json.loads(run("router", "status", "--json").output)
    assert fresh["databases"] == {"music": "new", "zoo": "new"}

    trained = run("router", "train", "--threads", "1")
    assert trained.exit_code == 0, trained.output
    status = json.loads(run("router", "status", "--json").output)
    version = next(each for each in status["versions"] if each["version"] != "base")
    assert 0 < version["questions"] < 2 * QuestionerSettings().walks
    if status["current"] == "base":  # it did not do better on the questions kept apart
        assert run("router", "use", version["version"]).exit_code == 0
    assert "(in use)" in run("router", "status").output
    assert json.loads(run("router", "status", "--json").output)["databases"] == {
        "music": "trained",
        "zoo": "trained",
    }

    execute_now(server.dsn("zoo"), "ALTER TABLE animal ADD height int")
    run("catalog", "refresh", "zoo")
    assert json.loads(run("router", "status", "--json").output)["databases"]["zoo"] == "changed since"

    measured = json.loads(run("router", "eval", "--version", version["version"], "--json").output)
    assert measured["version"] == version["version"]
    assert measured["n"] > 0
    assert 0 <= measured["figures"]["database_r1"] <= 1
    file = tmp_path / "asked.jsonl"
    file.write_text(
        '{"question": "How many singers?", "db": "music", "tables": ["singer"]}\n', encoding="utf-8"
    )
    own = json.loads(run("router", "eval", "--questions", str(file), "--json").output)
    assert (own["n"], own["figures"]["database_r1"], own["figures"]["table_r5"]) == (1, 1.0, 1.0)

    run("router", "use", version["version"])
    assert run("router", "rollback").output == "The router in use is base.\n"
    assert "nothing came before" in run("router", "rollback").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("use", "nowhere"), 'no router version "nowhere"'),
        (("eval", "--questions", "/nowhere"), "cannot read /nowhere"),
        (("eval", "--version", "nowhere", "--questions", "FILE"), 'no router version "nowhere"'),
    ],
)
def test_what_cannot_be_done_says_what_to_do(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    run("catalog", "add", "music")
    file = tmp_path / "asked.jsonl"
    file.write_text(
        '{"question": "How many singers?", "db": "music", "tables": ["singer"]}\n', encoding="utf-8"
    )
    done = run("router", *(str(file) if each == "FILE" else each for each in arguments))
    assert done.exit_code == 1
    assert said in done.output


def test_a_line_that_is_no_question(run: Run, tmp_path: Path) -> None:
    run("catalog", "add", "music")
    file = tmp_path / "asked.jsonl"
    file.write_text('\n{"question": "How many?", "db": "music"}\n', encoding="utf-8")
    done = run("router", "eval", "--questions", str(file))
    assert done.exit_code == 1
    assert "line 2" in done.output
