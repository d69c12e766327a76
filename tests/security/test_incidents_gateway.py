"""Public incidents of gateways and drivers, each by its CVE number, tried against this one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import psycopg
import pytest

from proxy.protocol.codec import Startup
from proxy.protocol.lexer import split
from proxy.protocol.nl.settings import from_startup
from tests.integration.access.conftest import (
    PASSWORD,
    Server,
    StartGateway,
    certificates,
    gateway,
    server,
    session,
    user_list,
)
from tests.integration.access.raw import V3, Client, answer, connected, packet, sqlstate, startup

__all__ = ["certificates", "gateway", "server", "user_list"]

UserList = Callable[..., str]
FIRST = b"SCRAM-SHA-256\0" + (len(b"n,,n=,r=abcdefgh")).to_bytes(4, "big") + b"n,,n=,r=abcdefgh"
SASL_FIRST = b"p" + (4 + len(FIRST)).to_bytes(4, "big") + FIRST
SECOND = {
    "user": startup("bob"),
    "database": startup("alice", "nowhere"),
    "console": startup("postgres", "pgparley"),
    "ssl": packet(80877103),
    "cancel": packet(80877102, bytes(8)),
}


@pytest.fixture(params=["auth_file", "auth_query", "hba"])
def logins(request: pytest.FixtureRequest, user_list: UserList, tmp_path: Any) -> dict[str, Any]:
    """The ways in which the gateway knows a role."""
    found = {"auth_type": "scram-sha-256", "auth_file": user_list(alice=PASSWORD, asker=PASSWORD)}
    if request.param == "auth_query":
        found["auth_user"] = "asker"
    if request.param == "hba":
        (tmp_path / "hba").write_text("host all alice all scram-sha-256\nhost all all all trust\n")
        found |= {"auth_type": "hba", "auth_hba_file": str(tmp_path / "hba")}
    return {**found, "admin_users": "postgres"}


async def test_cve_2026_107350_a_second_first_packet_during_scram(
    gateway: StartGateway, logins: dict[str, Any]
) -> None:
    """PgBouncer: a startup packet in the middle of SCRAM changed who was logging in."""
    worker = await gateway(**logins)
    for second, exchanged in product(SECOND, (False, True)):
        async with asyncio.timeout(20), connected(worker.port) as client:
            client.say(startup("alice"))
            assert (await client.hear())[:1] == b"R"
            if exchanged:
                client.say(SASL_FIRST)
                assert (await client.hear())[5:9] == (11).to_bytes(4, "big")
            client.say(SECOND[second])
            assert sqlstate(await client.rest()) == "08P01", (second, exchanged)
        assert not worker.context.sessions.connections
        assert not worker.context.consoles


NAMELESS = (
    "-c=",
    "-c =x",
    "--=",
    "-c",
    "--",
    "-c nl.=1",
    "\\",
    "\\" * 9_000,
    "\\ " * 4_500,
    " " * 9_000,
    "-c" * 4_500,
)


def test_cve_2026_107349_options_without_a_name() -> None:
    """PgBouncer: `-c=` never ended. Ours reads them once; what it reads goes to the server as it came."""
    for options in NAMELESS:
        began = time.perf_counter()
        found = from_startup(Startup(b"", (("user", "alice"), ("options", options))))
        assert time.perf_counter() - began < 1
        assert all(name == "" for name, _ in found)


async def _ready(client: Client) -> None:
    while (await client.hear())[:1] != b"Z":
        pass


async def test_cve_2026_107349_the_server_refuses_them_and_the_next_comes_in(
    gateway: StartGateway, server: Server
) -> None:
    """The server lets alice in, refuses her options with its own words, and the gateway serves the next client."""
    worker = await gateway(upstream_host=str(server.socket_dir))
    refused = {"-c=": "42704", "-c =x": "42704", "--=": "42704", "-c": "42601", "\\ " * 4_000: "42601"}
    for options, code in refused.items():
        async with asyncio.timeout(20):
            async with connected(worker.port) as client:
                client.say(startup("alice", options=options))
                told = await client.hear()
                while told[:1] == b"R":
                    told = await client.hear()
                assert sqlstate(told) == code, options
                assert await client.rest() == b""
            async with connected(worker.port) as client:
                client.say(startup("alice"))
                await _ready(client)


async def test_cve_2026_107348_and_6668_lengths(gateway: StartGateway, server: Server) -> None:
    """PgBouncer: a length above 2³¹ was taken for a negative one, before anybody was logged in."""
    worker = await gateway(upstream_host=str(server.socket_dir))
    for size in (length.to_bytes(4, "big") for length in (0, 3, 2**31, 2**32 - 1)):
        async with asyncio.timeout(20):
            assert sqlstate(await answer(worker.port, size + V3.to_bytes(4, "big"))) == "08P01"
            for kind in b"QPBDECHSdcfFXp":
                async with connected(worker.port) as client:
                    client.say(startup("alice"))
                    await _ready(client)
                    client.say(bytes([kind]) + size)
                    assert sqlstate(await client.rest()) == "08P01"


STATEMENTS = [
    r"SELECT '\'; SELECT 2 --'",
    r"SELECT E'\'; SELECT 2 --'",
    r"SELECT U&'\0041'; SELECT ';'",
    r"SELECT $a$ ; $b$ ; $a$; SELECT 2",
    "SELECT /* ; /* ; */ ; */ 1; SELECT 2",
    "SELECT 1 -- ; SELECT 2\n; SELECT 3",
    "SELECT 'a'\n'; SELECT 2'; SELECT 3",
    'SELECT 1 AS "a;b"; SELECT 2',
    "SELECT 1 AS a\u2003; SELECT 2",
    "SELECT 1;; ;SELECT 2;",
]


@pytest.mark.parametrize("standard", ["on", "off"])
def test_cve_2026_17351_and_17566_the_gateways_lexer_is_the_servers(server: Server, standard: str) -> None:
    """pgAdmin: another lexer than the server's found other ends of statements."""
    with server.admin() as admin:
        admin.execute("SET backslash_quote = on")
        admin.execute(f"SET standard_conforming_strings = {standard}")
        for text in STATEMENTS:
            if standard == "off" and "U&" in text:
                continue  # The server refuses U&'' then.
            ours = [each for each in split(text, standard_strings=standard == "on") if each.significant]
            admin.pgconn.send_query(text.encode())
            theirs = 0
            while (result := admin.pgconn.get_result()) is not None:
                theirs += 1
                assert result.status == psycopg.pq.ExecStatus.TUPLES_OK
            assert len(ours) == theirs, text


async def test_cve_2026_17351_and_17566_a_space_that_is_none_to_the_server(
    gateway: StartGateway, server: Server
) -> None:
    """It belongs to the name beside it: no keyword NL stands there, and both read one column of an odd name."""
    worker = await gateway(upstream_host=str(server.socket_dir))
    async with await session(worker) as connection:
        await connection.execute("SET client_encoding = 'UTF8'")
        for space in ("\u00a0", "\u2003", "\u3000", "\ufeff"):
            row = await connection.execute(f"SELECT 1 AS a{space}b; SELECT 2".encode())
            assert row.description is not None
            assert row.description[0].name == f"a{space}b"
            assert row.nextset()
            for text in (f"NL{space}HELP", f"{space}NL HELP"):
                with pytest.raises(psycopg.errors.SyntaxError):
                    await connection.execute(text.encode())


async def test_cve_2026_61789_and_48774_a_second_statement_where_one_is_allowed(
    gateway: StartGateway, server: Server
) -> None:
    """DBHub and ProxySQL: what came behind the first statement was not looked at. Here the server refuses it."""
    worker = await gateway(upstream_host=str(server.socket_dir))
    async with await session(worker) as connection:
        for text in ("SELECT 1; DROP TABLE x", "/* v */ SELECT 1; COMMIT", "NL HELP; COMMIT"):
            for sent in (text, f"PREPARE x AS {text}"):
                with pytest.raises(psycopg.Error) as caught:
                    await connection.execute(sent.encode(), prepare=True)
                assert caught.value.sqlstate == "42601", sent
