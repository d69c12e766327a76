"""First packets: what the gateway refuses itself, what the server is left to say, cancel requests, and places."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from .conftest import Certificates, StartGateway, UserList, dsn
from .raw import V3, answer, connected, impostor, packet, sqlstate, startup

CANCEL = 80877102


async def test_other_major_versions_end_at_the_gateway(
    gateway: StartGateway, certificates: Certificates
) -> None:
    """Before they did not meet TLS policy or host rules, and went to the server as they were."""
    async with impostor() as (port, heard):
        for tls in ({}, certificates.serving()):
            worker = await gateway(upstream_port=port, dial_ahead=0, **tls)
            for major, minor in ((0, 0), (1, 0), (2, 0), (4, 0), (1234, 5681), (65535, 65535)):
                told = await answer(worker.port, packet(major << 16 | minor, b"user\0alice\0\0"))
                assert sqlstate(told) == "0A000"
                assert f"unsupported frontend protocol {major}.{minor}:".encode() in told
                assert not worker.context.pending_clients
        assert heard == []


async def test_a_packet_without_a_user(gateway: StartGateway) -> None:
    async with impostor() as (port, heard):
        for auth_type in ("passthrough", "trust"):
            worker = await gateway(upstream_port=port, dial_ahead=0, auth_type=auth_type)
            for body in (b"\0", b"database\0postgres\0\0", b"user\0\0\0", b"user\0alice\0user\0\0\0"):
                told = await answer(worker.port, packet(V3, body))
                assert sqlstate(told) == "28000", (auth_type, body)
                assert b"no PostgreSQL user name specified" in told
        assert heard == []


MALFORMED = (
    bytes(4) + bytes(4),
    (7).to_bytes(4, "big") + bytes(4),
    (10_005).to_bytes(4, "big") + bytes(4),
    b"GET / HTTP/1.1\r\n\r\n",
    packet(V3),
    packet(V3, b"user\0alice\0"),
    packet(V3, b"user\0alice"),
    packet(V3, b"user\0\0"),
    packet(V3, b"user\0alice\0\0\0\0"),
    packet(V3, b"user\0alice\0\0x\0database\0postgres\0\0"),
    packet(80877103, b"\0"),
    packet(80877104, b"more"),
    packet(CANCEL),
    packet(CANCEL, bytes(7)),
    packet(CANCEL, bytes(261)),
)


async def test_malformed_packets(gateway: StartGateway, certificates: Certificates) -> None:
    async with impostor() as (port, heard):
        for tls in ({}, certificates.serving("prefer")):
            worker = await gateway(upstream_port=port, dial_ahead=0, **tls)
            for data in MALFORMED:
                assert sqlstate(await answer(worker.port, data)) == "08P01", data
        assert heard == []


@pytest.mark.parametrize("auth_type", ["passthrough", "scram-sha-256"])
async def test_newer_minor_versions_are_negotiated_by_the_server(
    gateway: StartGateway, user_list: UserList, server: Any, auth_type: str
) -> None:
    """A real client, too, takes the negotiation behind the gateway's own challenges."""
    if psycopg.pq.version() < 180000:
        pytest.skip("this libpq asks for 3.0 alone")
    secrets = user_list(alice=server.verifiers["alice"])
    worker = await gateway(auth_type=auth_type, auth_file=secrets)
    text = dsn(worker, max_protocol_version="3.2")
    async with await psycopg.AsyncConnection.connect(text, autocommit=True) as connection:
        assert await (await connection.execute("SELECT 1")).fetchone() == (1,)
        newest = 30002 if connection.info.server_version >= 180000 else 30000
        assert connection.info.full_protocol_version == newest


async def test_unknown_options_are_told_by_the_server(gateway: StartGateway) -> None:
    worker = await gateway(auth_type="trust", upstream_host="/tmp")  # noqa: S108
    async with connected(worker.port) as client:
        client.say(startup(version=V3 | 99, **{"_pq_.grease": "1"}))
        told = await client.hear()
        assert told[:1] == b"v"
        assert b"_pq_.grease\0" in told
        assert await client.hear() == b"R\0\0\0\x08\0\0\0\0"


async def test_the_console_negotiates_itself(gateway: StartGateway) -> None:
    worker = await gateway(auth_type="trust", stats_users="bob")
    async with connected(worker.port) as client:
        client.say(startup("bob", "pgparley", V3 | 99, **{"_pq_.grease": "1"}))
        assert await client.hear() == b"v\0\0\0\x18\0\3\0\2\0\0\0\1_pq_.grease\0"
        assert await client.hear() == b"R\0\0\0\x08\0\0\0\0"
    async with connected(worker.port) as client:
        client.say(startup("bob", "pgparley", V3 | 2))
        assert await client.hear() == b"R\0\0\0\x08\0\0\0\0"


# -- cancel requests


async def test_a_cancel_request_needs_its_key_and_no_tls(
    gateway: StartGateway, certificates: Certificates
) -> None:
    """As in PostgreSQL, whose hostssl rules do not meet it either."""
    worker = await gateway(**certificates.serving("require"))
    text = dsn(worker, sslmode="require")
    async with await psycopg.AsyncConnection.connect(text, autocommit=True) as connection:
        sleeping = asyncio.create_task(connection.execute("SELECT pg_sleep(60)"))
        (key,) = worker.context.keys.owners
        while not sleeping.done():
            # The first may come before the statement has begun.
            assert await answer(worker.port, packet(CANCEL, key)) == b""
        with pytest.raises(psycopg.errors.QueryCanceled):
            await sleeping
        assert len(worker.context.sessions.connections) == 1
        opened = worker.context.metrics.registry.get_sample_value("pgparley_sessions_opened_total")
        assert opened == 1, "a cancel request is no session"


async def test_cancel_requests_that_nobody_knows_reach_the_server_a_few_at_a_time(
    gateway: StartGateway,
) -> None:
    async with impostor() as (port, heard):
        worker = await gateway(upstream_port=port, dial_ahead=0)
        asked = [
            asyncio.create_task(answer(worker.port, packet(CANCEL, number.to_bytes(8, "big"))))
            for number in range(60)
        ]
        while len(worker.context.pending_clients) < 60 or len(heard) < 16:  # noqa: ASYNC110 - what is awaited is in the same loop
            await asyncio.sleep(0)
        async with connected(worker.port) as client:
            # By when the gateway has answered this, it has had time for more.
            client.say(packet(0))
            await client.rest()
        assert len(heard) == 16
        assert not worker.context.sessions.connections
        await worker.stop()
        await asyncio.gather(*asked)


# -- places


async def test_a_login_too_many(gateway: StartGateway, user_list: UserList, server: Any) -> None:
    secrets = user_list(alice=server.verifiers["alice"])
    worker = await gateway(auth_type="scram-sha-256", auth_file=secrets, max_login_clients=2)
    async with connected(worker.port) as one, connected(worker.port) as other:
        for client in (one, other):
            client.say(startup())
            assert (await client.hear())[:1] == b"R"
        told = await answer(worker.port, startup())
        assert sqlstate(told) == "53300"
        assert b"max_login_clients" in told
        assert await answer(worker.port, packet(CANCEL, bytes(8))) == b""
    while worker.context.pending_clients:  # noqa: ASYNC110 - what is awaited is in the same loop
        await asyncio.sleep(0)
    for _ in range(3):
        async with await psycopg.AsyncConnection.connect(dsn(worker)) as connection:
            await connection.execute("SELECT 1")


async def test_a_handshake_too_many(gateway: StartGateway, certificates: Certificates) -> None:
    worker = await gateway(**certificates.serving(), max_login_clients=1)
    async with connected(worker.port) as shaking:
        shaking.say(packet(80877103))
        assert await shaking.reader.readexactly(1) == b"S"
        assert sqlstate(await answer(worker.port, packet(80877103))) == "53300"
    with_tls = dsn(worker, sslmode="require")
    while worker.context.login_service._admitted:  # noqa: ASYNC110 - what is awaited is in the same loop
        await asyncio.sleep(0)
    async with await psycopg.AsyncConnection.connect(with_tls) as connection:
        await connection.execute("SELECT 1")


async def test_who_waits_for_the_end_of_a_pause_takes_no_place(gateway: StartGateway) -> None:
    worker = await gateway(max_login_clients=1)
    worker.context.pause("postgres")
    waiting = [asyncio.create_task(psycopg.AsyncConnection.connect(dsn(worker))) for _ in range(3)]
    while len(worker.context.pending_clients) < 3:  # noqa: ASYNC110 - what is awaited is in the same loop
        await asyncio.sleep(0)
    worker.context.sessions.resume("postgres")
    for connection in await asyncio.gather(*waiting):
        await connection.close()
