"""A gateway whose way to the server leads through a middle that can hurt it, and the console that counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from middle import Faults, Middle
from wire_fixtures import Gateway, LoopThread, loop_thread, start_gateway, wire_cluster

__all__ = ["loop_thread", "start_gateway", "wire_cluster"]


@dataclass(frozen=True, slots=True)
class Hurt:
    """A gateway behind a `middle`, through which every connection to the server leads."""

    gateway: Gateway
    middle: Middle

    def settled(self) -> None:
        """Fails unless, within 10 seconds, the console counts no session and the server has no connection of ours."""
        dsn = self.gateway.dsn(user="postgres", dbname="pgparley")
        deadline = time.monotonic() + 10
        with psycopg.connect(dsn, autocommit=True) as console:
            while True:
                lists = dict(console.execute("SHOW LISTS").fetchall())
                counts = (lists["used_clients"], lists["login_clients"], lists["used_servers"])
                if counts == (0, 0, 0) and self.middle.open == 0:
                    return
                assert time.monotonic() < deadline, (counts, self.middle.open)
                time.sleep(0.05)

    def healthy(self) -> None:
        """Fails unless a new client is served, by SQL and by an answer."""
        self.middle.faults = Faults()
        with psycopg.connect(self.gateway.dsn(), autocommit=True) as connection:
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
            assert len(connection.execute("NL: still there?").fetchall()) == 2


@pytest.fixture
def hurt(start_gateway: Callable[..., Gateway], loop_thread: LoopThread, wire_cluster: Any) -> Iterator[Hurt]:
    """Whatever a test does, nothing may be left of it and the next client must be served."""
    middle = Middle(str(Path(wire_cluster.socket_dir) / f".s.PGSQL.{wire_cluster.port}"))
    loop_thread.run(middle.start())
    # None dialled ahead: a socket has the faults that stood when it was dialled.
    gateway = start_gateway(
        upstream_host="127.0.0.1", upstream_port=middle.port, stats_users="postgres", dial_ahead=0
    )
    made = Hurt(gateway, middle)
    yield made
    made.healthy()
    made.settled()
    loop_thread.run(middle.stop())
