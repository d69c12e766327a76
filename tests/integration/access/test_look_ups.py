"""`auth_query` against a real server: how many connections it takes, and what a change there does here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from proxy.net.worker.worker import Worker

from .conftest import PASSWORD, Server, StartGateway, UserList, dsn, user_of
from .raw import connected, startup

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
