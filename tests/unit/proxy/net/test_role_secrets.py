"""What is remembered of `auth_query`'s answers, and how often it is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from typing import cast

import pytest
import structlog

from proxy.net.upstream.auth_query import AuthQueryConnection, AuthQueryError, RoleSecrets
from proxy.protocol.auth.scram import ITERATIONS, Verifier
from proxy.protocol.auth.secrets import MD5Hash, MockRole, Password, Secret, VisibleTraits, typical_role
from proxy.settings import GatewaySettings

HASH = MD5Hash("md5" + "0" * 32)


@dataclass
class Roles:
    """A server: its roles, and what it was asked. While `gate` is not set it does not answer."""

    secrets: dict[str, Secret]
    asked: list[str] = field(default_factory=list)
    connections: int = 0
    under_way: int = 0
    most: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    down: bool = False
    now: float = 100.0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    made: list[RoleSecrets] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    async def connect(self) -> AuthQueryConnection:
        self.connections += 1
        if self.down:
            raise ConnectionRefusedError("nobody there")
        return cast("AuthQueryConnection", Connection(self))

    def spawn(self, _: str, work: Coroutine[object, object, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def remembered(self, **settings: object) -> RoleSecrets:
        """A memory of what this server says."""
        wanted = GatewaySettings(upstream_host="there", auth_user="asker", **settings)  # type: ignore[arg-type]
        log = structlog.get_logger("test")
        self.made.append(RoleSecrets(wanted, self.connect, self.spawn, log, lambda: self.now))
        return self.made[-1]

    async def reached(self, look_ups: int) -> None:
        """Waits until so many are under way."""
        while self.under_way < look_ups:  # noqa: ASYNC110 - what is awaited is in the same loop
            await asyncio.sleep(0)


class Connection:
    """As `AuthQueryConnection`."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self.usable = True

    async def fetch_secret(self, user: str) -> Secret | None:
        roles = self._roles
        roles.asked.append(user)
        roles.under_way += 1
        roles.most = max(roles.most, roles.under_way)
        try:
            await roles.gate.wait()
        finally:
            roles.under_way -= 1
        if roles.down:
            self.usable = False
            raise AuthQueryError("gone")
        return roles.secrets.get(user)

    def close(self) -> None:
        self.usable = False


@pytest.fixture
async def roles() -> AsyncIterator[Roles]:
    made = Roles({"asker": HASH, "ana": Password("a"), "bob": HASH})
    yield made
    for secrets in made.made:
        secrets.close()
    for task in made.tasks:
        await task


def others(roles: Roles) -> list[str]:
    """What was asked beside the first question about `auth_user`."""
    assert roles.asked[0] == "asker"
    return roles.asked[1:]


async def test_one_look_up_for_all_who_ask_at_once(roles: Roles) -> None:
    secrets = roles.remembered()
    roles.gate.clear()
    waiting = [asyncio.create_task(secrets.find(user)) for user in ("ana", "nobody") * 50]
    await roles.reached(2)
    waiting[0].cancel()
    roles.gate.set()
    found = await asyncio.gather(*waiting[1:])
    assert Counter(map(repr, found)) == {repr(Password("a")): 49, "None": 50}
    assert sorted(set(others(roles)) - {"asker"}) == ["ana", "nobody"]
    assert roles.most <= roles.connections == 2


async def test_many_names_share_few_connections(roles: Roles) -> None:
    secrets = roles.remembered(auth_query_connections=3)
    roles.gate.clear()
    asking = asyncio.gather(*(secrets.find(f"n{number}") for number in range(100)))
    await roles.reached(3)
    roles.gate.set()
    await asking
    assert roles.connections == 3
    assert roles.most == 3


@pytest.mark.parametrize("user", ["ana", "nobody"])
async def test_answers_are_remembered_for_a_while(roles: Roles, user: str) -> None:
    secrets = roles.remembered(auth_query_ttl=5.0)
    for _ in range(3):
        assert await secrets.find(user) == roles.secrets.get(user)
    assert others(roles) == [user]
    roles.secrets[user] = HASH
    roles.now += 4.9
    assert await secrets.find(user) != HASH
    roles.now += 0.2
    assert await secrets.find(user) == HASH
    assert others(roles) == [user] * 2
    assert roles.connections == 1


async def test_nothing_is_remembered_where_the_operator_says_so(roles: Roles) -> None:
    secrets = roles.remembered(auth_query_ttl=0.0)
    for _ in range(3):
        await secrets.find("ana")
    assert others(roles) == ["ana"] * 3


@pytest.mark.parametrize("user", ["ana", "nobody"])
async def test_a_failed_login_asks_anew_once(roles: Roles, user: str) -> None:
    """A changed password is refused once; somebody who guesses does not have the server asked each time."""
    secrets = roles.remembered(auth_query_ttl=5.0)
    await secrets.find(user)
    roles.secrets[user] = HASH
    for _ in range(10):
        secrets.login_failed(user)
        assert await secrets.find(user) == HASH
    assert others(roles) == [user] * 2
    for rounds in (4, 6):
        roles.now += 5.1
        await secrets.find(user)
        for _ in range(10):
            secrets.login_failed(user)
            await secrets.find(user)
        assert len(others(roles)) == rounds
    secrets.login_failed("never heard of")


async def test_a_thousand_names_at_most(roles: Roles) -> None:
    secrets = roles.remembered()
    for number in range(1001):
        await secrets.find(f"n{number}")
    asked = len(roles.asked)
    await secrets.find("n1000")
    assert len(roles.asked) == asked
    await secrets.find("n0")
    assert len(roles.asked) == asked + 1
    assert len(secrets._known) == 1000


async def test_a_failure_is_nobodys_secret_and_not_remembered(roles: Roles) -> None:
    secrets = roles.remembered()
    roles.down = True
    for _ in range(5):
        assert await secrets.find("ana") is None
    assert roles.connections == 1, "a server that is down is left alone for a moment"
    roles.down = False
    roles.now += 1.1
    assert await secrets.find("ana") == Password("a")
    roles.down = True
    assert await secrets.find("bob") is None
    roles.down = False
    roles.now += 1.1
    assert await secrets.find("bob") == HASH


async def test_the_deadline_covers_the_queue(roles: Roles) -> None:
    secrets = roles.remembered(server_connect_timeout=0.05, auth_query_connections=1)
    roles.gate.clear()
    found = await asyncio.gather(*(secrets.find(f"n{number}") for number in range(20)))
    assert found == [None] * 20
    # One by one they would make twenty. The next in the queue may get the place a moment before its own time is over.
    assert roles.connections < 10
    roles.gate.set()


async def test_after_the_end_no_connection_is_kept(roles: Roles) -> None:
    secrets = roles.remembered()
    roles.gate.clear()
    waiting = asyncio.create_task(secrets.find("ana"))
    await roles.reached(1)
    secrets.close()
    roles.gate.set()
    assert await waiting == Password("a")
    assert secrets._idle == []


async def test_what_shows_of_roles_is_counted_by_role(roles: Roles) -> None:
    secrets = roles.remembered(auth_query_ttl=0.0)
    verifier = Verifier.of_password("x", b"s" * 20, 7)
    roles.secrets["ana"] = roles.secrets["cleo"] = verifier
    for user in ("ana", "ana", "cleo", "nobody"):
        await secrets.find(user)
    assert secrets.visible_traits == {VisibleTraits(): 1, VisibleTraits(7, 20): 2}
    roles.secrets["ana"] = Password("a")
    await secrets.find("ana")
    assert +secrets.visible_traits == {
        VisibleTraits(): 1,
        VisibleTraits(7, 20): 1,
        VisibleTraits(is_password=True): 1,
    }


@pytest.mark.parametrize(
    ("traits", "mock_role"),
    [
        ([], MockRole()),
        ([VisibleTraits(10_000, 12)], MockRole(10_000, 12)),
        ([VisibleTraits(4096, 16)] * 2 + [VisibleTraits(10_000, 12)] * 3, MockRole(10_000, 12)),
        ([VisibleTraits(4096, 16)] * 2 + [VisibleTraits()] * 3, MockRole(4096, 16, asks_scram=False)),
        ([VisibleTraits(is_password=True)], MockRole(ITERATIONS, 16, asks_scram=False, derives_keys=True)),
        ([VisibleTraits(4096, 16), VisibleTraits(is_password=True)], MockRole(derives_keys=True)),
    ],
)
def test_what_most_roles_look_like(traits: list[VisibleTraits], mock_role: MockRole) -> None:
    assert typical_role(Counter(traits)) == mock_role
