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
    asked.worker._control._path = other
    elsewhere = start_gateway(runtime_dir=str(folder))
    with psycopg.connect(asked.dsn(), autocommit=True) as connection:
        (key,) = asked.worker._keys
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
