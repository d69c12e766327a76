"""Logins that the gateway decides, against roles whose secrets a real server keeps and `auth_query` looks up."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from proxy.net.worker.worker import Worker
from proxy.protocol import codec

from .conftest import PASSWORD, Certificates, HostRules, Server, StartGateway, UserList, dsn, user_of
from .raw import connected, startup


async def refused(text: str) -> str:
    with pytest.raises(psycopg.OperationalError) as caught:
        await user_of(text)
    return str(caught.value)


async def test_scram_with_the_servers_verifier(
    gateway: StartGateway, server: Server, user_list: UserList
) -> None:
    worker = await gateway(auth_type="scram-sha-256", auth_file=user_list(alice=server.verifiers["alice"]))
    assert await user_of(dsn(worker)) == "alice"
    assert "password authentication failed" in await refused(dsn(worker, password="wrong"))
    assert "password authentication failed" in await refused(dsn(worker, user="nobody"))
    connection = await asyncpg.connect(
        host="127.0.0.1", port=worker.port, user="alice", password=PASSWORD, database="postgres", ssl=False
    )
    assert await connection.fetchval("SELECT session_user::text") == "alice"
    await connection.close()


async def test_scram_with_a_password_in_the_file(gateway: StartGateway, user_list: UserList) -> None:
    worker = await gateway(auth_type="scram-sha-256", auth_file=user_list(alice=PASSWORD))
    assert await user_of(dsn(worker)) == "alice"
    assert "password authentication failed" in await refused(dsn(worker, password=PASSWORD.upper()))


async def test_a_verifier_of_another_salt_lets_in_here_and_not_there(
    gateway: StartGateway, server: Server, user_list: UserList
) -> None:
    """The same password, but keys that the server does not know: no one is let in by halves."""
    worker = await gateway(auth_type="scram-sha-256", auth_file=user_list(alice=server.verifiers["bob"]))
    assert "authentication failed" in await refused(dsn(worker))


@pytest.mark.parametrize("secret", ["password", "hash"])
async def test_md5(gateway: StartGateway, server: Server, user_list: UserList, secret: str) -> None:
    stored = PASSWORD if secret == "password" else server.verifiers["md5er"]
    worker = await gateway(auth_type="md5", auth_file=user_list(md5er=stored))
    assert await user_of(dsn(worker, user="md5er")) == "md5er"
    assert "password authentication failed" in await refused(dsn(worker, user="md5er", password="wrong"))


async def test_md5_asks_for_scram_where_the_secret_is_a_verifier(
    gateway: StartGateway, server: Server, user_list: UserList
) -> None:
    worker = await gateway(auth_type="md5", auth_file=user_list(alice=server.verifiers["alice"]))
    assert await user_of(dsn(worker, require_auth="scram-sha-256")) == "alice"


async def test_a_password_is_passed_on_in_clear_where_the_server_asks_so(
    gateway: StartGateway, user_list: UserList
) -> None:
    worker = await gateway(auth_type="scram-sha-256", auth_file=user_list(plainer=PASSWORD))
    assert await user_of(dsn(worker, user="plainer")) == "plainer"


async def test_keys_are_no_password(gateway: StartGateway, server: Server, user_list: UserList) -> None:
    worker = await gateway(
        auth_type="scram-sha-256", auth_file=user_list(plainer=server.verifiers["plainer"])
    )
    told = await refused(dsn(worker, user="plainer"))
    assert "cannot log in to the server" in told
    assert "does not know" in told


async def test_cert(gateway: StartGateway, certificates: Certificates, user_list: UserList) -> None:
    settings = {**certificates.serving("verify-full"), "client_tls_ca_file": str(certificates.ca)}
    worker = await gateway(**settings, auth_type="cert", auth_file=user_list(alice=PASSWORD, bob=PASSWORD))
    files = {"sslmode": "require", "sslcert": certificates.client, "sslkey": certificates.client}
    assert await user_of(dsn(worker, password="", **files)) == "alice"
    assert "cert authentication failed" in await refused(dsn(worker, user="bob", **files))


async def test_scram_binds_to_the_gateways_certificate(
    gateway: StartGateway, certificates: Certificates, server: Server, user_list: UserList
) -> None:
    secrets = user_list(alice=server.verifiers["alice"])
    worker = await gateway(**certificates.serving(), auth_type="scram-sha-256", auth_file=secrets)
    for binding in ("require", "prefer", "disable"):
        assert await user_of(dsn(worker, sslmode="require", channel_binding=binding)) == "alice"


@pytest.mark.usefixtures("tls_server")
async def test_the_gateway_binds_to_the_servers_certificate(
    gateway: StartGateway, certificates: Certificates, user_list: UserList
) -> None:
    tls = {"server_tls_sslmode": "verify-full", "server_tls_ca_file": str(certificates.ca)}
    worker = await gateway(**tls, auth_type="scram-sha-256", auth_file=user_list(alice=PASSWORD))
    assert await user_of(dsn(worker)) == "alice"


async def test_host_rules(gateway: StartGateway, user_list: UserList, hba: HostRules) -> None:
    rules = hba(
        "# first match decides\n"
        "host postgres bob 127.0.0.1/32 reject\n"
        "host postgres plainer all trust\n"
        "host all all 10.0.0.0/8 trust\n"
        "host postgres,template1 all 127.0.0.0 255.0.0.0 scram-sha-256\n"
    )
    secrets = user_list(alice=PASSWORD, bob=PASSWORD, plainer=PASSWORD)
    worker = await gateway(**rules, auth_file=secrets)
    assert await user_of(dsn(worker)) == "alice"
    assert await user_of(dsn(worker, user="plainer", password="")) == "plainer"
    assert "rules reject" in await refused(dsn(worker, user="bob"))
    hba("host all all all reject\n")
    assert worker.reload() is None
    assert "rules reject" in await refused(dsn(worker))
    hba("host all all nonsense reject\n")
    assert "line 1" in (worker.reload() or "")


async def test_auth_query(gateway: StartGateway, user_list: UserList) -> None:
    worker = await gateway(auth_type="scram-sha-256", auth_user="asker", auth_file=user_list(asker=PASSWORD))
    assert await user_of(dsn(worker)) == "alice"
    assert await user_of(dsn(worker, user="bob")) == "bob"
    assert "password authentication failed" in await refused(dsn(worker, password="wrong"))


@pytest.mark.parametrize("user", ["expired", "nologin", "nobody", "bob'; --"])
async def test_auth_query_honours_valid_until(gateway: StartGateway, user_list: UserList, user: str) -> None:
    """CVE-2025-2291: an expired password let in."""
    worker = await gateway(auth_type="scram-sha-256", auth_user="asker", auth_file=user_list(asker=PASSWORD))
    words: dict[str, Any] = {"user": user.replace("'", "\\'")}
    assert "password authentication failed" in await refused(dsn(worker, **words))


async def test_a_clients_search_path_does_not_reach_auth_query(
    gateway: StartGateway, server: Server, user_list: UserList
) -> None:
    """CVE-2025-12819: a function of the client's own, found first, answered for the server's."""
    planted = server.verifiers["bob"]
    with server.admin() as admin:
        admin.execute("CREATE SCHEMA IF NOT EXISTS evil")
        admin.execute(
            "CREATE OR REPLACE FUNCTION evil.lower(text) RETURNS text LANGUAGE sql AS $$SELECT 'expired'$$"
        )
        admin.execute(
            f"CREATE OR REPLACE VIEW evil.pg_authid AS SELECT 'alice'::name AS rolname, '{planted}' AS rolpassword"
        )
        admin.execute("GRANT USAGE ON SCHEMA evil TO public")
        admin.execute("ALTER ROLE asker SET search_path = evil, pg_catalog")
    query = "SELECT rolname, rolpassword FROM pg_authid WHERE rolname = $1"
    try:
        asking = {"auth_user": "asker", "auth_query": query, "auth_file": user_list(asker=PASSWORD)}
        worker = await gateway(auth_type="scram-sha-256", **asking)
        assert await user_of(dsn(worker, options="-c search_path=evil")) == "alice"
    finally:
        with server.admin() as admin:
            admin.execute("ALTER ROLE asker RESET search_path")


async def test_a_failing_auth_query_lets_nobody_in(gateway: StartGateway, user_list: UserList) -> None:
    secrets = user_list(asker=PASSWORD)
    for query in (
        "SELECT 1",
        "SELECT nonsense",
        "SELECT 'asker', rolpassword FROM pg_authid WHERE rolname = $1",
    ):
        worker = await gateway(
            auth_type="scram-sha-256", auth_user="asker", auth_query=query, auth_file=secrets
        )
        assert "password authentication failed" in await refused(dsn(worker))


async def test_psql_logs_in(gateway: StartGateway, server: Server, user_list: UserList) -> None:
    worker = await gateway(auth_type="scram-sha-256", auth_file=user_list(alice=server.verifiers["alice"]))
    process = await asyncio.create_subprocess_exec(
        "psql", dsn(worker), "-XAtc", "SELECT current_user", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await process.communicate()
    assert (out, err) == (b"alice\n", b"")


async def test_the_login_has_a_deadline(gateway: StartGateway, user_list: UserList) -> None:
    worker = await gateway(
        auth_type="scram-sha-256", auth_file=user_list(alice=PASSWORD), client_login_timeout=0.2
    )
    async with connected(worker.port) as client:
        client.say(b"\0\0")
        assert b"due to timeout" in await client.rest()
    assert not worker.context.pending_clients


async def test_too_many_clients(gateway: StartGateway) -> None:
    worker = await gateway(max_client_conn=1)
    async with await psycopg.AsyncConnection.connect(dsn(worker)):
        assert "max_client_conn" in await refused(dsn(worker))


async def test_a_role_that_is_not_there_has_a_salt_that_stays(
    gateway: StartGateway, user_list: UserList, tmp_path: Path
) -> None:
    """Else the salt would tell which roles exist."""
    settings = {
        "auth_type": "scram-sha-256",
        "auth_file": user_list(alice=PASSWORD),
        "runtime_dir": str(tmp_path / "run"),
    }
    first, second = await gateway(**settings), await gateway(**settings)
    salts = {
        user: {await _salt(worker.port, user) for worker in (first, second)}
        for user in ("alice", "nobody", "noone")
    }
    assert [len(found) for found in salts.values()] == [1, 1, 1]
    assert len(set.union(*salts.values())) == 3


async def _salt(port: int, user: str) -> bytes:
    first = b"n,,n=,r=abc"
    async with connected(port) as client:
        client.say(startup(user))
        assert (await client.hear()).endswith(b"SCRAM-SHA-256\0\0")
        client.say(codec.message(b"p", b"SCRAM-SHA-256\0" + len(first).to_bytes(4, "big") + first))
        return (await client.hear()).partition(b",s=")[2].partition(b",")[0]


STANDING = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgparley auth_query'"

COUNTED = """
CREATE SEQUENCE look_ups;
CREATE FUNCTION counted(who text) RETURNS TABLE (u name, p text) VOLATILE LANGUAGE sql AS $$
    SELECT nextval('public.look_ups'); SELECT pg_sleep(0.05);
    SELECT rolname, rolpassword FROM pg_authid WHERE rolname = who AND rolcanlogin $$;
"""


@pytest.fixture
async def counting(gateway: StartGateway, server: Server, user_list: UserList) -> AsyncIterator[Any]:
    """A gateway whose `auth_query` takes its time and counts itself."""
    with server.admin() as admin:
        admin.execute(COUNTED)

    async def start(**settings: Any) -> Worker:
        return await gateway(
            auth_type="scram-sha-256",
            auth_user="asker",
            auth_file=user_list(asker=PASSWORD),
            auth_query="SELECT u, p FROM public.counted($1)",
            **settings,
        )

    yield start
    with server.admin() as admin:
        admin.execute("DROP FUNCTION counted; DROP SEQUENCE look_ups")


@pytest.fixture
async def outdated(counting: Any, server: Server) -> AsyncIterator[Worker]:
    """A gateway that remembers bob's secret, which is another by now: his password is `new`."""
    worker = await counting(auth_query_ttl=600.0)
    assert await user_of(dsn(worker, user="bob")) == "bob"
    with server.admin() as admin:
        admin.execute("ALTER ROLE bob PASSWORD 'new'")
    yield worker
    with server.admin() as admin:
        admin.execute(f"ALTER ROLE bob PASSWORD '{PASSWORD}'")


def look_ups(server: Server) -> int:
    """How often roles have been looked up, without the first, which is about `auth_user`."""
    with server.admin() as admin:
        row = admin.execute("SELECT last_value FROM look_ups").fetchone()
    assert row is not None
    return int(row[0]) - 1


def standing(server: Server) -> list[int]:
    """The server processes of look-ups."""
    with server.admin() as admin:
        return [pid for (pid,) in admin.execute(STANDING).fetchall()]


async def challenged(worker: Worker, user: str) -> bytes:
    async with connected(worker.port) as client:
        client.say(startup(user))
        return await client.hear()


async def test_a_crowd_of_one_name_is_one_look_up(counting: Any, server: Server) -> None:
    worker = await counting(auth_query_connections=1)
    assert set(await asyncio.gather(*(user_of(dsn(worker)) for _ in range(20)))) == {"alice"}
    assert look_ups(server) == 1
    assert len(standing(server)) == 1


async def test_a_crowd_of_unknown_names_takes_two_connections(counting: Any, server: Server) -> None:
    worker = await counting()
    asking = asyncio.gather(*(challenged(worker, f"nobody{number}") for number in range(30)))
    most = 0
    while not asking.done():
        await asyncio.sleep(0)
        most = max(most, len(await asyncio.to_thread(standing, server)))
    assert len(set(await asking)) == 1
    assert most == 2
    for number in range(30):
        await challenged(worker, f"nobody{number}")
    # Both connections are there before it is known what roles look like.
    assert look_ups(server) in (30, 31)


async def test_a_changed_password_is_refused_once(outdated: Worker, server: Server) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await user_of(dsn(outdated, user="bob", password="new"))
    assert await user_of(dsn(outdated, user="bob", password="new")) == "bob"
    for _ in range(5):
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            await user_of(dsn(outdated, user="bob"))
    assert look_ups(server) == 2


async def test_the_server_has_the_last_word_on_an_old_password(outdated: Worker) -> None:
    """The old verifier is remembered here; there it is no more, and that is noticed as well."""
    with pytest.raises(psycopg.OperationalError, match="authentication failed"):
        await user_of(dsn(outdated, user="bob"))
    assert await user_of(dsn(outdated, user="bob", password="new")) == "bob"


async def test_a_connection_that_has_ended_is_replaced(counting: Any, server: Server) -> None:
    worker = await counting(auth_query_ttl=0.0)
    for _ in range(2):
        assert await user_of(dsn(worker)) == "alice"
        (pid,) = standing(server)
        with server.admin() as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
    assert await user_of(dsn(worker)) == "alice"


@pytest.mark.parametrize("act", ["pause", "reconnect", "reload"])
async def test_pause_reconnect_and_reload_close_them(counting: Any, server: Server, act: str) -> None:
    worker = await counting()
    assert await user_of(dsn(worker)) == "alice"
    assert len(standing(server)) == 1
    {
        "pause": worker.context.pause,
        "reconnect": worker.context.reconnect,
        "reload": lambda _: worker.reload(),
    }[act]("")
    async with asyncio.timeout(10):
        while await asyncio.to_thread(standing, server):  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0)
    worker.context.sessions.resume("")
    assert await user_of(dsn(worker)) == "alice"
