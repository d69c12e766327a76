"""The console, as psql, psycopg and asyncpg see it, with several workers behind it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiohttp import web
from psycopg.rows import dict_row

from proxy.console import views

from .conftest import PASSWORD, StartGateway, dsn, session

POOLS = (
    "database user cl_active cl_waiting cl_active_cancel_req cl_waiting_cancel_req sv_active sv_active_cancel"
    " sv_being_canceled sv_idle sv_used sv_tested sv_login maxwait maxwait_us pool_mode load_balance_hosts"
)
CLIENTS = (
    "type user database replication state addr port local_addr local_port connect_time request_time wait wait_us"
    " close_needed ptr link remote_pid tls application_name prepared_statements id"
)


@pytest.fixture
async def console(gateway: StartGateway, tmp_path: Path) -> AsyncIterator[Any]:
    """Two workers that know each other in this process; `open()` gives a console on the first."""
    folder = tmp_path / "run"
    settings = {"admin_users": "postgres", "stats_users": "bob, monitor", "runtime_dir": str(folder)}
    first = await gateway(**settings)
    # The second stands for another process: it has a socket of another name.
    (folder / f"gateway-{os.getpid()}.sock").rename(folder / "gateway-1.sock")
    second = await gateway(**settings)
    first_channel = first._channel
    assert first_channel is not None
    first_channel._path = folder / "gateway-1.sock"

    async def opened(
        user: str = "postgres", database: str = "pgparley", **more: Any
    ) -> psycopg.AsyncConnection[Any]:
        text = dsn(first, user=user, dbname=database)
        return await psycopg.AsyncConnection.connect(text, autocommit=True, row_factory=dict_row, **more)

    opened.workers = (first, second)  # type: ignore[attr-defined]
    return opened


async def rows(connection: psycopg.AsyncConnection[Any], command: str) -> list[dict[str, Any]]:
    return await (await connection.execute(command)).fetchall()


async def test_who_may_enter(console: Any) -> None:
    for database in ("pgparley", "pgbouncer"):
        async with await console(database=database) as connection:
            assert (await rows(connection, "SHOW VERSION"))[0]["version"].startswith("pgparley")
    with pytest.raises(psycopg.OperationalError, match="may not enter"):
        await console(user="alice")
    text = dsn(console.workers[0], user="postgres", dbname="pgparley", password="wrong")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await psycopg.AsyncConnection.connect(text)
    with pytest.raises(psycopg.OperationalError):
        await console(user="monitor")


async def test_statisticians_look_and_touch_nothing(console: Any) -> None:
    """KILL_CLIENT by somebody who is no administrator among them."""
    async with await console() as admin, await console(user="bob") as stats:
        for view in sorted(views.NAMES - views.FOR_ADMINS - views.FROM_ENGINE - {"help"}):
            await rows(stats, f"SHOW {view}")
        before = await rows(admin, "SHOW STATE")
        changing = "KILL_CLIENT 1", "KILL", "PAUSE", "RELOAD", "SHUTDOWN", "DISABLE postgres"
        for command in (*changing, "SHOW NL_QUESTIONS"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="admin access needed"):
                await stats.execute(command)
        assert await rows(admin, "SHOW STATE") == before


async def test_columns_are_pgbouncers(console: Any) -> None:
    async with await console() as connection:
        for view, names in (("pools", POOLS), ("clients", CLIENTS), ("servers", CLIENTS)):
            cursor = await connection.execute(f"SHOW {view.upper()};")
            assert [column.name for column in cursor.description] == names.split()
        cursor = await connection.execute("show stats")
        assert [column.type_code for column in cursor.description] == [25] + [1700] * 22


async def test_sessions_of_all_workers_are_shown_and_killed(console: Any) -> None:
    first, second = console.workers
    async with await console() as admin:
        one, other = await session(first), await session(second, "bob", application_name="here")
        await other.execute("SELECT 1")
        clients = {row["user"]: row for row in await rows(admin, "SHOW CLIENTS")}
        assert set(clients) == {"alice", "bob"}
        assert clients["bob"]["application_name"] == "here"
        assert clients["bob"]["state"] == "idle"
        servers = {row["user"]: row for row in await rows(admin, "SHOW SERVERS")}
        pid = (await (await other.execute("SELECT pg_backend_pid()")).fetchone())[0]
        assert servers["bob"]["remote_pid"] == pid
        pools = [row for row in await rows(admin, "SHOW POOLS") if row["database"] != "pgparley"]
        assert [(row["user"], row["cl_active"], row["sv_active"]) for row in pools] == [
            ("alice", 1, 1),
            ("bob", 1, 1),
        ]
        await admin.execute(f"KILL_CLIENT {clients['bob']['id']}")
        with pytest.raises(psycopg.OperationalError):
            await other.execute("SELECT 1")
        await one.execute("SELECT 1")
        with pytest.raises(psycopg.Error, match="client not found"):
            await admin.execute(f"KILL_CLIENT {clients['bob']['id']}")
        stats = {row["database"]: row for row in await rows(admin, "SHOW STATS")}
        assert stats["postgres"]["total_query_count"] == 3
        assert stats["postgres"]["total_xact_count"] == 3
        assert stats["postgres"]["total_server_assignment_count"] == 2
        await one.close()
        await other.close()


async def test_pause_and_resume(console: Any) -> None:
    first, second = console.workers
    async with await console() as admin, await console() as other:
        held = await psycopg.AsyncConnection.connect(dsn(second))
        pausing = asyncio.create_task(admin.execute("PAUSE postgres"))
        waiting = asyncio.create_task(psycopg.AsyncConnection.connect(dsn(first)))
        while not first.context.pending_clients:  # noqa: ASYNC110 - what is awaited is in the same loop
            await asyncio.sleep(0)
        assert not pausing.done()
        (row,) = [row for row in await rows(other, "SHOW DATABASES") if row["name"] == "postgres"]
        assert row["paused"] == 1
        await held.close()
        await pausing
        assert not waiting.done()
        await other.execute("RESUME postgres")
        await (await waiting).close()
        with pytest.raises(psycopg.Error, match="not paused"):
            await other.execute("RESUME postgres")
        async with await psycopg.AsyncConnection.connect(dsn(first)):
            with pytest.raises(psycopg.errors.QueryCanceled):
                await asyncio.gather(admin.execute("PAUSE"), _cancel(admin, first))
        await other.execute("RESUME")


async def _cancel(connection: psycopg.AsyncConnection[Any], worker: Any) -> None:
    while "" not in worker.context.sessions.paused:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0)
    await connection.cancel_safe()


async def test_disable_kill_and_reload(console: Any) -> None:
    _, second = console.workers
    async with await console() as admin:
        await admin.execute("DISABLE postgres")
        with pytest.raises(psycopg.OperationalError, match="disabled"):
            await psycopg.AsyncConnection.connect(dsn(second))
        await admin.execute("ENABLE postgres")
        killed = await psycopg.AsyncConnection.connect(dsn(second))
        await admin.execute("KILL postgres")
        with pytest.raises(psycopg.OperationalError):
            await killed.execute("SELECT 1")
        await killed.close()
        await admin.execute("RESUME postgres")
        await admin.execute("RELOAD")
        with pytest.raises(psycopg.Error, match="admin db"):
            await admin.execute("KILL pgparley")


async def test_prewarmed_sockets_are_shown_and_redialled(console: Any) -> None:
    (_, worker) = console.workers
    async with await console() as admin:
        await (await psycopg.AsyncConnection.connect(dsn(worker))).close()
        async with asyncio.timeout(10):
            while not worker.context.prewarm_pool.waiting:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0.01)
        (row_of_socket,) = (row for row in await rows(admin, "SHOW SERVERS") if row["state"] == "new")
        assert (row_of_socket["user"], row_of_socket["database"], row_of_socket["remote_pid"]) == ("", "", 0)
        assert [
            row["sv_login"] for row in await rows(admin, "SHOW POOLS") if row["database"] == "pgparley"
        ] == [1]
        assert {"list": "spare_servers", "items": 1} in await rows(admin, "SHOW LISTS")
        await admin.execute("RECONNECT")
        after = [row for row in await rows(admin, "SHOW SERVERS") if row["state"] == "new"]
        assert row_of_socket["local_port"] not in [row["local_port"] for row in after]


async def test_reconnect_and_wait_close(console: Any) -> None:
    _, worker = console.workers
    old = await session(worker)
    async with await console() as admin, await console() as other:
        await admin.execute("WAIT_CLOSE")
        await admin.execute("RECONNECT nobodys")
        await admin.execute("WAIT_CLOSE")
        await admin.execute("RECONNECT postgres")
        young = await session(worker)
        needed = [row["close_needed"] for row in await rows(admin, "SHOW SERVERS") if row["user"]]
        assert sorted(needed) == [0, 1]
        waiting = asyncio.create_task(admin.execute("WAIT_CLOSE postgres"))
        await rows(other, "SHOW STATE")
        await old.execute("SELECT 1")
        assert not waiting.done()
        await old.close()
        await asyncio.wait_for(waiting, 10)
        await young.execute("SELECT 1")
        await young.close()


async def test_settings_are_set_in_all_workers_until_the_next_reload(console: Any) -> None:
    async with await console() as admin, await console(user="bob") as stats:

        async def shown(key: str) -> str:
            return next(row["value"] for row in await rows(admin, "SHOW CONFIG") if row["key"] == key)

        await admin.execute("SET max_client_conn = 7")
        await admin.execute("SET auth_query TO 'SELECT ''x'' = $1'")
        assert [worker.context.settings.max_client_conn for worker in console.workers] == [7, 7]
        assert await shown("max_client_conn") == "7"
        assert await shown("auth_query") == "SELECT 'x' = $1"
        for bad in ("max_client_conn = many", "listen_port = 1", "nonsense = 1", "auth_file = '/nowhere'"):
            with pytest.raises(psycopg.errors.InvalidParameterValue):
                await admin.execute(f"SET {bad}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await stats.execute("SET max_client_conn = 8")
        assert await shown("max_client_conn") == "7"
        for missing in ("SUSPEND", "SHOW FDS"):
            with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
                await admin.execute(missing)
            assert "pgparley restart" in (refused.value.diag.message_hint or "")


async def test_transactions_of_drivers_do_no_harm(console: Any) -> None:
    text = dsn(console.workers[0], user="postgres", dbname="pgbouncer")
    async with await psycopg.AsyncConnection.connect(text) as connection:
        assert await (await connection.execute("SHOW VERSION")).fetchone()
        with pytest.raises(psycopg.errors.SyntaxError):
            await connection.execute("nonsense")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            await connection.execute("SHOW VERSION")
        await connection.rollback()
        assert await (await connection.execute("SHOW VERSION")).fetchone()


async def test_psql(console: Any) -> None:
    text = dsn(console.workers[0], user="postgres", dbname="pgparley")
    command = ["psql", text, "-XAt", "-F|", "-c", "SHOW STATE", "-c", "SHOW HELP"]
    process = await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=subprocess.PIPE)
    out, err = await process.communicate()
    assert out == b"active|yes\npaused|no\nsuspended|no\nSHOW\n"
    assert b"NOTICE:  Console usage" in err


async def test_the_owner_needs_no_password_on_the_unix_socket(gateway: StartGateway, tmp_path: Path) -> None:
    worker = await gateway(unix_socket_dir=str(tmp_path))
    text = f"host={tmp_path} port={worker.port} user=pgparley dbname=pgparley"
    async with await psycopg.AsyncConnection.connect(text, autocommit=True) as connection:
        await connection.execute("RELOAD")
    # Others are asked for a password first: who may enter is not told to who has proved nothing.
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        await psycopg.AsyncConnection.connect(text.replace("user=pgparley", "user=postgres"))
    with pytest.raises(psycopg.OperationalError, match="may not enter"):
        await psycopg.AsyncConnection.connect(
            text.replace("user=pgparley", "user=postgres"), password=PASSWORD
        )
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await psycopg.AsyncConnection.connect(dsn(worker, user="pgparley", dbname="pgparley"))


async def test_a_cancel_key_finds_its_worker(console: Any) -> None:
    first, second = console.workers
    sleeping = await session(second)
    owners = second.context.keys.owners.items()
    key = next(key for key, owner in owners if owner in second.context.sessions.connections)
    reader, writer = await asyncio.open_connection("127.0.0.1", first.port)
    running = asyncio.create_task(sleeping.execute("SELECT pg_sleep(30)"))
    (relayed,) = second.context.sessions.connections
    while relayed.session.at_rest:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0)
    writer.write((12 + len(key) - 4).to_bytes(4, "big") + (80877102).to_bytes(4, "big") + key)
    await reader.read()
    with pytest.raises(psycopg.errors.QueryCanceled):
        await running
    writer.close()
    await sleeping.close()


async def test_shutdown_waits_for_servers(console: Any) -> None:
    _, second = console.workers
    idle = await session(second)
    busy = await psycopg.AsyncConnection.connect(dsn(second))
    await busy.execute("SELECT 1")
    async with await console() as admin:
        await admin.execute("SHUTDOWN WAIT_FOR_SERVERS")
        while second.context.sessions.of_database("postgres")[1:]:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
        with pytest.raises(psycopg.errors.AdminShutdown):
            await idle.execute("SELECT 1")
        await busy.execute("SELECT 1")
        await busy.commit()
        await second.ended.wait()
        await busy.close()
        await idle.close()


async def test_the_engines_figures_stand_below_the_workers(gateway: StartGateway, tmp_path: Path) -> None:
    """Without an engine, as in the other tests, SHOW NL_STATS has the workers' alone."""

    async def view(_: web.Request) -> web.Response:
        return web.json_response({"rows": [["pgparley_nl_selection_promised", "k=3", 0.95]]})

    app = web.Application()
    app.router.add_post("/v1/view", view)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "engine.sock")).start()
    try:
        running = await gateway(admin_users="postgres", engine=str(tmp_path / "engine.sock"))
        text = dsn(running, user="postgres", dbname="pgparley")
        async with await psycopg.AsyncConnection.connect(
            text, autocommit=True, row_factory=dict_row
        ) as admin:
            found = await rows(admin, "SHOW NL_STATS")
            promised = {"name": "pgparley_nl_selection_promised", "labels": "k=3", "value": Decimal("0.95")}
            assert found[-1] == promised
            assert len(found) > 1, "and the workers' own above it"
    finally:
        await runner.cleanup()
