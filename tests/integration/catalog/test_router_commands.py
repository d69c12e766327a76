"""`pgparley router …` as a DBA runs it: a real store, the real encoder, a model server that writes what it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.llm.settings import GrammarSupport, ModelSettings
from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from pgparley.config import load
from pgparley.router_commands import router_app
from tests.support.statements import execute_now

Run = Callable[..., Result]

_NOUNS = (
    "singers",
    "vocalists",
    "crooners",
    "performers",
    "artists on stage",
    "animals",
    "beasts",
    "critters",
)


class ScriptedServer(BaseHTTPRequestHandler):
    """Writes five questions a call, other ones each time; counts the calls."""

    calls = 0

    def do_POST(self) -> None:
        """A chat completion."""
        self.rfile.read(int(self.headers["Content-Length"]))
        number = type(self).calls
        type(self).calls += 1
        lines = [f"How many {_NOUNS[(number + n) % 8]} of kind {number} are there?" for n in range(5)]
        message = {"role": "assistant", "content": "\n".join(lines) + "\n"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        body = json.dumps(reply | {"usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it so
        """Says nothing."""


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedServer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def run(server: Cluster, tmp_path: Path, model_url: str) -> Iterator[Run]:
    """Runs `catalog …` or `router …` on a store of its own; the server also has the databases music and zoo."""
    execute_now(server.dsn(), "CREATE DATABASE store", "CREATE DATABASE music", "CREATE DATABASE zoo")
    execute_now(server.dsn("music"), "CREATE TABLE singer (id int PRIMARY KEY, name text, kind text)")
    execute_now(server.dsn("zoo"), "CREATE TABLE animal (id int PRIMARY KEY, kind text, weight int)")
    config = load(None, {"XDG_CACHE_HOME": str(tmp_path)})
    config = replace(
        config,
        engine=replace(config.engine, store=server.dsn("store")),
        model=ModelSettings(base_url=model_url, grammar=GrammarSupport.NONE),
    )
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


def test_a_router_from_its_training_to_its_rollback(run: Run, server: Cluster, tmp_path: Path) -> None:
    assert "no registered database holds a table" in run("router", "train", "--no-synthesis").output
    for name in ("music", "zoo"):
        run("catalog", "add", name)
    fresh = json.loads(run("router", "status", "--json").output)
    assert fresh["databases"] == {"music": "new", "zoo": "new"}

    unwritten = run("router", "train", "--no-synthesis")
    assert unwritten.exit_code == 1
    assert "without --no-synthesis" in unwritten.output

    calls = ScriptedServer.calls
    trained = run("router", "train", "--threads", "1")
    assert trained.exit_code == 0, trained.output
    assert ScriptedServer.calls > calls
    asked = len((tmp_path / "pgparley" / "router" / "questions.jsonl").read_bytes().splitlines())
    assert asked > 20

    status = json.loads(run("router", "status", "--json").output)
    version = next(each for each in status["versions"] if each["version"] != "base")
    assert 0 < version["questions"] < asked
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

    calls = ScriptedServer.calls
    run("router", "train", "--threads", "1")
    assert 0 < ScriptedServer.calls - calls <= 10, "music's questions are not asked for again"

    measured = json.loads(run("router", "eval", "--version", version["version"], "--json").output)
    assert measured["version"] == version["version"]
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
        (("eval",), "no question is kept apart yet"),
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
