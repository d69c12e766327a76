"""Gateway and engine as `pgparley serve` runs them, in front of the arena, with a model that says what it is told.

Owns starting and stopping them for one server. Each test sets `script` to the statements that the model writes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from aiohttp import web

from tests.chat_server import completion
from tests.conftest import free_port
from tests.security.arena import CATALOG
from tests.security.servers import Server
from tests.support.stack import Stack


@dataclass
class Script:
    """What the model says, statement after statement and round again."""

    statements: tuple[str, ...] = ("SELECT 1",)
    _turn: Iterator[int] = field(default_factory=itertools.count)

    async def chat(self, _: web.Request) -> web.Response:
        """A chat completion."""
        statement = self.statements[next(self._turn) % len(self.statements)]
        return completion(f"{statement}\n```")


@dataclass(frozen=True, slots=True)
class Live:
    """A running stack in front of `server`. `script`: what its model says."""

    server: Server
    script: Script
    stack: Stack

    def uri(self, role: str, dbname: str = "arena") -> str:
        """A connection through the gateway."""
        return self.stack.uri(dbname, role)

    def refreshed(self) -> None:
        """Has the catalog read the arena anew: what a test planted is known to the questions after it."""
        self.stack.pgparley("catalog", "refresh", "arena")


@contextmanager
def serving(server: Server, home: Path, model: str, script: Script) -> Iterator[Live]:
    """The stack of `server`, from ready to ended; `model`: the address that `script` answers at."""
    stack = Stack(server.cluster, home, free_port())
    with psycopg.connect(server.cluster.dsn(), autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS store WITH (FORCE)")
        admin.execute("CREATE DATABASE store")
    stack.configure(f"{model}/v1", nl_timeout=30.0, grammar="none")
    stack.register("arena", CATALOG)
    with stack.serving():
        yield Live(server, script, stack)
