"""Sockets that are dialled ahead of their clients, and every way in which one can be of no use."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgparley.cluster import Cluster
from proxy.net.worker.worker import Worker
from tests.conftest import Postgres

DEADLINE = 10.0
MOST = 3


@pytest.fixture(scope="module")
def own(postgres: Postgres) -> Iterator[Cluster]:
    """A server that may be restarted."""
    with postgres("prewarmed") as running:
        yield running


def restart(server: Cluster, *options: str) -> None:
    owner = server.data_dir.stat()
    words = " ".join((f"-k {server.socket_dir}", "-h ''", f"-p {server.port}", *options))
    subprocess.run(  # noqa: S603 - the server under test
        [
            *(server.bin_dir / "pg_ctl", "-D", server.data_dir, "-w", "-m", "fast"),
            *("-l", server.data_dir / "log", "-o", words, "restart"),
        ],
        check=True, stdout=subprocess.DEVNULL, user=owner.st_uid, group=owner.st_gid, cwd="/",
    )  # fmt: skip


@pytest.fixture
def small(own: Cluster) -> Iterator[None]:
    """The server has five places, for clients alone."""
    restart(own, "-c max_connections=5 -c superuser_reserved_connections=0 -c max_wal_senders=0")
    yield
    restart(own)


@pytest.fixture
def prewarmed(start_gateway: Any, own: Cluster) -> Iterator[Any]:
    gateway = start_gateway(
        engine="", upstream_host=str(own.socket_dir), upstream_port=own.port, dial_ahead=MOST,
        dial_ahead_lifetime=60.0,
    )  # fmt: skip
    yield gateway
    until(gateway, lambda worker: not worker.context.sessions.connections)


def until(gateway: Any, test: Callable[[Worker], bool]) -> None:
    """Waits in the gateway's loop."""

    async def wait() -> None:
        async with asyncio.timeout(DEADLINE):
            while not test(gateway.worker):  # noqa: ASYNC110 - the server's doing, no event tells of it
                await asyncio.sleep(0.01)

    gateway.loop.run(wait())


def standing(gateway: Any, count: int) -> None:
    until(gateway, lambda worker: len(worker.context.prewarm_pool.waiting) == count)


def used(gateway: Any) -> float:
    return float(gateway.worker.context.metrics.registry.get_sample_value("pgparley_spares_used_total"))


def connect(gateway: Any, dbname: str = "postgres") -> psycopg.Connection[Any]:
    return psycopg.connect(gateway.dsn(user="postgres", dbname=dbname), autocommit=True)


def grown(gateway: Any) -> None:
    """Clients all at once: as many prewarmed sockets as there may be."""
    with closing(connect(gateway)), closing(connect(gateway)), closing(connect(gateway)):
        pass
    while len(gateway.worker.context.prewarm_pool.waiting) < MOST:
        connect(gateway).close()
        until(
            gateway,
            lambda worker: (
                len(worker.context.prewarm_pool.waiting) == worker.context.prewarm_pool.target.count
            ),
        )


def answers(gateway: Any) -> None:
    with closing(connect(gateway)) as client:
        assert client.execute("SELECT 7").fetchone() == (7,)


def test_clients_get_them_and_they_are_replaced(prewarmed: Any) -> None:
    assert prewarmed.worker.context.prewarm_pool.waiting == ()
    grown(prewarmed)
    ahead = prewarmed.worker.context.prewarm_pool.waiting[0].transport.get_extra_info("socket").fileno()
    before = used(prewarmed)
    with closing(connect(prewarmed)) as client:
        assert client.execute("SELECT 1").fetchone() == (1,)
        (session,) = prewarmed.worker.context.sessions.connections
        assert session.server.get_extra_info("socket").fileno() == ahead
    assert used(prewarmed) == before + 1
    standing(prewarmed, MOST)


def test_an_old_one_is_closed_and_an_idle_gateway_has_none(start_gateway: Any, own: Cluster) -> None:
    gateway = start_gateway(
        engine="", upstream_host=str(own.socket_dir), upstream_port=own.port, dial_ahead_lifetime=0.2
    )
    connect(gateway).close()
    standing(gateway, 0)
    until(gateway, lambda worker: worker.context.prewarm_pool.target.count == 0)


def test_a_server_that_was_restarted_under_them(prewarmed: Any, own: Cluster) -> None:
    grown(prewarmed)
    restart(own)
    standing(prewarmed, 0)
    answers(prewarmed)


def test_one_that_is_dead_but_not_known_to_be(prewarmed: Any, own: Cluster) -> None:
    """The loop has no chance to hear of the server's end before the client is handed the socket."""
    grown(prewarmed)
    pool = prewarmed.worker.context.prewarm_pool

    async def deaf() -> None:
        for prewarmed_socket in pool.waiting:
            prewarmed_socket.transport.pause_reading()

    prewarmed.loop.run(deaf())
    restart(own)
    assert len(pool.waiting) == MOST

    async def hearing() -> None:
        # As the client's startup packet arrives in the same turn of the loop.
        transports = [prewarmed_socket.transport for prewarmed_socket in pool.waiting]
        taken = pool.take

        def take() -> asyncio.Transport | None:
            found = taken()
            for transport in transports:
                transport.resume_reading()
            return found

        pool.take = take

    prewarmed.loop.run(hearing())
    before = used(prewarmed)
    answers(prewarmed)
    assert used(prewarmed) == before + 1


@pytest.mark.usefixtures("small")
def test_a_full_server_is_asked_once_more_and_then_believed(prewarmed: Any) -> None:
    """The server's word is the client's only where a fresh connection gets it too."""
    grown(prewarmed)
    held = [connect(prewarmed) for _ in range(5)]
    with pytest.raises(psycopg.OperationalError, match="too many clients"):
        connect(prewarmed)
    for client in held:
        client.close()
    until(prewarmed, lambda worker: not worker.context.sessions.connections)
    _eventually_answers(prewarmed)


def _eventually_answers(gateway: Any) -> None:
    """The backends of clients that have just left may still be ending."""
    for _ in range(100):
        try:
            answers(gateway)
        except psycopg.OperationalError:
            continue
        return
    answers(gateway)


@pytest.mark.usefixtures("small")
def test_they_hold_no_place_of_max_connections(prewarmed: Any, own: Cluster) -> None:
    grown(prewarmed)
    direct = f"host={own.socket_dir} port={own.port} user=postgres"
    clients: list[psycopg.Connection[Any]] = []
    while len(clients) < 5:
        try:
            clients.append(psycopg.connect(direct))
        except psycopg.OperationalError:
            # Backends of `grown` that are still ending.
            assert len(clients) < 5
    assert len(prewarmed.worker.context.prewarm_pool.waiting) == MOST
    for client in clients:
        client.close()


def test_authentication_timeout(prewarmed: Any, own: Cluster) -> None:
    with psycopg.connect(own.dsn(), autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET authentication_timeout = '2s'")
        admin.execute("SELECT pg_reload_conf()")
        try:
            restart(own)
            grown(prewarmed)
            standing(prewarmed, 0)
            answers(prewarmed)
        finally:
            with psycopg.connect(own.dsn(), autocommit=True) as again:
                again.execute("ALTER SYSTEM RESET authentication_timeout")
            restart(own)


def test_pause_reload_and_reconnect(prewarmed: Any) -> None:
    grown(prewarmed)
    first = prewarmed.worker.context.prewarm_pool.waiting

    async def on_worker(act: Callable[[], object]) -> None:
        act()

    worker: Worker = prewarmed.worker
    prewarmed.loop.run(on_worker(lambda: worker.context.reconnect("")))
    standing(prewarmed, MOST)
    assert not set(first) & set(worker.context.prewarm_pool.waiting)
    prewarmed.loop.run(on_worker(lambda: worker.context.pause("")))
    assert worker.context.prewarm_pool.waiting == ()
    prewarmed.loop.run(on_worker(lambda: worker.context.sessions.resume("")))
    grown(prewarmed)
    prewarmed.loop.run(on_worker(worker.reload))
    assert worker.context.prewarm_pool.waiting == ()
    answers(prewarmed)


def test_another_host_after_reload(start_gateway: Any, prewarmed: Any, own: Cluster, tmp_path: Path) -> None:
    grown(prewarmed)

    async def elsewhere() -> str | None:
        return prewarmed.worker.context.assign("upstream_host", str(tmp_path))

    assert prewarmed.loop.run(elsewhere()) is None
    with pytest.raises(psycopg.OperationalError, match="cannot connect to the upstream server"):
        connect(prewarmed)


def test_a_server_that_is_gone_under_a_prewarmed_socket_says_so(prewarmed: Any) -> None:
    """Nothing is left but the gateway's own error, once."""
    grown(prewarmed)

    async def gone() -> None:
        worker: Worker = prewarmed.worker
        for prewarmed_socket in worker.context.prewarm_pool.waiting:
            with socket.socket(
                fileno=os.dup(prewarmed_socket.transport.get_extra_info("socket").fileno())
            ) as same:
                same.shutdown(socket.SHUT_RDWR)
        dialer = worker.context.dialer
        dialer._path += ".gone"

    prewarmed.loop.run(gone())
    with pytest.raises(psycopg.OperationalError, match="cannot connect to the upstream server"):
        connect(prewarmed)
