"""What is not for us is the same through the gateway as without it; a cancel request finds its session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

SECRET = "pa:ss-wörd"

STATEMENTS = [
    "SELECT 1 AS a, 'x' AS b, NULL::text AS c",
    "SELECT g, repeat('é', g % 50), g::numeric / 7 FROM generate_series(1, 3000) g",
    "SELECT repeat('x', 3000000)",
    "SELECT decode(repeat('5a0000000549', 4000), 'hex')",
    "SELECT nl FROM (VALUES ('only', 1)) AS t(nl, n)",
    "SELECT 1/0",
    "SELEKT",
    "",
    "SELECT 'NL: not a question'",
    "DO $$ BEGIN RAISE NOTICE 'NL: hello'; END $$",
    "SHOW client_encoding",
]


def outcome(cursor: psycopg.Cursor[Any], query: str, *, binary: bool) -> tuple[Any, ...]:
    try:
        cursor.execute(query, binary=binary)
        if cursor.description is None:
            return (cursor.statusmessage,)
        return (cursor.statusmessage, [tuple(column) for column in cursor.description], cursor.fetchall())
    except psycopg.Error as error:
        diagnosis = error.diag
        return (error.sqlstate, str(error), diagnosis.source_function, diagnosis.statement_position)


@pytest.mark.parametrize(
    ("factory", "binary"), [(psycopg.Cursor, False), (psycopg.Cursor, True), (psycopg.ClientCursor, False)]
)
def test_results_are_equal(gateway: Any, factory: type[psycopg.Cursor[Any]], *, binary: bool) -> None:
    found = []
    for dsn in (gateway.direct(), gateway.dsn()):
        with psycopg.connect(dsn, autocommit=True) as connection:
            cursor = factory(connection)
            found.append([outcome(cursor, query, binary=binary) for query in STATEMENTS])
    assert found[0] == found[1]


def test_long_pipeline(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        with connection.pipeline():
            cursors = [connection.execute("SELECT %s::int, repeat('x', 3000)", (n,)) for n in range(2000)]
            found = [cursor.fetchall()[0][0] for cursor in cursors]
        assert found == list(range(2000))


def test_copy_both_ways(gateway: Any) -> None:
    rows = [(n, f"NL: row {n}\té\\", None) for n in range(5000)]
    with psycopg.connect(gateway.dsn()) as connection:
        connection.execute("CREATE TEMP TABLE copied (a int, b text, c text)")
        with connection.cursor() as cursor:
            with cursor.copy("COPY copied FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            with cursor.copy("COPY (TABLE copied ORDER BY a) TO STDOUT") as copy:
                copy.set_types(["int4", "text", "text"])
                assert list(copy.rows()) == rows
            with (
                pytest.raises(psycopg.errors.BadCopyFileFormat),
                cursor.copy("COPY copied FROM STDIN") as copy,
            ):
                copy.write("1\n" * 100_000)
        connection.rollback()
        assert connection.execute("NL: still here").rowcount == 2


def run(program: Path | str, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    words = [str(program), *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, **more)  # noqa: S603


def test_pgbench_and_pg_dump(gateway: Any) -> None:
    tools = gateway.cluster.bin_dir
    through = ["-h", "127.0.0.1", "-p", str(gateway.port), "-U", "analyst"]
    with psycopg.connect(gateway.direct(dbname="postgres", user="postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bench")
        connection.execute("CREATE DATABASE bench OWNER analyst")
    made = run(tools / "pgbench", "-i", "-q", "-s", "1", *through, "bench")
    assert made.returncode == 0, made.stderr
    for mode in ("simple", "extended", "prepared"):
        for script in ("-S", "-N"):
            words = [script, "-n", "-M", mode, "-c", "4", "-t", "50", *through, "bench"]
            ran = run(tools / "pgbench", *words)
            assert "number of failed transactions: 0" in ran.stdout, ran.stderr
    dumped = run(tools / "pg_dump", "--restrict-key=same", *through, "bench")
    socket = ["-h", str(gateway.cluster.socket_dir), "-p", str(gateway.cluster.port), "-U", "analyst"]
    direct = run(tools / "pg_dump", "--restrict-key=same", *socket, "bench")
    assert dumped.returncode == 0
    assert len(dumped.stdout) > 1_000_000
    assert dumped.stdout == direct.stdout


async def _renewed(gateway: Any) -> None:
    """A backend that waits for its client knows the pg_hba.conf of its fork: RECONNECT."""
    gateway.worker.context.reconnect("")


def test_scram_is_relayed_end_to_end(gateway: Any) -> None:
    hba = gateway.cluster.data_dir / "pg_hba.conf"
    before = hba.read_text()
    with psycopg.connect(gateway.direct(user="postgres"), autocommit=True) as connection:
        hba.write_text("local all scram scram-sha-256\n" + before)
        connection.execute("SELECT pg_reload_conf()")
        gateway.loop.run(_renewed(gateway))
        try:
            with psycopg.connect(gateway.dsn(user="scram", password=SECRET)) as client:
                assert client.execute("SELECT current_user").fetchall() == [("scram",)]
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                psycopg.connect(gateway.dsn(user="scram", password=SECRET[::-1]))
        finally:
            hba.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            gateway.loop.run(_renewed(gateway))


def test_upstream_that_is_down(start_gateway: Any, gateway: Any) -> None:
    alone = start_gateway(engine="", upstream_port=1)
    with pytest.raises(psycopg.OperationalError, match="cannot connect to the upstream server"):
        psycopg.connect(alone.dsn())


def test_terminated_backend_closes_its_client_alone(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn()) as victim, psycopg.connect(gateway.dsn()) as other:
        with psycopg.connect(gateway.direct(user="postgres"), autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", (victim.info.backend_pid,))
        with pytest.raises(psycopg.errors.AdminShutdown):
            victim.execute("SELECT 1")
        assert other.execute("SELECT 1").fetchall() == [(1,)]


def test_last_words_of_a_backend_that_a_write_finds_gone(gateway: Any) -> None:
    with (
        contextlib.closing(psycopg.connect(gateway.direct(user="postgres"), autocommit=True)) as admin,
        contextlib.closing(psycopg.connect(gateway.dsn(), autocommit=True)) as victim,
        ThreadPoolExecutor(1) as client,
    ):

        async def sent_while_the_gateway_stands_still() -> Any:
            answer = client.submit(victim.execute, "SELECT 1")
            while victim.pgconn.transaction_status != TransactionStatus.ACTIVE:
                time.sleep(0.001)  # noqa: ASYNC251 - no other task shall run
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", (victim.info.backend_pid,))
            return answer

        answer = gateway.loop.run(sent_while_the_gateway_stands_still())
        with pytest.raises(psycopg.errors.AdminShutdown):
            answer.result(10)


# -- cancelling
async def test_cancel_of_a_running_statement(gateway: Any) -> None:
    async with await psycopg.AsyncConnection.connect(gateway.dsn()) as connection:
        waiting = "SELECT pg_advisory_lock(7)"
        async with await psycopg.AsyncConnection.connect(gateway.dsn()) as holder:
            await holder.execute(waiting)
            with pytest.raises(psycopg.errors.QueryCanceled):
                await _cancelled_when(connection, waiting, lambda: _is_blocked(gateway))


async def _is_blocked(gateway: Any) -> bool:
    async with await psycopg.AsyncConnection.connect(gateway.direct(user="postgres")) as admin:
        cursor = await admin.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return await cursor.fetchone() == (1,)


async def _cancelled_when(connection: Any, query: str, ready: Any) -> None:
    task = asyncio.create_task(connection.execute(query))
    while not await ready():
        assert not task.done()
    await connection.cancel_safe()
    await task


async def test_cancel_of_a_waiting_question(gateway: Any) -> None:
    async def asked() -> bool:
        return bool(await asyncio.to_thread(gateway.engine.waiting.wait, 0.05))

    async with await psycopg.AsyncConnection.connect(gateway.dsn(), autocommit=True) as connection:
        for query in ("NL: wait for ever", "SELECT * FROM nl.ask('wait for ever')"):
            with pytest.raises(psycopg.errors.QueryCanceled, match="due to user request"):
                await _cancelled_when(connection, query, asked)
            assert gateway.engine.aborted.wait(10)
            cursor = await connection.execute("SELECT 5")
            assert await cursor.fetchall() == [(5,)]


def test_ctrl_c_in_psql(gateway: Any) -> None:
    words = ["/usr/bin/psql", "-X", "-A", "-t", gateway.dsn(), "-c", "NL: wait for ever", "-c", "SELECT 7"]
    psql = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    assert gateway.engine.waiting.wait(10)
    os.kill(psql.pid, signal.SIGINT)
    out, err = psql.communicate(timeout=10)
    assert "ERROR:  canceling statement due to user request" in err
    assert gateway.engine.aborted.wait(10)
    assert out in ("", "7\n")


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
