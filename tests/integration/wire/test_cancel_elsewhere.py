"""A cancel request that lands on another worker than its session."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

WAIT = "wait for ever"


def test_a_question_is_cancelled_wherever_it_waits(start_gateway: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = start_gateway(runtime_dir=str(folder))
    own, other = folder / f"gateway-{os.getpid()}.sock", folder / "gateway-1.sock"
    # Both workers live in this process: the first takes another name.
    own.rename(other)
    asked.worker._channel._path = other
    elsewhere = start_gateway(runtime_dir=str(folder))
    with psycopg.connect(asked.dsn(), autocommit=True) as connection:
        (key,) = asked.worker.context.keys.owners
        ended: list[BaseException] = []

        def ask() -> None:
            try:
                connection.execute(f"NL: {WAIT}")
            except psycopg.Error as problem:
                ended.append(problem)

        thread = threading.Thread(target=ask)
        thread.start()
        assert asked.engine.waiting.wait(10)
        with socket.create_connection(("127.0.0.1", elsewhere.port)) as client:
            client.sendall((8 + len(key)).to_bytes(4, "big") + (80877102).to_bytes(4, "big") + key)
            assert client.recv(1) == b""
        thread.join(10)
        assert asked.engine.aborted.wait(10)
        assert [type(problem) for problem in ended] == [psycopg.errors.QueryCanceled]
        assert connection.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM nothing")


def test_a_key_of_protocol_3_2(gateway: Any) -> None:
    """It is longer than that of 3.0 where the server speaks 3.2, and passes both ways."""
    if psycopg.pq.version() < 180000:
        pytest.skip("this libpq asks for 3.0 alone")
    with psycopg.connect(gateway.dsn(max_protocol_version="3.2"), autocommit=True) as connection:
        (key,) = gateway.worker.context.keys.owners
        assert (len(key) > 8) is (connection.info.server_version >= 180000)
        timer = threading.Thread(target=_cancel_when_it_sleeps, args=(gateway, connection))
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(60)")
        timer.join(10)


def _cancel_when_it_sleeps(gateway: Any, connection: psycopg.Connection) -> None:
    asleep = "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
    with psycopg.connect(gateway.direct("postgres"), autocommit=True) as admin:
        while admin.execute(asleep, (connection.info.backend_pid,)).fetchone() is None:
            pass
    connection.cancel_safe()
