"""What is chosen in place ends by `nl.timeout`, and with its client; nothing else ends by it."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from proxy.protocol import codec
from proxy.protocol.codec import Bind, Parse

SLOW = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
SLACK = 1.5
SYNC = codec.message(b"S", b"")


@pytest.fixture
def slow(gateway: Any) -> Any:
    """A gateway whose engine chooses a statement that does not end, or another that the test sets."""
    gateway.engine.statement = SLOW
    yield gateway
    gateway.engine.statement = None


def _cancelled(work: Callable[[], object], seconds: float) -> psycopg.Error:
    started = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled, match=r"nl\.timeout") as error:
        work()
    taken = time.monotonic() - started
    assert seconds <= taken < seconds + SLACK
    assert "Raise nl.timeout" in str(error.value.diag.message_hint)
    return error.value


@pytest.mark.parametrize(
    "text",
    [
        "NL CHOOSE 1 OF 'q1'",
        "SELECT count(*) FROM nl.run('q1', 1) AS t, pg_class",
        "NL RUN (timeout 400ms): single",
    ],
)
@pytest.mark.parametrize("extended", [False, True], ids=["simple", "extended"])
@pytest.mark.parametrize("block", [False, True], ids=["alone", "in a transaction"])
def test_it_ends_by_the_timeout(slow: Any, text: str, *, extended: bool, block: bool) -> None:
    with psycopg.connect(slow.dsn(), autocommit=not block) as connection:
        connection.execute("SET nl.timeout = '400ms'")
        _cancelled(lambda: connection.execute(text, prepare=extended, binary=extended), 0.4)
        connection.rollback()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_message_of_several(slow: Any) -> None:
    """The time of all of them counts; what was before is undone, as with every error."""
    with psycopg.connect(slow.dsn(), autocommit=True) as connection:
        connection.execute("SET nl.timeout = '400ms'; CREATE TEMP TABLE t (a int)")
        text = "INSERT INTO t VALUES (1); SELECT pg_sleep(0.2); NL CHOOSE 1 OF 'q1'; INSERT INTO t VALUES (2)"
        _cancelled(lambda: connection.execute(text), 0.4)
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_pipelined(slow: Any) -> None:
    with psycopg.connect(slow.dsn(), autocommit=True) as connection:
        connection.execute("SET nl.timeout = '400ms'")

        def batch() -> None:
            with connection.pipeline():
                connection.execute("SELECT pg_sleep(0.6)")
                connection.execute("NL CHOOSE 1 OF 'q1'")
                connection.execute("SELECT pg_sleep(0.2)")

        _cancelled(batch, 1.0)
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_next_statement_is_never_hit(slow: Any) -> None:
    """The timeout is about as long as the statement: now this is first, now that."""
    slow.engine.statement = "SELECT pg_sleep(0.06)"
    ended = 0
    with psycopg.connect(slow.dsn(), autocommit=True) as connection:
        for timeout in range(20, 80):
            connection.execute(f"SET nl.timeout = '{timeout}ms'")
            try:
                connection.execute("NL CHOOSE 1 OF 'q1'")
            except psycopg.errors.QueryCanceled:
                ended += 1
            connection.execute("SELECT pg_sleep(0.005)")
        assert 0 < ended < 60


def test_the_time_between_two_executes_is_the_clients(slow: Any) -> None:
    slow.engine.statement = "SELECT pg_sleep(0.05), g FROM generate_series(1, 4) g"
    with psycopg.connect(slow.dsn(), autocommit=True) as connection:
        connection.execute("SET nl.timeout = '450ms'")
        with socket.socket(fileno=socket.dup(connection.pgconn.socket)) as raw:
            one = codec.message(b"E", b"\0" + struct.pack(">I", 1))
            flush = codec.message(b"H", b"")
            raw.sendall(
                codec.encode_query(b"BEGIN")
                + codec.encode_parse(Parse(b"", b"NL CHOOSE 1 OF 'q1'", ()))
                + codec.encode_bind(Bind(b"", b"", (), (), b"\0\0"))
                + flush
            )
            for _ in range(3):
                raw.sendall(one + flush)
                assert _read_until(raw, b"s\0\0\0\4")
                threading.Event().wait(0.3)
            raw.sendall(SYNC)
            assert b"57014" not in _read_until(raw, b"Z\0\0\0\5T")


def _read_until(raw: socket.socket, end: bytes) -> bytes:
    raw.settimeout(10)
    data = b""
    while not data.endswith(end):
        more = raw.recv(65536)
        assert more, data
        data += more
    return data


def test_a_statement_timeout_of_the_users_own_stays(slow: Any) -> None:
    with psycopg.connect(slow.dsn(), autocommit=True) as connection:
        connection.execute("SET nl.timeout = '5s'; SET statement_timeout = '300ms'")
        with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
            connection.execute("NL CHOOSE 1 OF 'q1'")


def test_plain_statements_have_no_end(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        connection.execute("SET nl.timeout = '100ms'")
        connection.execute("NL CHOOSE 1 OF 'q1'")
        connection.execute("SELECT pg_sleep(0.5)", prepare=True)
        connection.execute("SELECT pg_sleep(0.5)")


@pytest.mark.parametrize("rude", [True, False], ids=["reset", "closed"])
def test_it_ends_with_its_client(slow: Any, *, rude: bool) -> None:
    with psycopg.connect(slow.direct("postgres"), autocommit=True) as admin:
        connection = psycopg.connect(slow.dsn(application_name="gone"), autocommit=True)
        pid = connection.info.backend_pid
        connection.pgconn.send_query(b"NL CHOOSE 1 OF 'q1'")
        connection.pgconn.flush()
        state = sql.SQL(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = {} AND query LIKE 'WITH RECURSIVE%'"
        ).format(pid)
        while admin.execute(state).fetchone() == (0,):
            pass
        if rude:
            with socket.socket(fileno=socket.dup(connection.pgconn.socket)) as raw:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        started = time.monotonic()
        connection.close()
        alive = sql.SQL("SELECT count(*) FROM pg_stat_activity WHERE pid = {}").format(pid)
        while admin.execute(alive).fetchone() == (1,):
            assert time.monotonic() - started < 2 + SLACK


@pytest.mark.parametrize("text", ["SELECT pg_sleep(0.3), 'here'", "NL: single 'here'", "NL CHOOSE 1 OF 'q1'"])
def test_a_client_that_sends_no_more_gets_its_result(slow: Any, text: str) -> None:
    slow.engine.statement = "SELECT pg_sleep(0.3), 'here'"
    with (
        psycopg.connect(slow.dsn(), autocommit=True) as connection,
        socket.socket(fileno=socket.dup(connection.pgconn.socket)) as raw,
    ):
        raw.sendall(codec.encode_query(text.encode()))
        raw.shutdown(socket.SHUT_WR)
        assert b"here" in _read_until(raw, b"Z\0\0\0\5I")
        assert raw.recv(1) == b""
