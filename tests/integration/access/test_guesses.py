"""Somebody who guesses learns nothing from what is said, how much is computed, or how long it takes."""

from __future__ import annotations

import asyncio
import base64
import re
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.net.upstream.login_phase import DerivationPool
from proxy.net.worker.worker import Worker
from proxy.protocol import codec
from proxy.protocol.auth.scram import KeyDerivation, Verifier
from proxy.protocol.auth.secrets import md5_hash

from .conftest import PASSWORD, Certificates, HostRules, Server, StartGateway, UserList, dsn
from .raw import Client, connected, sqlstate, startup

WRONG = b"p" + (4 + 6).to_bytes(4, "big") + b"wrong\0"
KNOWN, UNKNOWN = "alice", "nobdy"


def verifier(iterations: int = 10_000, salt: int = 20, password: str = PASSWORD) -> str:
    """A verifier as `rolpassword` has it, of a shape that is not the default."""
    made = Verifier.of_password(password, bytes(range(salt)), iterations)
    words = [base64.b64encode(each).decode() for each in (made.salt, made.stored_key, made.server_key)]
    return f"SCRAM-SHA-256${iterations}:{words[0]}${words[1]}:{words[2]}"


SECRETS = {
    "verifier": verifier(),
    "default verifier": verifier(4096, 16),
    "hash": md5_hash(KNOWN, PASSWORD),
    "password": PASSWORD,
}
CASES = [(method, kind) for method in ("scram-sha-256", "md5", "password") for kind in SECRETS]


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The derivations that were asked for: iterations, and bytes of salt."""
    found: list[tuple[int, int]] = []
    original = DerivationPool.derive

    def derive(self: DerivationPool, derivation: KeyDerivation) -> Any:
        found.append((derivation.iterations, len(derivation.salt)))
        return original(self, derivation)

    monkeypatch.setattr(DerivationPool, "derive", derive)
    return found


async def transcript(port: int, user: str, address: str = "127.0.0.1") -> list[object]:
    """What a guess is answered, less what is random and the name."""
    said: list[object] = []
    async with connected(port, address) as client:
        client.say(startup(user))
        while not said or said[-1] != "end":
            message = await client.hear()
            said.append(_shape(message).replace(user.encode(), b"<user>"))
            _guess(client, message)
            if message[:1] == b"E":
                assert await client.rest() == b""
                said.append("end")
    return said


def _shape(message: bytes) -> bytes:
    code = message[:9]
    if code.startswith(b"R") and code.endswith(b"\x0b"):
        nonce, salt, iterations = re.fullmatch(rb"r=(.*),s=(.*),i=(.*)", message[9:]).groups()  # type: ignore[union-attr]
        return code + b"%d %d %d " % (len(nonce), len(base64.b64decode(salt)), len(iterations)) + iterations
    return code if code.endswith(b"\x05") and len(message) == 13 else message


def _guess(client: Client, message: bytes) -> None:
    code = int.from_bytes(message[5:9], "big") if message[:1] == b"R" else None
    if code in (3, 5):
        client.say(WRONG)
    elif code == 10:
        first = b"n,,n=,r=abc"
        client.say(codec.message(b"p", b"SCRAM-SHA-256\0" + len(first).to_bytes(4, "big") + first))
    elif code == 11:
        nonce = message[9:].partition(b",")[0]
        client.say(codec.message(b"p", b"c=biws," + nonce + b",p=" + base64.b64encode(bytes(32))))


async def compared(worker: Worker, derived: list[tuple[int, int]]) -> list[object]:
    """The transcript of both guesses, which is one; twice, for what is remembered then."""
    for _ in range(2):
        seen = []
        for user in (KNOWN, UNKNOWN):
            derived.clear()
            seen.append((await transcript(worker.port, user), list(derived)))
        assert seen[0] == seen[1]
    return seen[0][0]


@pytest.mark.parametrize("case", CASES, ids="-".join)
async def test_roles_of_the_file(
    gateway: StartGateway,
    user_list: UserList,
    hba: HostRules,
    derived: list[tuple[int, int]],
    case: tuple[str, str],
) -> None:
    method, kind = case
    secrets = user_list(**{KNOWN: SECRETS[kind], "other": SECRETS[kind]})
    worker = await gateway(**hba(f"host all all all {method}\n"), auth_file=secrets)
    said = await compared(worker, derived)
    scram = method == "scram-sha-256" or (method == "md5" and "verifier" in kind)
    assert len(said) == (4 if scram else 3)
    if scram and kind == "verifier":
        assert said[1].endswith(b"20 5 10000")  # type: ignore[attr-defined]
    assert sqlstate(said[-2]) == "28P01"  # type: ignore[arg-type]
    assert len(derived) == (1 if method == "password" or (scram and kind == "password") else 0)


@pytest.mark.parametrize("case", CASES, ids="-".join)
async def test_roles_of_the_server(
    gateway: StartGateway,
    user_list: UserList,
    hba: HostRules,
    derived: list[tuple[int, int]],
    case: tuple[str, str],
) -> None:
    """The unknown one first: what a role looks like is known before anybody has logged in."""
    method, kind = case
    query = f"SELECT u, '{SECRETS[kind]}' FROM unnest(ARRAY['asker', '{KNOWN}']) AS u WHERE u = $1"
    asking = {"auth_file": user_list(asker=PASSWORD), "auth_user": "asker", "auth_query": query}
    worker = await gateway(**hba(f"host all all all {method}\n"), **asking)
    first = await transcript(worker.port, UNKNOWN)
    assert await compared(worker, derived) == first


async def test_the_files_names_are_looked_up_as_well(gateway: StartGateway, user_list: UserList) -> None:
    secrets = user_list(asker=PASSWORD, alice=PASSWORD)
    worker = await gateway(auth_type="scram-sha-256", auth_file=secrets, auth_user="asker")
    for user in (KNOWN, UNKNOWN):
        await transcript(worker.port, user)
    assert {KNOWN, UNKNOWN} <= worker.context.login_service._secrets._known.keys()


async def test_peer_and_cert(
    gateway: StartGateway, certificates: Certificates, user_list: UserList, hba: HostRules, tmp_path: Path
) -> None:
    tls = {**certificates.serving("verify-full"), "client_tls_ca_file": str(certificates.ca)}
    rules, secrets = hba("local all all peer\nhostssl all all all cert\n"), user_list(bobby=PASSWORD)
    worker = await gateway(**tls, **rules, auth_file=secrets, unix_socket_dir=str(tmp_path))
    path = f"{tmp_path}/.s.PGSQL.{worker.port}"
    by_peer = [await transcript(worker.port, user, path) for user in ("bobby", UNKNOWN)]
    assert by_peer[0] == by_peer[1]
    files = {"sslmode": "require", "sslcert": certificates.client, "sslkey": certificates.client}
    told = []
    for user in ("bobby", UNKNOWN):
        with pytest.raises(psycopg.OperationalError, match="cert authentication failed") as caught:
            await psycopg.AsyncConnection.connect(dsn(worker, user=user, **files))
        told.append(str(caught.value).replace(user, "<user>"))
    assert told[0] == told[1]


@pytest.mark.parametrize("database", ["pgparley", "postgres"])
async def test_administrators_are_not_told_from_others(
    gateway: StartGateway, user_list: UserList, database: str
) -> None:
    worker = await gateway(
        auth_type="md5", auth_file=user_list(alice=PASSWORD, bobby=PASSWORD), admin_users="alice"
    )
    said = []
    for user in (KNOWN, "bobby"):
        async with connected(worker.port) as client:
            client.say(startup(user, database))
            challenge = (await client.hear())[:9]
            client.say(WRONG)
            said.append((challenge, (await client.rest()).replace(user.encode(), b"<user>")))
    assert said[0] == said[1]


@pytest.mark.usefixtures("uncollected")
async def test_deriving_holds_nobody_up(
    gateway: StartGateway, server: Server, user_list: UserList, hba: HostRules
) -> None:
    """What counts is the time that the loop's thread computes in one step: others share the machine."""
    dear = verifier(150_000, 16)
    secrets = user_list(**{f"u{number}": dear for number in range(50)})
    rules = hba("host all all all password\n")
    worker = await gateway(**rules, auth_file=secrets, upstream_host=str(server.socket_dir))
    begun = time.thread_time()
    KeyDerivation("x", bytes(16), 150_000).keys()
    alone = time.thread_time() - begun
    guesses = asyncio.gather(*(transcript(worker.port, f"u{number}") for number in range(50)))
    worst, beats, before = 0.0, 0, time.thread_time()
    while not guesses.done():
        await asyncio.sleep(0)
        now = time.thread_time()
        worst, before, beats = max(worst, now - before), now, beats + 1
    assert all(said[-1] == "end" for said in await guesses)
    assert worst < min(alone / 2, 0.1)
    assert beats > 100


async def test_the_gateways_own_proof_is_derived_elsewhere(
    gateway: StartGateway, server: Server, user_list: UserList, derived: list[tuple[int, int]]
) -> None:
    """The client's login, and the gateway's at the server, whose salt and iterations are the server's."""
    del server
    worker = await gateway(auth_type="scram-sha-256", auth_file=user_list(alice=PASSWORD))
    async with await psycopg.AsyncConnection.connect(dsn(worker)) as connection:
        await connection.execute("SELECT 1")
    assert derived == [(4096, 16)] * 2
    assert not worker.context.pending_clients


@pytest.mark.parametrize("method", ["scram-sha-256", "password"])
async def test_a_client_that_leaves_meanwhile(
    gateway: StartGateway, user_list: UserList, hba: HostRules, method: str
) -> None:
    secrets = user_list(alice=verifier(300_000, 16), bob=PASSWORD)
    worker = await gateway(**hba(f"host all all all {method}\n"), auth_file=secrets)
    for _ in range(5):
        async with connected(worker.port) as client:
            client.say(startup())
            client.say(WRONG)
    while worker.context.pending_clients or worker.context.login_service._admitted:  # noqa: ASYNC110 - what is awaited is in the same loop
        await asyncio.sleep(0)
    assert await transcript(worker.port, "bob")
