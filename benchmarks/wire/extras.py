"""The measurements that need no rounds: memory of idle connections, and what a question costs at the gateway."""

from __future__ import annotations

import contextlib
import socket
import statistics
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.harness.machine import rss_kb
from benchmarks.harness.processes import HOST, process, until
from benchmarks.wire.engine import ROWS
from benchmarks.wire.systems import DATABASE, USER, System
from proxy.protocol import replacement_sql

IDLE = 1000
_BEFORE = 10
"""Connections that stand when the base is measured: what the first ones load belongs to the base."""
_QUESTIONS = 400
_WARM = 50
_READY = b"Z\0\0\0\5I"


@dataclass(frozen=True, slots=True)
class Idle:
    """Memory of the relaying processes. `base_kb` at few connections, `each_kb` for each of `connections` more."""

    system: str
    connections: int
    base_kb: int
    each_kb: float


@dataclass(frozen=True, slots=True)
class Overhead:
    """Milliseconds, medians: of an NL statement, of the plain SELECT with the same result, of the difference."""

    n: int
    nl_ms: float
    select_ms: float
    difference_ms: float
    difference_p95_ms: float


def idle(system: System) -> Idle:
    """Opens the connections, runs a statement on each, and reads the memory."""
    with contextlib.ExitStack() as opened:
        for _ in range(_BEFORE):
            opened.enter_context(_connected(system.port))
        base = rss_kb(system.pids)
        for _ in range(IDLE):
            opened.enter_context(_connected(system.port))
        return Idle(system.name, IDLE, base, round((rss_kb(system.pids) - base) / IDLE, 2))


@contextmanager
def _connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection((HOST, port), 30) as sock:
        body = struct.pack(">I", 196608) + f"user\0{USER}\0database\0{DATABASE}\0\0".encode()
        sock.sendall(struct.pack(">I", len(body) + 4) + body)
        _until_ready(sock)
        query = b"SELECT 1\0"
        sock.sendall(b"Q" + struct.pack(">I", len(query) + 4) + query)
        _until_ready(sock)
        yield sock


def _until_ready(sock: socket.socket) -> None:
    said = b""
    while not said.endswith(_READY):
        more = sock.recv(1 << 16)
        if not more:
            raise RuntimeError(f"the server closed the connection: {said!r}")
        said += more


@contextmanager
def fake_engine(path: Path) -> Iterator[Path]:
    """An engine that answers at once, as a process of its own."""
    with process([sys.executable, "-m", "benchmarks.wire.engine", str(path)]) as started:
        until(path.exists, started, 30)
        yield path


def overhead(system: System) -> Overhead:
    """NL statements and plain ones in turn, on one connection.

    Subtracted is the time of the plain SELECT that the gateway sends to the server in the question's place.
    Nothing is subtracted for the engine: its answer is fixed bytes, and the way to it and back is the gateway's.
    """
    select = replacement_sql.answer_query(
        replacement_sql.constant(replacement_sql.rows_json(ROWS, ascii_only=False))
    )
    asked: list[float] = []
    plain: list[float] = []
    address = f"host={HOST} port={system.port} user={USER} dbname={DATABASE}"
    with psycopg.connect(address, autocommit=True) as connection:
        for number in range(_WARM + _QUESTIONS):
            question = f"NL: $$how many accounts are there, time {number}?$$"
            first, rows = _timed(connection, question)
            second, same = _timed(connection, select)
            if rows != same:
                raise RuntimeError("the answer is not what the fake engine said")
            asked.append(first)
            plain.append(second)
    differences = [a - b for a, b in zip(asked[_WARM:], plain[_WARM:], strict=True)]
    return Overhead(
        n=len(differences),
        nl_ms=round(statistics.median(asked[_WARM:]), 3),
        select_ms=round(statistics.median(plain[_WARM:]), 3),
        difference_ms=round(statistics.median(differences), 3),
        difference_p95_ms=round(statistics.quantiles(differences, n=20)[18], 3),
    )


def _timed(connection: psycopg.Connection, statement: str) -> tuple[float, list[tuple[object, ...]]]:
    began = time.perf_counter()
    rows = connection.execute(statement.encode()).fetchall()
    return (time.perf_counter() - began) * 1000, rows
