"""TLS on both sides, with real certificates and clients, and what a server gets out of the gateway by it."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
import structlog

from proxy.protocol import codec

from .conftest import PASSWORD, Certificates, HostRules, Server, StartGateway, UserList, dsn, serving, user_of
from .raw import impostor, startup

SSL_REQUEST = bytes.fromhex("0000000804d2162f")


async def test_a_client_verifies_the_gateway(gateway: StartGateway, certificates: Certificates) -> None:
    worker = await gateway(**certificates.serving())
    text = dsn(worker, host="localhost", sslmode="verify-full", sslrootcert=certificates.ca)
    assert await user_of(text) == "alice"
    connection = await psycopg.AsyncConnection.connect(text)
    async with connection:
        assert connection.pgconn.ssl_in_use
        (session,) = worker.context.sessions.reports()
        assert session.client.tls.startswith("TLSv1.3/")


async def test_require_refuses_plain_clients_and_prefer_takes_both(
    gateway: StartGateway, certificates: Certificates
) -> None:
    strict = await gateway(**certificates.serving("require"))
    with pytest.raises(psycopg.OperationalError, match="TLS only"):
        await user_of(dsn(strict))
    easy = await gateway(**certificates.serving("prefer"))
    assert await user_of(dsn(easy)) == "alice"
    assert await user_of(dsn(easy, sslmode="require")) == "alice"


async def test_without_tls_a_request_is_declined(gateway: StartGateway) -> None:
    worker = await gateway()
    assert await user_of(dsn(worker, sslmode="prefer")) == "alice"
    with pytest.raises(psycopg.OperationalError, match="does not support SSL"):
        await user_of(dsn(worker, sslmode="require"))


async def test_direct_tls(gateway: StartGateway, certificates: Certificates) -> None:
    worker = await gateway(**certificates.serving())
    context = ssl.create_default_context(cafile=str(certificates.ca))
    context.set_alpn_protocols(["postgresql"])
    reader, writer = await asyncio.open_connection("localhost", worker.port, ssl=context)
    writer.write(startup())
    assert await reader.readexactly(1) == b"R"
    writer.close()
    text = dsn(
        worker, host="localhost", sslmode="verify-full", sslrootcert=certificates.ca, sslnegotiation="direct"
    )
    if psycopg.pq.version() >= 170000:
        assert await user_of(text) == "alice"


async def test_direct_tls_wants_alpn(gateway: StartGateway, certificates: Certificates) -> None:
    worker = await gateway(**certificates.serving())
    context = ssl.create_default_context(cafile=str(certificates.ca))
    reader, writer = await asyncio.open_connection("localhost", worker.port, ssl=context)
    assert b"without ALPN" in await reader.read()
    writer.close()


async def test_bytes_before_the_handshake_are_rejected(
    gateway: StartGateway, certificates: Certificates
) -> None:
    for worker in (await gateway(**certificates.serving()), await gateway()):
        reader, writer = await asyncio.open_connection("127.0.0.1", worker.port)
        writer.write(SSL_REQUEST + b"\0\0\0\x0fstuffed")
        answer = await reader.read()
        assert answer[:1] == b"E"
        assert b"unencrypted data" in answer
        writer.close()


async def test_a_gssapi_request_is_declined_before_tls(
    gateway: StartGateway, certificates: Certificates
) -> None:
    worker = await gateway(**certificates.serving())
    reader, writer = await asyncio.open_connection("127.0.0.1", worker.port)
    writer.write(bytes.fromhex("0000000804d21630"))
    assert await reader.readexactly(1) == b"N"
    writer.write(SSL_REQUEST)
    assert await reader.readexactly(1) == b"S"
    writer.close()


async def test_clients_prove_themselves_by_certificate(
    gateway: StartGateway, certificates: Certificates
) -> None:
    settings = {**certificates.serving("verify-full"), "client_tls_ca_file": str(certificates.ca)}
    worker = await gateway(**settings)
    good = {"sslcert": certificates.client, "sslkey": certificates.client}
    assert await user_of(dsn(worker, sslmode="require", **good)) == "alice"
    bad = {"sslcert": certificates.stranger, "sslkey": certificates.stranger}
    for files in (bad, {}):
        with pytest.raises(psycopg.OperationalError):
            await user_of(dsn(worker, sslmode="require", **files))


@pytest.mark.parametrize("mode", ["prefer", "require", "verify-ca", "verify-full"])
@pytest.mark.usefixtures("tls_server")
async def test_tls_to_the_server(gateway: StartGateway, certificates: Certificates, mode: str) -> None:
    worker = await gateway(server_tls_sslmode=mode, server_tls_ca_file=str(certificates.ca))
    async with await psycopg.AsyncConnection.connect(dsn(worker)) as connection:
        query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        assert await (await connection.execute(query)).fetchone() == (True,)
        (session,) = worker.context.sessions.reports()
        assert session.server is not None
        assert session.server.tls.startswith("TLSv1.3/")


@pytest.mark.usefixtures("tls_server")
async def test_an_unknown_authority_of_the_server_is_refused(
    gateway: StartGateway, certificates: Certificates
) -> None:
    worker = await gateway(server_tls_sslmode="verify-ca", server_tls_ca_file=str(certificates.stranger))
    with pytest.raises(psycopg.OperationalError, match="cannot connect to the upstream"):
        await user_of(dsn(worker))


@pytest.mark.usefixtures("tls_server")
async def test_channel_binding_passes_where_both_sides_show_one_certificate(
    gateway: StartGateway, certificates: Certificates
) -> None:
    worker = await gateway(**serving(certificates.server), server_tls_sslmode="require")
    assert await user_of(dsn(worker, sslmode="require", channel_binding="require")) == "alice"


@pytest.mark.usefixtures("tls_server")
async def test_with_two_certificates_clients_that_do_not_bind_come_in(
    gateway: StartGateway, certificates: Certificates
) -> None:
    worker = await gateway(**certificates.serving(), server_tls_sslmode="require")
    assert await user_of(dsn(worker, sslmode="require", channel_binding="disable")) == "alice"
    context = ssl.create_default_context(cafile=str(certificates.ca))
    connection = await asyncpg.connect(
        host="localhost", port=worker.port, user="alice", password=PASSWORD, database="postgres", ssl=context
    )
    assert await connection.fetchval("SELECT 1") == 1
    await connection.close()


async def test_reload_takes_new_certificates(
    gateway: StartGateway, certificates: Certificates, server: Server, tmp_path: Any
) -> None:
    del server
    file = tmp_path / "gateway.pem"
    file.write_bytes(certificates.stranger.read_bytes())
    file.chmod(0o600)
    worker = await gateway(**serving(file))
    text = dsn(worker, sslmode="verify-ca", sslrootcert=certificates.ca)
    with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
        await user_of(text)
    file.write_text("nothing")
    assert "cannot be used" in (worker.reload() or "")
    with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
        await user_of(text)
    file.write_bytes(certificates.gateway.read_bytes())
    assert worker.reload() is None
    assert await user_of(text) == "alice"


async def test_prewarmed_sockets_have_done_the_tls_handshake(
    tls_server: Server, gateway: StartGateway
) -> None:
    """The client's login, bound to no certificate, goes over a connection that was encrypted before it came."""
    worker = await gateway(server_tls_sslmode="require", dial_ahead=1, dial_ahead_lifetime=60)
    query = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    for used in (0, 1, 2):
        async with await psycopg.AsyncConnection.connect(dsn(worker), autocommit=True) as client:
            assert await (await client.execute(query)).fetchone() == ("TLSv1.3",)
        assert worker.context.metrics.registry.get_sample_value("pgparley_spares_used_total") == used
        async with asyncio.timeout(10):
            while not worker.context.prewarm_pool.waiting:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0.01)
        (prewarmed,) = worker.context.prewarm_pool.waiting
        assert prewarmed.transport.get_extra_info("ssl_object").version() == "TLSv1.3"


async def test_clients_without_tls_are_warned_about(
    gateway: StartGateway, certificates: Certificates, tmp_path: Any
) -> None:
    with structlog.testing.capture_logs() as told:
        worker = await gateway(listen_addr="0.0.0.0")  # noqa: S104 - what is warned about
        worker.reload()
    warnings = [entry for entry in told if entry["event"] == "clients_without_tls"]
    assert len(warnings) == 2
    assert warnings[0]["addresses"] == ("0.0.0.0",)  # noqa: S104 - as above
    assert "client_tls_sslmode = require" in warnings[0]["hint"]
    with structlog.testing.capture_logs() as told:
        await gateway(listen_addr="127.0.0.1", unix_socket_dir=str(tmp_path))
        await gateway(listen_addr="*", **certificates.serving("allow"))
    assert not [entry for entry in told if entry["log_level"] == "warning"]


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
