"""Logins that the server and the client settle between them (LDAP, PAM, OAuth): the gateway passes every byte on.

A scripted server asks over TLS as PostgreSQL does. LDAP, PAM and RADIUS are the server's own affair: their clients are
asked for a password (docs, 20.10 to 20.12). OAuth is a SASL exchange (docs, 54.3.2).
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from proxy.protocol import codec

from .conftest import Certificates, StartGateway
from .raw import Client, connected, sqlstate, startup

LET_IN = codec.message(b"R", bytes(4))
READY = codec.message(b"Z", b"I")
BEARER = b"n,,\x01auth=Bearer of.a.token\x01\x01"


def asked(code: int, body: bytes = b"") -> bytes:
    return codec.message(b"R", code.to_bytes(4, "big") + body)


def first(response: bytes) -> bytes:
    """The client's SASLInitialResponse."""
    return codec.message(b"p", b"OAUTHBEARER\0" + len(response).to_bytes(4, "big") + response)


WHERE = (
    b'{"status":"invalid_token","openid-configuration":"https://id.example/.well-known/openid-configuration"}'
)
EXCHANGES = {
    "LDAP, PAM": [(asked(3), codec.message(b"p", "pä:ss, wörd\0".encode()))],
    "OAuth with a token": [(asked(10, b"OAUTHBEARER\0\0"), first(BEARER))],
    # A client without one asks first who gives tokens.
    "OAuth": [
        (asked(10, b"OAUTHBEARER\0\0"), first(b"n,,\x01auth=\x01\x01")),
        (asked(11, WHERE), codec.message(b"p", b"\x01")),
    ],
}


@dataclass
class Scripted:
    """A server with TLS that makes each challenge after what it has heard, and lets in after the last."""

    challenges: Sequence[bytes]
    context: ssl.SSLContext
    heard: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A gateway that does not trust the server hangs up.
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            await reader.readexactly(8)
            writer.write(b"S")
            await writer.drain()
            await writer.start_tls(self.context)
            await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big") - 4)
            for challenge in self.challenges:
                writer.write(challenge)
                self.heard.append(await Client(reader, writer).hear())
            writer.write(LET_IN + READY)
            await reader.read()
        writer.close()


@contextlib.asynccontextmanager
async def scripted(
    challenges: Sequence[bytes], certificates: Certificates
) -> AsyncIterator[tuple[int, Scripted]]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server)
    script = Scripted(challenges, context)
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], script


@pytest.fixture(autouse=True)
def _far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address is one of another machine."""
    monkeypatch.setattr("proxy.net.peers.is_loopback", lambda _: False)
    monkeypatch.setattr("proxy.net.upstream.dialer.is_loopback", lambda _: False)


@pytest.mark.parametrize("name", EXCHANGES)
async def test_over_a_checked_certificate_the_exchange_passes_unchanged(
    name: str, gateway: StartGateway, certificates: Certificates
) -> None:
    exchange = EXCHANGES[name]
    async with scripted([challenge for challenge, _ in exchange], certificates) as (port, server):
        worker = await gateway(
            upstream_port=port, server_tls_sslmode="verify-full", server_tls_ca_file=str(certificates.ca)
        )
        async with connected(worker.port) as client:
            client.say(startup())
            for challenge, response in exchange:
                assert await client.hear() == challenge
                client.say(response)
            assert await client.hear() == LET_IN
            assert await client.hear() == READY
        assert server.heard == [response for _, response in exchange]


@pytest.mark.parametrize("name", EXCHANGES)
async def test_over_a_certificate_that_is_not_checked_the_client_is_asked_for_nothing(
    name: str, gateway: StartGateway, certificates: Certificates
) -> None:
    challenge, _ = EXCHANGES[name][0]
    async with scripted([challenge], certificates) as (port, server):
        worker = await gateway(upstream_port=port, server_tls_sslmode="require")
        async with connected(worker.port) as client:
            client.say(startup())
            assert sqlstate(await client.hear()) == "28000"
        assert server.heard == []
