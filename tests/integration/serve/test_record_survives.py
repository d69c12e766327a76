"""The record of a gateway as a process: a worker that is killed loses no line of what it let out."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
from aiohttp import web
from psycopg import pq
from typer.testing import CliRunner

from engine.values.evaluation import EvaluateReply, Verdict
from pgparley.cli import app
from pgparley.cluster import Cluster
from tests.support.parts import connected, part, pgparley, port_of, relaying
from tests.wire_fixtures import FakeEngine, LoopThread

_PID = 10_000_000
"""A session's id is its worker's process id, times this, and a number."""


@pytest.fixture
def engine(loop_thread: LoopThread, tmp_path: Path) -> Iterator[FakeEngine]:
    fake = FakeEngine()
    served = fake.app()
    served.add_routes([web.post("/v1/evaluation/evaluate", _judged)])
    runner = web.AppRunner(served, shutdown_timeout=0.1, handler_cancellation=True)

    async def listen() -> None:
        await runner.setup()
        await web.UnixSite(runner, str(tmp_path / "e.sock")).start()

    loop_thread.run(listen())
    yield fake
    loop_thread.run(runner.cleanup())


async def _judged(_: web.Request) -> web.Response:
    return web.Response(body=msgspec.json.encode(EvaluateReply(Verdict.FIRST, sql="SELECT 2", shown=1)))


@pytest.fixture
def config(upstream: Cluster, tmp_path: Path) -> Path:
    file = tmp_path / "pgparley.toml"
    file.write_text(
        f"""{relaying(upstream)}engine = "{tmp_path}/e.sock"
[engine]
socket = "{tmp_path}/e.sock"
[audit]
log = "{tmp_path}/audit.log"
key = "{tmp_path}/audit.key"
heads = "{tmp_path}/heads"
before = true
redact = "none"
""",
        encoding="utf-8",
    )
    pgparley(file, "audit", "key")
    return file


def lines(config: Path) -> list[dict[str, Any]]:
    text = (config.parent / "audit.log").read_bytes()
    return [json.loads(line) for line in text.splitlines()]


def test_a_worker_killed_between_line_and_answer_leaves_the_line(
    config: Path, engine: FakeEngine, upstream: Cluster
) -> None:
    engine.statement = "SELECT pg_sleep(600) AS a"
    with part(config, "gateway"):
        session = connected(port_of(config))
        session.execute("NL: $$how many?$$").fetchall()
        session.pgconn.send_query(b"NL CHOOSE 1")
        session.pgconn.flush()
        with psycopg.connect(upstream.dsn(), autocommit=True) as look:
            while not look.execute(
                "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600) AS a%' AND pid <> pg_backend_pid()"
            ).fetchone():
                pass
        # The server has the statement: its line was there before.
        asked, delivered, chosen = lines(config)
        assert (asked["event"], delivered["event"], chosen["event"]) == ("intent", "outcome", "intent")
        assert (chosen["verb"], chosen["statements"]) == ("choose", [engine.statement])
        os.kill(chosen["session"] // _PID, signal.SIGKILL)
        lost = session.pgconn.get_result()
        assert lost is not None
        assert lost.status == pq.ExecStatus.FATAL_ERROR
        assert session.pgconn.status == pq.ConnStatus.BAD
        session.close()
        assert lines(config)[-1] == chosen
        assert "3 lines, 1 chains: all as they were written" in pgparley(
            config, "audit", "verify", str(config.parent / "audit.log")
        )


# How often more shows more moments, not another way to lose a line.
@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_nothing_was_answered_that_is_not_written_down(config: Path, engine: FakeEngine, kills: int) -> None:
    """Workers are killed at any moment, while two clients ask as fast as they are answered."""
    answered: list[str] = []
    over = threading.Event()

    def ask(client: int) -> None:
        number = 0
        while not over.is_set():
            session = connected(port_of(config))
            with contextlib.suppress(psycopg.OperationalError):
                while not over.is_set():
                    number += 1
                    question = f"question {client} {number}"
                    assert session.execute(f"NL: $${question}$$").fetchall()
                    answered.append(question)
            session.close()

    with part(config, "gateway"):
        clients = [threading.Thread(target=ask, args=(client,)) for client in range(2)]
        for client in clients:
            client.start()
        for _ in range(kills):
            before = len(answered)
            while len(answered) < before + 40:
                over.wait(0.001)
            os.kill(last(config), signal.SIGKILL)
        over.set()
        for client in clients:
            client.join()
    written = {line["question"] for line in lines(config) if line["event"] == "intent"}
    assert len(answered) >= kills * 40
    assert set(answered) <= written
    log = str(config.parent / "audit.log")
    found = pgparley(config, "audit", "verify", log, "--heads", str(config.parent / "heads"))
    assert "chains: all as they were written" in found


def test_commands_that_ask_past_the_gateway_are_in_it(config: Path, engine: FakeEngine) -> None:
    pgparley(config, "ask", "how many?", "--user", "ana")
    refused = CliRunner().invoke(app, ["--config", str(config), "ask", "no route", "--json"])
    assert refused.exit_code == 1
    known = config.parent / "known.yaml"
    known.write_text("- question: How many?\n  sql: SELECT 1\n  database: sales\n", encoding="utf-8")
    pgparley(config, "eval", str(known), "--user", "bob")
    asked, left, other, judged, done = lines(config)
    assert [each["event"] for each in (asked, left, other, judged, done)] == [
        *("intent", "outcome", "refusal", "intent", "outcome")
    ]
    assert (asked["role"], asked["application_name"], asked["question"]) == (
        "ana",
        "pgparley ask",
        "how many?",
    )
    assert asked["address"] == f"local:{getpass.getuser()}"
    assert (left["id"], left["rows"], left["bytes"] > 100) == (asked["id"], 2, True)
    assert (other["question"], other["sqlstate"]) == ("no route", "NL003")
    assert (judged["role"], judged["application_name"], judged["source"]) == ("bob", "pgparley eval", "sales")
    assert judged["statements"] == ["SELECT 1", "SELECT 2"]
    assert (done["id"], done["rows"]) == (judged["id"], 1)
    assert len(engine.asked) == 2
    log = str(config.parent / "audit.log")
    found = pgparley(config, "audit", "verify", log, "--heads", str(config.parent / "heads"))
    assert "5 lines, 3 chains: all as they were written" in found


def test_a_command_answers_nothing_that_cannot_be_written_down(config: Path, engine: FakeEngine) -> None:
    text = config.read_text("utf-8").replace("/audit.log", "/nowhere/audit.log")
    config.write_text(text, encoding="utf-8")
    refused = CliRunner().invoke(app, ["--config", str(config), "ask", "how many?"])
    assert refused.exit_code == 1
    assert "the audit log cannot be written" in refused.output
    assert engine.asked == []


def last(config: Path) -> int:
    """The process id of the worker that wrote last."""
    return next(line["session"] // _PID for line in reversed(lines(config)) if "session" in line)
