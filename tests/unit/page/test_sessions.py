"""Sessions end by resting, age, a closed connection or want of room; failed attempts to sign in have to wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, cast

import pytest

from page.sessions import (
    FREE_OF_ADDRESS,
    FREE_OF_ROLE,
    LONGEST,
    LONGEST_WAIT,
    MOST,
    Attempts,
    Notice,
    Sessions,
    Tone,
)
from page.sign_in import Signed


@dataclass
class ScriptedConnection:
    """A connection of which it is known whether it was closed."""

    closed: bool = False
    hangs: bool = False

    def is_closed(self) -> bool:
        return self.closed

    async def close(self, *, timeout: float) -> None:  # noqa: ASYNC109 - as asyncpg's
        if self.hangs:
            raise TimeoutError
        self.closed = True

    def terminate(self) -> None:
        self.closed = True


def signed(connection: ScriptedConnection) -> Signed:
    return Signed(cast("Any", connection), "dora", admin=True, changes=True)


async def test_a_session_that_rests_or_grows_old_is_over() -> None:
    sessions, connection = Sessions(100.0), ScriptedConnection()
    name = await sessions.begin(signed(connection), 0.0)
    assert sessions.find(name, 99.0) is sessions.find(name, 198.0) is not None
    assert sessions.find(name, 299.0) is None
    await sessions.end_over(299.0)
    assert connection.closed
    sessions = Sessions(LONGEST)
    name = await sessions.begin(signed(ScriptedConnection()), 0.0)
    assert sessions.find(name, LONGEST - 1) is not None
    assert sessions.find(name, LONGEST + 1) is None


async def test_a_closed_connection_ends_a_session_and_ids_are_long() -> None:
    sessions, connection = Sessions(100.0), ScriptedConnection()
    name = await sessions.begin(signed(connection), 0.0)
    assert len(name) >= 43
    assert sessions.find(name[:-1], 0.0) is sessions.find("", 0.0) is None
    connection.closed = True
    assert sessions.find(name, 0.0) is None


async def test_the_one_that_rests_longest_makes_room() -> None:
    sessions = Sessions(100.0)
    connections = [ScriptedConnection() for _ in range(MOST + 1)]
    names = [await sessions.begin(signed(each), float(number)) for number, each in enumerate(connections)]
    assert [each.closed for each in connections] == [True] + [False] * MOST
    assert sessions.find(names[0], 50.0) is None
    connections[1].hangs = True
    await sessions.end_all()
    assert all(each.closed for each in connections)


async def test_a_notice_is_shown_once_and_a_token_is_the_sessions_own() -> None:
    sessions = Sessions(100.0)
    one = sessions.find(await sessions.begin(signed(ScriptedConnection()), 0.0), 0.0)
    other = sessions.find(await sessions.begin(signed(ScriptedConnection()), 0.0), 0.0)
    assert one is not None
    assert other is not None
    assert one.owns(one.token)
    assert not one.owns(other.token)
    assert not one.owns("ä")
    one.notice = Notice(Tone.DONE, "saved")
    assert one.take_notice() == Notice(Tone.DONE, "saved")
    assert one.take_notice() is None


@pytest.mark.parametrize("hangs", [True, False])
async def test_the_end_of_a_session_closes_its_connection(hangs: bool) -> None:  # noqa: FBT001 - a case
    sessions, connection = Sessions(100.0), ScriptedConnection(hangs=hangs)
    name = await sessions.begin(signed(connection), 0.0)
    await asyncio.gather(sessions.end(name), sessions.end(name))
    assert connection.closed


def failed(times: int, role: str = "dora", address: str = "10.0.0.1", now: float = 0.0) -> Attempts:
    attempts = Attempts()
    for _ in range(times):
        attempts.begun(role, address, now)
    return attempts


def test_the_first_ones_are_free_then_each_waits_longer_and_a_wait_is_over_when_its_time_is() -> None:
    waits = [failed(times).wait("dora", "10.0.0.2", 0.0) for times in range(FREE_OF_ROLE + 9)]
    assert waits[:FREE_OF_ROLE] == [0.0] * FREE_OF_ROLE
    assert waits[FREE_OF_ROLE : FREE_OF_ROLE + 4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == LONGEST_WAIT
    attempts = failed(FREE_OF_ROLE + 1)
    assert [attempts.wait("dora", "10.0.0.2", now) for now in (0.5, 1.9, 2.0)] == [1.5, 2.0 - 1.9, 0.0]


def test_an_address_that_tries_many_roles_waits_as_well_and_memory_has_an_end() -> None:
    attempts = Attempts()
    for number in range(11_000):
        attempts.begun(f"role{number}", "10.0.0.1", 0.0)
        if number == FREE_OF_ADDRESS - 1:
            assert attempts.wait("another", "10.0.0.1", 0.0) > 0
            assert attempts.wait("another", "10.0.0.2", 0.0) == 0
    assert len(attempts._failures) <= 10_000


def test_success_and_time_forget() -> None:
    attempts = failed(FREE_OF_ROLE + 3)
    attempts.succeeded("dora", "10.0.0.1")
    assert attempts.wait("dora", "10.0.0.1", 0.0) == 0
    attempts = failed(FREE_OF_ROLE + 9)
    attempts.begun("dora", "10.0.0.1", 4 * LONGEST_WAIT + 1)
    assert attempts.wait("dora", "10.0.0.1", 4 * LONGEST_WAIT + 1) == 0
