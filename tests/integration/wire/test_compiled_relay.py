"""Sessions on the compiled relay: they leave it and come back, and a client sees nothing of it."""

from __future__ import annotations

import random
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest
from wire_fixtures import refusal

from proxy.net import pump
from proxy.net.session.session_connection import SessionConnection

pytest.importorskip("proxy.net._pump", reason="the extension was not built")


def eventually(true: Callable[[], bool]) -> None:
    """Waits for what another thread does."""
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextmanager
def relayed(gateway: Any) -> Iterator[tuple[psycopg.Connection, SessionConnection]]:
    """A connection on the compiled relay, and its session."""
    before = set(gateway.worker.context.sessions.connections)
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        # A session that has prepared a question is looked at for ever.
        connection.prepare_threshold = None
        (session,) = set(gateway.worker.context.sessions.connections) - before
        onto_relay(connection, session)
        yield connection, session


def onto_relay(connection: psycopg.Connection, session: SessionConnection) -> None:
    """Runs plain statements until the relay has the session."""
    for _ in range(pump.HANDOVER_CHUNKS):
        connection.execute("SELECT 1")
    eventually(lambda: session._flow is not None)


def counts(gateway: Any, session: SessionConnection) -> tuple[int, int, bool]:
    """Cycles, transactions, whether it is at rest: as the console sees them."""

    async def read() -> tuple[int, int, bool]:
        replies = session.session.backend.replies
        return replies.cycles, replies.transactions, session.session.at_rest

    return gateway.loop.run(read())


def test_a_plain_session_gets_there_and_is_counted(gateway: Any) -> None:
    with relayed(gateway) as (connection, session):
        cycles, transactions, at_rest = counts(gateway, session)
        assert at_rest
        connection.execute("BEGIN")
        connection.execute("SELECT 1")
        assert counts(gateway, session) == (cycles + 2, transactions, False)
        connection.execute("COMMIT")
        assert counts(gateway, session) == (cycles + 3, transactions + 1, True)
        assert session._flow is not None
        sent = session.sent
        connection.execute("SELECT repeat('x', 100000)")
        counts(gateway, session)
        assert session.sent > sent + 100_000


def _transaction(connection: psycopg.Connection) -> Any:
    connection.execute("BEGIN")
    found = [refusal(connection, each).sqlstate for each in ("SELECT 1 / 0", "SELECT 1", "NL: x")]
    connection.execute("ROLLBACK")
    return found, connection.info.transaction_status


def _copy(connection: psycopg.Connection) -> Any:
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS copied (n int)")
    with connection.cursor().copy("COPY copied FROM STDIN") as into:
        for number in range(500):
            into.write_row((number,))
    with connection.cursor().copy("COPY copied TO STDOUT") as out:
        rows = sum(1 for _ in out.rows())
    connection.execute("TRUNCATE copied")
    return rows


def _pipeline(connection: psycopg.Connection) -> Any:
    with connection.pipeline():
        cursors = [connection.execute("SELECT %s::int", (number,)) for number in range(60)]
    return [cursor.fetchone() for cursor in cursors]


STEPS: dict[str, Callable[[psycopg.Connection], Any]] = {
    "plain": lambda c: c.execute("SELECT generate_series(1, 3)").fetchall(),
    "parameters": lambda c: c.execute("SELECT %s::int + 1", (41,)).fetchall(),
    "question": lambda c: c.execute("NL: how many?").fetchall(),
    "error": lambda c: refusal(c, "SELECT 1 / 0").sqlstate,
    "setting": lambda c: c.execute("SET client_encoding TO 'UTF8'").statusmessage,
    "long": lambda c: c.execute("SELECT length(%s::text)", ("x" * 400_000,)).fetchall(),
    "large": lambda c: len(c.execute("SELECT repeat('x', 1000) FROM generate_series(1, 3000)").fetchall()),
    "transaction": _transaction,
    "copy": _copy,
    "pipeline": _pipeline,
    "several": lambda c: c.execute("SELECT 1; SELECT 2; NL: how many?").statusmessage,
}


def test_leaving_and_coming_back_changes_nothing(gateway: Any) -> None:
    expected = {}
    with psycopg.connect(gateway.direct(), autocommit=True) as connection:
        for name in STEPS.keys() - {"question", "several", "transaction"}:
            expected[name] = STEPS[name](connection)
    draw = random.Random(7)  # noqa: S311 - an order, no secret
    with relayed(gateway) as (connection, session):
        for _ in range(120):
            name = draw.choice(list(STEPS))
            got = STEPS[name](connection)
            assert got == expected.setdefault(name, got), name
            if draw.random() < 0.5:
                onto_relay(connection, session)
        assert expected["transaction"][0] == ["22012", "25P02", "25P02"]


def test_slow_reader_of_a_large_result_gets_all_of_it(gateway: Any) -> None:
    with relayed(gateway) as (connection, session):
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY (SELECT repeat('x', 1000) FROM generate_series(1, 50000)) TO STDOUT") as out,
        ):
            first = bytes(out.read())
            eventually(lambda: session._flow is not None)
            rest = sum(len(chunk) for chunk in out)
        assert len(first) + rest == 50_000 * 1001
        assert counts(gateway, session)[2]


def test_large_result_goes_there_while_it_runs(gateway: Any) -> None:
    before = set(gateway.worker.context.sessions.connections)
    rows = 400_000
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        (session,) = set(gateway.worker.context.sessions.connections) - before
        assert session._flow is None
        statement = f"COPY (SELECT repeat('x', n % 20) FROM generate_series(1, {rows}) n) TO STDOUT"
        with connection.cursor() as cursor, cursor.copy(statement) as out:
            size = len(bytes(out.read()))
            eventually(lambda: session._flow is not None)
            flow = session._flow
            size += sum(len(chunk) for chunk in out)
        assert size == sum(n % 20 for n in range(1, rows + 1)) + rows
        assert connection.execute("SELECT 1").fetchone() == (1,)
        # Rows of a few bytes: chunks end inside of headers again and again, and that is no reason to leave.
        assert session._flow is flow
        assert counts(gateway, session)[2]


def test_cancelled_while_a_chunk_ends_inside_of_a_header(gateway: Any) -> None:
    statement = "COPY (SELECT generate_series(1, 100000000) % 10) TO STDOUT"
    with (
        relayed(gateway) as (connection, session),
        psycopg.connect(gateway.direct(user="postgres"), autocommit=True) as admin,
    ):
        for _ in range(3):
            with connection.cursor() as cursor, pytest.raises(psycopg.errors.QueryCanceled):  # noqa: PT012, SIM117
                with cursor.copy(statement) as out:
                    out.read()
                    admin.execute("SELECT pg_cancel_backend(%s)", (connection.info.backend_pid,))
                    for _ in out:
                        pass
            assert connection.execute("SELECT 41 + 1").fetchone() == (42,)
        assert counts(gateway, session)[2]


def test_terminated_backend_says_so(gateway: Any) -> None:
    with relayed(gateway) as (victim, _):
        with psycopg.connect(gateway.direct(user="postgres"), autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", (victim.info.backend_pid,))
        with pytest.raises(psycopg.errors.AdminShutdown):
            victim.execute("SELECT 1")


def test_client_that_leaves_takes_its_backend_along(gateway: Any) -> None:
    with psycopg.connect(gateway.direct(user="postgres"), autocommit=True) as admin:
        with relayed(gateway) as (connection, session):
            backend = connection.info.backend_pid
            with socket.socket(fileno=connection.fileno()) as raw:
                raw.shutdown(socket.SHUT_RDWR)
                raw.detach()
            eventually(lambda: session not in gateway.worker.context.sessions.connections)
        asked = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
        eventually(lambda: admin.execute(asked, (backend,)).fetchall() == [(0,)])


def test_shutting_down_a_session_that_is_there(gateway: Any) -> None:
    async def end(session: SessionConnection) -> None:
        session.shut_down()

    with relayed(gateway) as (connection, session):
        gateway.loop.run(end(session))
        with pytest.raises(psycopg.OperationalError, match="the gateway shuts down"):
            connection.execute("SELECT 1")


def result_of(connection: psycopg.Connection) -> psycopg.pq.abc.PGresult:
    """The one result of what was sent. Waits in Python: libpq would keep the gateway's thread from running."""
    results = []
    while True:
        while connection.pgconn.is_busy():
            select.select([connection.fileno()], [], [], 10)
            connection.pgconn.consume_input()
        result = connection.pgconn.get_result()
        if result is None:
            break
        results.append(result)
    (only,) = results
    return only


def test_cancelling_a_statement_that_runs_there(gateway: Any) -> None:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'advisory'"
    with (
        relayed(gateway) as (connection, _),
        psycopg.connect(gateway.dsn(), autocommit=True) as holder,
        psycopg.connect(gateway.direct(user="postgres"), autocommit=True) as admin,
    ):
        holder.execute("SELECT pg_advisory_lock(11)")
        connection.pgconn.send_query(b"SELECT pg_advisory_lock(11)")
        pid = connection.info.backend_pid
        eventually(lambda: admin.execute(waits, (pid,)).fetchall() == [(1,)])
        connection.cancel_safe()
        assert result_of(connection).error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"57014"
        assert connection.execute("SELECT 2").fetchall() == [(2,)]


def test_sixty_sessions_at_once(gateway: Any) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(psycopg.connect(gateway.dsn())) for _ in range(60)]
        for number in range(12):
            for connection in opened:
                connection.pgconn.send_query(f"SELECT {number}, {connection.fileno()}".encode())
            for connection in opened:
                row = result_of(connection)
                assert (row.get_value(0, 0), row.get_value(0, 1)) == (
                    str(number).encode(),
                    str(connection.fileno()).encode(),
                )
