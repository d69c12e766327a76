"""What a server gets out of the gateway: by the way to it, and by `server_require_auth`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.protocol import codec

from .conftest import PASSWORD, Certificates, HostRules, Server, StartGateway, UserList, dsn, user_of
from .raw import impostor

CLEARTEXT = codec.message(b"R", (3).to_bytes(4, "big"))
MD5 = codec.message(b"R", (5).to_bytes(4, "big") + b"salt")
SCRAM = codec.message(b"R", (10).to_bytes(4, "big") + b"SCRAM-SHA-256\0\0")
LET_IN = codec.message(b"R", bytes(4)) + codec.message(b"Z", b"I")
NOWHERE = "proves nothing about it"


@pytest.fixture
def far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address is one of another machine."""
    monkeypatch.setattr("proxy.net.peers.is_loopback", lambda _: False)
    monkeypatch.setattr("proxy.net.upstream.dialer.is_loopback", lambda _: False)


async def outcome(text: str) -> str:
    """The role that one is there, or the error."""
    try:
        return await user_of(text)
    except psycopg.OperationalError as problem:
        return str(problem)


@pytest.fixture(params=["passthrough", "scram-sha-256"])
def logins(request: pytest.FixtureRequest, user_list: UserList) -> dict[str, Any]:
    """The client answers the server itself, or the gateway does for it."""
    secrets = dict.fromkeys(("alice", "plainer", "md5er"), PASSWORD)
    return {"auth_type": request.param, "auth_file": user_list(**secrets)}


@pytest.mark.usefixtures("far_away")
async def test_over_a_network_a_server_gets_no_password_and_no_hash(
    gateway: StartGateway, logins: dict[str, Any]
) -> None:
    worker = await gateway(**logins)
    assert await outcome(dsn(worker)) == "alice"
    for user in ("plainer", "md5er"):
        assert NOWHERE in await outcome(dsn(worker, user=user))


@pytest.mark.usefixtures("far_away")
async def test_unless_the_operator_says_so(gateway: StartGateway, logins: dict[str, Any]) -> None:
    worker = await gateway(**logins, server_require_auth="md5, scram-sha-256")
    assert await outcome(dsn(worker, user="md5er")) == "md5er"
    assert await outcome(dsn(worker)) == "alice"
    assert "must not" in await outcome(dsn(worker, user="plainer"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_on_this_machine_it_does(gateway: StartGateway, logins: dict[str, Any], host: str) -> None:
    worker = await gateway(**logins, upstream_host=host)
    for user in ("alice", "plainer", "md5er"):
        assert await outcome(dsn(worker, user=user)) == user


async def test_the_setting_counts_there_too(
    gateway: StartGateway, logins: dict[str, Any], server: Server
) -> None:
    worker = await gateway(**logins, server_require_auth="scram-sha-256")
    assert await outcome(dsn(worker)) == "alice"
    assert "must not" in await outcome(dsn(worker, user="md5er"))
    trusting = await gateway(
        **logins, upstream_host=str(server.socket_dir), server_require_auth="scram-sha-256"
    )
    assert '"none"' in await outcome(dsn(trusting))


@pytest.mark.usefixtures("far_away", "tls_server")
@pytest.mark.parametrize("mode", ["prefer", "require", "verify-ca", "verify-full"])
async def test_tls_counts_where_the_certificate_is_checked(
    gateway: StartGateway, certificates: Certificates, logins: dict[str, Any], mode: str
) -> None:
    worker = await gateway(**logins, server_tls_sslmode=mode, server_tls_ca_file=str(certificates.ca))
    for user in ("plainer", "md5er"):
        told = await outcome(dsn(worker, user=user))
        assert told == user if mode.startswith("verify") else NOWHERE in told


@pytest.mark.usefixtures("far_away")
async def test_the_auth_query_gives_nothing_away(gateway: StartGateway, user_list: UserList) -> None:
    for challenge in (CLEARTEXT, MD5, SCRAM + LET_IN, SCRAM + CLEARTEXT):
        async with impostor(challenge, challenge) as (port, heard):
            worker = await gateway(
                upstream_port=port,
                auth_type="scram-sha-256",
                auth_user="asker",
                auth_file=user_list(asker=PASSWORD),
            )
            assert "password authentication failed" in await outcome(dsn(worker))
            assert len(heard) == 1
            assert PASSWORD.encode() not in heard[0]
            assert b"p\0\0\0\x28md5" not in heard[0]


@pytest.mark.usefixtures("far_away")
@pytest.mark.parametrize("dial_ahead", [0, 1])
async def test_a_clients_password_does_not_reach_an_impostor(gateway: StartGateway, dial_ahead: int) -> None:
    for challenge in (CLEARTEXT, MD5, SCRAM + CLEARTEXT):
        async with impostor(challenge) as (port, heard):
            worker = await gateway(upstream_port=port, dial_ahead=dial_ahead)
            for _ in range(2):
                assert NOWHERE in await outcome(dsn(worker))
            assert not any(PASSWORD.encode() in words or b"md5" in words for words in heard)


async def test_a_bad_list_is_no_setting(gateway: StartGateway) -> None:
    worker = await gateway()
    assert "server_require_auth" in (worker.context.assign("server_require_auth", "md5,!none") or "")
    assert worker.context.assign("server_require_auth", "!md5") is None


# -- the console


async def test_no_administrator_without_a_proof(
    gateway: StartGateway, server: Server, hba: HostRules, tmp_path: Path
) -> None:
    """With `trust` here, or at a server that trusts the gateway's address."""
    rights = {"admin_users": "postgres", "stats_users": "bob", "unix_socket_dir": str(tmp_path)}
    for settings in (
        {"auth_type": "trust"},
        hba("host all all all trust\nlocal all all trust\n"),
        {"upstream_host": str(server.socket_dir)},
    ):
        worker = await gateway(**rights, **settings)
        for host in ("127.0.0.1", str(tmp_path)):
            with pytest.raises(psycopg.OperationalError, match="has not proved") as caught:
                await psycopg.AsyncConnection.connect(
                    dsn(worker, user="postgres", dbname="pgparley", host=host)
                )
            assert "auth_file" in str(caught.value)
        assert not worker.context.consoles
        text = dsn(worker, user="bob", dbname="pgparley")
        async with await psycopg.AsyncConnection.connect(text, autocommit=True) as connection:
            await connection.execute("SHOW POOLS")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute("SHUTDOWN")
        owner = f"host={tmp_path} port={worker.port} user=pgparley dbname=pgparley"
        async with await psycopg.AsyncConnection.connect(owner, autocommit=True) as connection:
            await connection.execute("RELOAD")


@pytest.mark.usefixtures("far_away")
async def test_a_consoles_password_does_not_reach_an_impostor(gateway: StartGateway) -> None:
    async with impostor(CLEARTEXT) as (port, heard):
        worker = await gateway(upstream_port=port, dial_ahead=0, admin_users="postgres")
        assert NOWHERE in await outcome(dsn(worker, user="postgres", dbname="pgparley"))
        assert PASSWORD.encode() not in heard[0]
