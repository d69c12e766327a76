"""One server for the folder, with a database that analysts read; and one installation that several files ask."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from pgparley.cluster import Cluster
from tests.chat_server import chat_server_beside, completion
from tests.conftest import Postgres, free_port
from tests.support.stack import Stack
from tests.support.statements import execute_now
from tests.wire_fixtures import LoopThread, loop_thread

__all__ = ["loop_thread"]

_NUMBERS = itertools.count(1)

FAILURES, PAUSE = 2, 0.5
"""Of the model's circuit."""

DATABASES = {
    "music": """
        CREATE TABLE singer (singer_id int PRIMARY KEY, name text, country text, age int);
        INSERT INTO singer SELECT n, 'Singer ' || n, 'France', n FROM generate_series(1, 90) n;""",
    "shop": "CREATE TABLE product (product_id int PRIMARY KEY, name text, price numeric)",
    "clinic": """
        CREATE TABLE visit (visit_id int PRIMARY KEY, note text);
        INSERT INTO visit VALUES (1, 'zanzibar');""",
}


@pytest.fixture(scope="session")
def upstream(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("serve") as running:
        execute_now(
            running.dsn(), "CREATE ROLE analyst LOGIN", *(f"CREATE DATABASE {name}" for name in DATABASES)
        )
        for name, script in DATABASES.items():
            execute_now(running.dsn(name), script, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst")
        yield running


@pytest.fixture
def store(upstream: Cluster) -> str:
    """The DSN of an empty database."""
    name = f"store_{next(_NUMBERS)}"
    execute_now(upstream.dsn(), f"CREATE DATABASE {name}")
    return upstream.dsn(name)


@dataclass
class Model:
    """Says the readings that are scripted for a question; those `beyond` where it is told what was found."""

    script: dict[str, list[str]] = field(default_factory=dict)
    beyond: list[str] = field(default_factory=list)
    asked: int = 0
    away: bool = False

    async def chat(self, request: web.Request) -> web.Response:
        """A chat completion, unless it is away."""
        self.asked += 1
        if self.away:
            return web.json_response({"error": {"message": "out of memory"}}, status=500)
        return completion(json.dumps(self._reply((await request.json())["messages"][-1]["content"])))

    def _reply(self, user: str) -> dict[str, Any]:
        question = user.rpartition("### Question\n")[2].partition("\n\n")[0]
        said = self.beyond if "\n### Already found\n" in user else self.script.get(question)
        if said is None:
            return {"answer": "yes"}
        listed = [{"meaning": "", "sql": sql, "assumes": ""} for sql in said]
        full = {"question": question} if "### Asked before" in user else {}
        return {**full, "readings": listed, "cannot": None}


@pytest.fixture(scope="session")
def model() -> Model:
    return Model()


@pytest.fixture(scope="session")
def stack(
    upstream: Cluster, model: Model, loop_thread: LoopThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """Gateway and engine as `pgparley serve` runs them."""
    execute_now(upstream.dsn(), "CREATE DATABASE store")
    running = Stack(upstream, tmp_path_factory.mktemp("served"), free_port())
    with chat_server_beside(loop_thread, model.chat) as url:
        running.configure(f"{url}/v1", nl_timeout=60.0, grammar="none")
        with running.config.open("a", encoding="utf-8") as file:
            file.write(
                f"circuit_failures = {FAILURES}\ncircuit_pause = {PAUSE}\n"
                '[generation]\nstrategy = "readings"\n'
                "[limits]\nreuse = 0\nrun_candidates = false\n"
                "[dialogue]\nquestions = 0\nabstention = 1.0\n"
            )
        for name in DATABASES:
            running.register(name)
        with running.serving():
            yield running
