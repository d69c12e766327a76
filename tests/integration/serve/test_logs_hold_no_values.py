"""A row's value that a server repeats in an error reaches the asker, and no log of gateway or engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from aiohttp import web

from pgparley import cluster
from tests.chat_server import chat_server, completion
from tests.conftest import free_port
from tests.support.stack import START, Stack

VALUE = "zanzibar"
STATEMENT = "SELECT note::int FROM visit"


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[cluster.Cluster]:
    running = cluster.start(tmp_path / "data")
    with psycopg.connect(running.dsn(), autocommit=True) as admin:
        for statement in ("CREATE ROLE analyst LOGIN", "CREATE DATABASE store", "CREATE DATABASE clinic"):
            admin.execute(statement)
    with psycopg.connect(running.dsn("clinic"), autocommit=True) as clinic:
        clinic.execute("CREATE TABLE visit (visit_id int PRIMARY KEY, note text)")
        clinic.execute("INSERT INTO visit VALUES (1, %s)", [VALUE])
        clinic.execute("GRANT SELECT ON visit TO analyst")
    yield running
    cluster.stop(running)


async def chat(_: web.Request) -> web.Response:
    return completion(f"{STATEMENT}\n```")


@pytest.mark.timeout(2 * START)
async def test_an_error_with_a_value(upstream: cluster.Cluster, tmp_path: Path) -> None:
    stack = Stack(upstream, tmp_path, free_port())
    async with chat_server(chat) as model:
        stack.configure(f"{model}/v1", nl_timeout=60.0, grammar="none")
        with stack.config.open("a", encoding="utf-8") as config:
            config.write("[limits]\nrun_candidates = false\n[dialogue]\nabstention = 1.0\n")
        said = await asyncio.to_thread(_asked, stack)
    log = (tmp_path / "serve.log").read_text("utf-8")
    assert all(f'nvalid input syntax for type integer: "{VALUE}"' in each for each in said), said
    assert '"event": "nl_failed"' in log
    assert "22P02" in log
    assert VALUE not in log


def _asked(stack: Stack) -> list[str]:
    """What the asker reads of statements that the engine runs, and the asker's own session."""
    stack.catalog("add", "clinic", "--dsn", stack.cluster.dsn("clinic"))
    stack.catalog("login", "clinic", "*")
    said = []
    with stack.serving():
        for dbname in ("postgres", "clinic"):
            with psycopg.connect(stack.uri(dbname), autocommit=True) as session:
                session.execute("NL (db clinic): $$What are the notes of all visits as numbers?$$")
                for statement in ("NL CHOOSE 1", f"NL CORRECT $${STATEMENT} WHERE visit_id = '{VALUE}'$$"):
                    with pytest.raises(psycopg.Error) as problem:
                        session.execute(statement)
                    said.append(str(problem.value))
    return said
