"""What breaks around the gateway ends in the right error, for those whom it concerns alone, and leaves nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiohttp import web
from middle import Faults
from wire_fixtures import FakeEngine

LARGE = "SELECT g, repeat('x', 1000) FROM generate_series(1, 200000) g"
CONNECTIONS = 1000
MEMORY = 32 << 20
"""Bytes that a slow reader may cost the gateway at most, of a result of 200 MB."""


def opened(port: int, user: str = "analyst") -> socket.socket:
    """A plain socket that has logged in."""
    client = socket.create_connection(("127.0.0.1", port), 10)
    client.settimeout(20)
    words = b"user\0" + user.encode() + b"\0database\0wire\0\0"
    client.sendall(struct.pack(">II", len(words) + 8, 196608) + words)
    seen = b""
    while not seen.endswith(b"Z\0\0\0\5I"):
        seen += client.recv(1 << 16)
    return client


def query(text: str) -> bytes:
    return b"Q" + struct.pack(">I", len(text.encode()) + 5) + text.encode() + b"\0"


def resident() -> int:
    """Bytes of memory that this process, and the gateway in it, uses."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# -- the server


@pytest.mark.parametrize("cut_after", [3_000, 65_536 + 17, 1_000_003])
def test_server_is_cut_off_in_the_middle_of_a_row(hurt: Any, cut_after: int) -> None:
    with psycopg.connect(hurt.gateway.dsn()) as bystander:
        hurt.middle.faults = Faults(cut_after=cut_after)
        with psycopg.connect(hurt.gateway.dsn()) as connection:
            with pytest.raises(psycopg.OperationalError, match="server closed the connection unexpectedly"):
                connection.execute(LARGE)
            assert connection.closed
        assert bystander.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("cut_after", [0, 1, 9, 200])
def test_server_is_cut_off_during_the_login(hurt: Any, cut_after: int) -> None:
    hurt.middle.faults = Faults(cut_after=cut_after)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(hurt.gateway.dsn(connect_timeout="10"))


def test_server_goes_while_the_engine_works(hurt: Any) -> None:
    with psycopg.connect(hurt.gateway.dsn(), autocommit=True) as connection:
        pid = connection.info.backend_pid
        caught: list[Exception] = []

        def ask() -> None:
            try:
                connection.execute("NL: wait for ever")
            except psycopg.Error as error:
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert hurt.gateway.engine.waiting.wait(10)
        with psycopg.connect(hurt.gateway.direct(user="postgres"), autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
        thread.join(10)
        assert isinstance(caught[0], psycopg.errors.AdminShutdown)
        assert hurt.gateway.engine.aborted.wait(10)


def test_server_falls_silent_in_the_middle_of_a_message(hurt: Any) -> None:
    hurt.middle.faults = Faults(stall_after=2_000)
    with contextlib.closing(opened(hurt.gateway.port)) as client:
        client.sendall(query(LARGE))
        client.settimeout(0.5)
        got = 0
        with contextlib.suppress(TimeoutError):
            while data := client.recv(1 << 16):
                got += len(data)
        assert 0 < got <= 2_000


# -- the client


def test_half_a_message_and_silence(hurt: Any) -> None:
    whole = query("SELECT 'half'")
    silent = [opened(hurt.gateway.port) for _ in range(3)]
    for client, size in zip(silent, (1, 4, len(whole) - 1), strict=True):
        client.sendall(whole[:size])
    unborn = [socket.create_connection(("127.0.0.1", hurt.gateway.port), 10) for _ in range(3)]
    for client, start in zip(unborn, (b"", b"\0\0", b"\0\0\0\x40\0\3\0\0user\0"), strict=True):
        client.sendall(start)
    hurt.healthy()
    silent[2].sendall(whole[-1:])
    assert b"half" in silent[2].recv(1 << 16)
    for client in [*silent, *unborn]:
        client.close()


def test_silent_login_is_ended(start_gateway: Any) -> None:
    strict = start_gateway(client_login_timeout=0.2)
    with contextlib.closing(socket.create_connection(("127.0.0.1", strict.port), 10)) as client:
        client.sendall(b"\0\0\0\x40\0\3")
        client.settimeout(10)
        told = b""
        while data := client.recv(1 << 16):
            told += data
        assert told == b"" or told[:1] == b"E"


@pytest.mark.parametrize("reset", [False, True])
def test_client_goes_while_the_engine_works(hurt: Any, *, reset: bool) -> None:
    client = opened(hurt.gateway.port)
    client.sendall(query("NL: wait for ever"))
    assert hurt.gateway.engine.waiting.wait(10)
    if reset:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    assert hurt.gateway.engine.aborted.wait(10)


def test_client_goes_in_the_middle_of_a_result(hurt: Any) -> None:
    client = opened(hurt.gateway.port)
    client.sendall(query(LARGE))
    assert client.recv(1 << 16)
    client.close()


def test_slow_reader_costs_bounded_memory(hurt: Any) -> None:
    with contextlib.closing(opened(hurt.gateway.port)) as client:
        before = resident()
        client.sendall(query(LARGE))
        passed = -1
        while passed != hurt.middle.passed or passed < 1 << 16:
            passed = hurt.middle.passed
            time.sleep(0.3)
        assert passed < 200_000_000 / 4
        assert resident() - before < MEMORY
        peak, got, last = 0, 0, b""
        while not last.endswith(b"Z\0\0\0\5I"):
            last = client.recv(1 << 20)
            got += len(last)
            peak = max(peak, resident())
        assert got > 200_000_000
        assert peak - before < MEMORY


# -- the engine


def test_engine_is_killed_in_the_middle_of_a_question(hurt: Any, start_gateway: Any, tmp_path: Path) -> None:
    loop, engine, path = hurt.gateway.loop, FakeEngine(), tmp_path / "engine"
    runner = web.AppRunner(engine.app(), shutdown_timeout=0.1, handler_cancellation=True)

    async def listen() -> None:
        await runner.setup()
        await web.UnixSite(runner, str(path)).start()

    loop.run(listen())
    alone = start_gateway(engine=str(path))
    with psycopg.connect(alone.dsn(), autocommit=True) as connection:
        caught: list[psycopg.Error] = []

        def ask() -> None:
            try:
                connection.execute("NL: wait for ever")
            except psycopg.Error as error:
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert engine.waiting.wait(10)
        loop.run(runner.cleanup())
        thread.join(10)
        assert caught[0].sqlstate == "58000"
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
        with pytest.raises(psycopg.Error) as again:
            connection.execute("NL: x")
        assert again.value.sqlstate == "58000"


# -- many


def test_a_thousand_connections_at_once(hurt: Any) -> None:
    """The server takes a hundred: each of the others gets the server's own error, and nothing is left of them."""

    async def one(number: int) -> str:
        try:
            dsn = hurt.gateway.dsn(connect_timeout="60")
            async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
                cursor = await connection.execute("SELECT %s::int", (number,))
                return "served" if await cursor.fetchall() == [(number,)] else "wrong"
        except psycopg.OperationalError as error:
            full = "too many clients already" in str(error) or "remaining connection slots" in str(error)
            return "refused" if full else str(error)

    async def everybody() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(CONNECTIONS)))

    outcomes = asyncio.run(everybody())
    assert set(outcomes) <= {"served", "refused"}
    assert outcomes.count("served") >= 80
