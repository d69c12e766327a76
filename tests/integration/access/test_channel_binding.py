"""Channel binding with certificates of every kind of signature: libpq at the gateway, the gateway at PostgreSQL."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa

from proxy.net.tls import end_point
from proxy.net.worker.worker import Worker

from .conftest import PASSWORD, Certificates, Server, StartGateway, UserList, dsn, serving
from .raw import connected, startup

Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey | rsa.RSAPrivateKey
HASHES: dict[str, hashes.SHA256 | hashes.SHA384 | hashes.SHA512 | hashes.SHA3_256 | hashes.SHA3_512] = {
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
    "sha3-256": hashes.SHA3_256(),
    "sha3-512": hashes.SHA3_512(),
}
UNBOUND = ["ed25519", "ed448"]


def _kinds(*shown: str, others: str) -> list[Any]:
    """Kinds of certificates: `others` in `make test-all` alone."""
    return [*shown, *(pytest.param(kind, marks=pytest.mark.slow) for kind in others.split())]


BOUND = _kinds(
    *("rsa-sha256", "rsa-md5", "pss-sha1", "pss-sha3-512", "ecdsa-sha384"),
    others="rsa-sha384 rsa-sha512 rsa-sha3-256 rsa-sha3-512 rsa-sha1 pss-sha256 pss-sha384 pss-sha512 pss-sha3-256"
    " ecdsa-sha256 ecdsa-sha512",
)
"""OpenSSL 3.0 serves no certificate of ECDSA with SHA-3."""

OF_THE_SERVER = _kinds(
    "rsa-sha1", "pss-sha384", "ed25519", others="rsa-sha3-256 pss-sha1 pss-sha512 ecdsa-sha384 ed448"
)


def issue(kind: str, file: Path) -> None:
    """Writes a certificate that signed itself, of that kind, and its key."""
    signer, _, name = kind.partition("-")
    if name in ("md5", "sha1"):
        _issue_old(signer, name, file)
        return
    keys: dict[str, Callable[[], Key]] = {
        "ecdsa": lambda: ec.generate_private_key(ec.SECP256R1()),
        "ed25519": ed25519.Ed25519PrivateKey.generate,
        "ed448": ed448.Ed448PrivateKey.generate,
    }
    key = keys.get(signer, lambda: rsa.generate_private_key(65537, 2048))()
    used = HASHES.get(name)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(
            key,
            used,
            rsa_padding=padding.PSS(padding.MGF1(used), padding.PSS.DIGEST_LENGTH)
            if signer == "pss" and used is not None
            else None,
        )
    )
    formats = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    text = key.private_bytes(serialization.Encoding.PEM, *formats)
    file.write_bytes(text + certificate.public_bytes(serialization.Encoding.PEM))
    file.chmod(0o600)


def _issue_old(signer: str, name: str, file: Path) -> None:
    """MD5 and SHA-1, which the library no longer signs with."""
    options = ["-sigopt", "rsa_padding_mode:pss"] if signer == "pss" else []
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", f"-{name}", *options]
    command += ["-subj", "/CN=localhost", "-keyout", str(file), "-out", f"{file}.crt"]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a program of the system
    with file.open("ab") as both:
        both.write(Path(f"{file}.crt").read_bytes())
    file.chmod(0o600)


async def psql(text: str) -> tuple[int, str]:
    """Its exit code and what it says."""
    command = ["psql", "-XAtc", "SELECT current_user", text]
    running = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await running.communicate()
    return running.returncode or 0, said.decode()


@pytest.mark.parametrize("kind", BOUND)
async def test_clients_bind_to_the_gateways_certificate(
    gateway: StartGateway, user_list: UserList, tmp_path: Path, kind: str
) -> None:
    """What is offered can be computed on both sides, and by the same hash."""
    issue(kind, tmp_path / "own.pem")
    auth = {"auth_type": "scram-sha-256", "auth_file": user_list(alice=PASSWORD)}
    worker = await gateway(**serving(tmp_path / "own.pem"), **auth)
    for mode in ("require", "prefer", "disable"):
        text = dsn(worker, sslmode="require", channel_binding=mode)
        assert await psql(text) == (0, "alice\n")
        async with await psycopg.AsyncConnection.connect(text) as connection:
            await connection.execute("SELECT 1")


@pytest.mark.parametrize("kind", UNBOUND)
async def test_cve_2026_54291_what_has_no_hash_is_not_offered(
    gateway: StartGateway, user_list: UserList, tmp_path: Path, kind: str
) -> None:
    """Clients that prefer come in; those that require it are told that it is not offered, before they prove a thing."""
    issue(kind, tmp_path / "own.pem")
    auth = {"auth_type": "scram-sha-256", "auth_file": user_list(alice=PASSWORD)}
    worker = await gateway(**serving(tmp_path / "own.pem"), **auth)
    for mode in ("prefer", "disable"):
        assert await psql(dsn(worker, sslmode="require", channel_binding=mode)) == (0, "alice\n")
    code, said = await psql(dsn(worker, sslmode="require", channel_binding="require"))
    assert code == 2
    assert "channel binding is required, but" in said


@pytest.fixture
def certified(tls_server: Server, certificates: Certificates) -> Iterator[Callable[[str], None]]:
    """Gives the server a certificate of a kind, for the test."""
    with tls_server.admin() as admin:
        row = admin.execute("SHOW data_directory").fetchone()
        assert row is not None
        file = Path(row[0]) / "server.pem"

        def loaded() -> None:
            owner = file.parent.stat().st_uid
            os.chown(file, owner, -1)
            before = admin.execute("SELECT pg_conf_load_time()").fetchone()
            admin.execute("SELECT pg_reload_conf()")
            deadline = time.monotonic() + 10
            while admin.execute("SELECT pg_conf_load_time()").fetchone() == before:
                assert time.monotonic() < deadline

        def give(kind: str) -> None:
            issue(kind, file)
            loaded()

        yield give
        file.write_bytes(certificates.server.read_bytes())
        loaded()


@pytest.mark.parametrize("kind", OF_THE_SERVER)
async def test_the_gateway_logs_in_at_a_server_with_it(
    gateway: StartGateway, user_list: UserList, certified: Callable[[str], None], kind: str
) -> None:
    certified(kind)
    auth = {"auth_type": "scram-sha-256", "auth_file": user_list(alice=PASSWORD)}
    worker = await gateway(server_tls_sslmode="require", dial_ahead=0, **auth)
    async with await psycopg.AsyncConnection.connect(dsn(worker)) as connection:
        row = await (
            await connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        ).fetchone()
    assert row == (True,)


@pytest.mark.parametrize("kind", ["rsa-sha256", "ed25519"])
async def test_cve_2026_54291_a_server_that_offers_what_its_certificate_has_not(
    gateway: StartGateway, certified: Callable[[str], None], tmp_path: Path, kind: str
) -> None:
    """PostgreSQL offers it with every certificate; a client that sees the gateway's does not get the offer."""
    certified("ed448")
    issue(kind, tmp_path / "own.pem")
    worker = await gateway(server_tls_sslmode="require", dial_ahead=0, **serving(tmp_path / "own.pem"))
    assert await psql(dsn(worker, sslmode="require", channel_binding="disable")) == (0, "alice\n")
    code, said = await psql(dsn(worker, sslmode="require", channel_binding="require"))
    assert code == 2
    assert "channel binding is required, but" in said


def test_a_certificate_that_names_an_unknown_algorithm() -> None:
    unknown = bytes.fromhex("300c" + "3000" + "3003060153" + "0302000000")
    assert end_point(unknown) is None


# -- clients that leave during a login that the server does


@pytest.mark.parametrize("user", ["alice", "md5er", "plainer"])
@pytest.mark.parametrize("dial_ahead", [0, 1])
async def test_a_login_ends_with_its_client(
    gateway: StartGateway, server: Server, user: str, dial_ahead: int
) -> None:
    """Passthrough: both sides end at once; the server would wait for its authentication_timeout, a minute."""
    worker = await gateway(client_login_timeout=0, dial_ahead=dial_ahead, dial_ahead_lifetime=60)
    for word in (b"X\0\0\0\4", b"Q\0\0\0\x0dSELECT 1\0", b"\xff" * 16, b"p\xff\xff\xff\xff", None):
        await _left(worker, server, user, word)


async def _left(worker: Worker, server: Server, user: str, word: bytes | None) -> None:
    """Two clients begin to log in, say that, or nothing, and go: nothing is left of them."""
    async with asyncio.timeout(20):
        for _ in range(2):
            async with connected(worker.port) as client:
                client.say(startup(user))
                assert (await client.hear())[:1] == b"R"
                if word is None:
                    client.writer.close()
                else:
                    client.say(word)
                    await client.rest()
        while worker.context.sessions.connections or not worker.context.sessions.drained:  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0.01)
        query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename = %s"
        with server.admin() as admin:
            while admin.execute(query, [user]).fetchone() != (0,):  # noqa: ASYNC110 - the server's processes end by themselves
                await asyncio.sleep(0.01)


async def test_a_query_sent_along_with_the_password_waits_for_its_login(gateway: StartGateway) -> None:
    worker = await gateway()
    async with asyncio.timeout(20), connected(worker.port) as client:
        password = PASSWORD.encode() + b"\0"
        client.say(startup("plainer") + b"p" + (len(password) + 4).to_bytes(4, "big") + password)
        client.say(b"Q\0\0\0\x0dSELECT 1\0X\0\0\0\4")
        assert b"SELECT 1\0" in await client.rest()
