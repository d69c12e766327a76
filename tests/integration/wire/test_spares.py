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

from pgparley import cluster
from pgparley.cluster import Cluster
from proxy.net.worker.worker import Worker

DEADLINE = 10.0
MOST = 3


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A server that may be restarted."""
    running = cluster.start(tmp_path_factory.mktemp("spares") / "data")
    yield running
    cluster.stop(running)


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
def spared(start_gateway: Any, own: Cluster) -> Iterator[Any]:
    gateway = start_gateway(
        engine="", upstream_host=str(own.socket_dir), upstream_port=own.port, dial_ahead=MOST,
        dial_ahead_lifetime=60.0,
    )  # fmt: skip
    yield gateway
    until(gateway, lambda worker: not worker.context.sessions.links)


def until(gateway: Any, test: Callable[[Worker], bool]) -> None:
    """Waits in the gateway's loop."""

    async def wait() -> None:
        async with asyncio.timeout(DEADLINE):
            while not test(gateway.worker):  # noqa: ASYNC110 - the server's doing, no event tells of it
                await asyncio.sleep(0.01)

    gateway.loop.run(wait())


def standing(gateway: Any, count: int) -> None:
    until(gateway, lambda worker: len(worker.context.spares.standing) == count)


def used(gateway: Any) -> float:
    return float(gateway.worker.context.metrics.registry.get_sample_value("pgparley_spares_used_total"))


def connect(gateway: Any, dbname: str = "postgres") -> psycopg.Connection[Any]:
    return psycopg.connect(gateway.dsn(user="postgres", dbname=dbname), autocommit=True)


def grown(gateway: Any) -> None:
    """Clients all at once: as many spares as there may be."""
    with closing(connect(gateway)), closing(connect(gateway)), closing(connect(gateway)):
        pass
    while len(gateway.worker.context.spares.standing) < MOST:
        connect(gateway).close()
        until(
            gateway, lambda worker: len(worker.context.spares.standing) == worker.context.spares.demand.wanted
        )


def answers(gateway: Any) -> None:
    with closing(connect(gateway)) as client:
        assert client.execute("SELECT 7").fetchone() == (7,)


def test_clients_get_them_and_they_are_replaced(spared: Any) -> None:
    assert spared.worker.context.spares.standing == ()
    grown(spared)
    ahead = spared.worker.context.spares.standing[0].transport.get_extra_info("socket").fileno()
    before = used(spared)
    with closing(connect(spared)) as client:
        assert client.execute("SELECT 1").fetchone() == (1,)
        (link,) = spared.worker.context.sessions.links
        assert link.server.get_extra_info("socket").fileno() == ahead
    assert used(spared) == before + 1
    standing(spared, MOST)


def test_an_old_one_is_closed_and_an_idle_gateway_has_none(start_gateway: Any, own: Cluster) -> None:
    gateway = start_gateway(
        engine="", upstream_host=str(own.socket_dir), upstream_port=own.port, dial_ahead_lifetime=0.2
    )
    connect(gateway).close()
    standing(gateway, 0)
    until(gateway, lambda worker: worker.context.spares.demand.wanted == 0)


def test_a_server_that_was_restarted_under_them(spared: Any, own: Cluster) -> None:
    grown(spared)
    restart(own)
    standing(spared, 0)
    answers(spared)


def test_one_that_is_dead_but_not_known_to_be(spared: Any, own: Cluster) -> None:
    """The loop has no chance to hear of the server's end before the client is handed the socket."""
    grown(spared)
    spares = spared.worker.context.spares

    async def deaf() -> None:
        for spare in spares.standing:
            spare.transport.pause_reading()

    spared.loop.run(deaf())
    restart(own)
    assert len(spares.standing) == MOST

    async def hearing() -> None:
        # As the client's startup packet arrives in the same turn of the loop.
        transports = [spare.transport for spare in spares.standing]
        taken = spares.take

        def take() -> asyncio.Transport | None:
            found = taken()
            for transport in transports:
                transport.resume_reading()
            return found

        spares.take = take

    spared.loop.run(hearing())
    before = used(spared)
    answers(spared)
    assert used(spared) == before + 1


def test_a_full_server_is_asked_once_more_and_then_believed(spared: Any, own: Cluster) -> None:
    """The server's word is the client's only where a fresh connection gets it too."""
    restart(own, "-c max_connections=5 -c superuser_reserved_connections=0 -c max_wal_senders=0")
    try:
        grown(spared)
        held = [connect(spared) for _ in range(5)]
        with pytest.raises(psycopg.OperationalError, match="too many clients"):
            connect(spared)
        for client in held:
            client.close()
        until(spared, lambda worker: not worker.context.sessions.links)
        _eventually_answers(spared)
    finally:
        restart(own)


def _eventually_answers(gateway: Any) -> None:
    """The backends of clients that have just left may still be ending."""
    for _ in range(100):
        try:
            answers(gateway)
        except psycopg.OperationalError:
            continue
        return
    answers(gateway)


def test_they_hold_no_place_of_max_connections(spared: Any, own: Cluster) -> None:
    restart(own, "-c max_connections=5 -c superuser_reserved_connections=0 -c max_wal_senders=0")
    try:
        grown(spared)
        direct = f"host={own.socket_dir} port={own.port} user=postgres"
        clients: list[psycopg.Connection[Any]] = []
        while len(clients) < 5:
            try:
                clients.append(psycopg.connect(direct))
            except psycopg.OperationalError:
                # Backends of `grown` that are still ending.
                assert len(clients) < 5
        assert len(spared.worker.context.spares.standing) == MOST
        for client in clients:
            client.close()
    finally:
        restart(own)


def test_authentication_timeout(spared: Any, own: Cluster) -> None:
    with psycopg.connect(own.dsn(), autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET authentication_timeout = '2s'")
        admin.execute("SELECT pg_reload_conf()")
        try:
            restart(own)
            grown(spared)
            standing(spared, 0)
            answers(spared)
        finally:
            with psycopg.connect(own.dsn(), autocommit=True) as again:
                again.execute("ALTER SYSTEM RESET authentication_timeout")
            restart(own)


def test_pause_reload_and_reconnect(spared: Any) -> None:
    grown(spared)
    first = spared.worker.context.spares.standing

    async def on_worker(act: Callable[[], object]) -> None:
        act()

    worker: Worker = spared.worker
    spared.loop.run(on_worker(lambda: worker.context.reconnect("")))
    standing(spared, MOST)
    assert not set(first) & set(worker.context.spares.standing)
    spared.loop.run(on_worker(lambda: worker.context.pause("")))
    assert worker.context.spares.standing == ()
    spared.loop.run(on_worker(lambda: worker.context.sessions.resume("")))
    grown(spared)
    spared.loop.run(on_worker(worker.reload))
    assert worker.context.spares.standing == ()
    answers(spared)


def test_another_host_after_reload(start_gateway: Any, spared: Any, own: Cluster, tmp_path: Path) -> None:
    grown(spared)

    async def elsewhere() -> str | None:
        return spared.worker.assign("upstream_host", str(tmp_path))

    assert spared.loop.run(elsewhere()) is None
    with pytest.raises(psycopg.OperationalError, match="cannot connect to the upstream server"):
        connect(spared)


def test_a_server_that_is_gone_under_a_spare_says_so(spared: Any) -> None:
    """Nothing is left but the gateway's own error, once."""
    grown(spared)

    async def gone() -> None:
        worker: Worker = spared.worker
        for spare in worker.context.spares.standing:
            with socket.socket(fileno=os.dup(spare.transport.get_extra_info("socket").fileno())) as same:
                same.shutdown(socket.SHUT_RDWR)
        dialer = worker.context.dialer
        dialer._path += ".gone"

    spared.loop.run(gone())
    with pytest.raises(psycopg.OperationalError, match="cannot connect to the upstream server"):
        connect(spared)
