"""Eight askers with bombs beside an honest one: who pays for them."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.values.settings import UpstreamSettings
from tests.security import bombs, engine_door
from tests.security.arena import SECRET, VICTIM, Arena
from tests.security.engine_door import Door
from tests.security.servers import VERSIONS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ASKERS = tuple(f"asker_{n}" for n in range(8))
SECONDS = 60.0
"""How long the bombs fall; LIMIT: what each call may take, SLACK: how much later it may be back."""
LIMIT, SLACK = 1.0, 0.5

NOISE = 0.02
"""Seconds that an honest statement may take however fast it is without the bombs."""

MEMORY = 300 * 1024 * 1024
"""Bytes by which the engine's process may grow."""


@pytest.fixture
async def bombers(arena: Arena) -> AsyncIterator[Arena]:
    """The arena with eight roles, each with a schema of its own."""
    for name in ASKERS:
        await arena.admin.execute(f"CREATE ROLE {name} LOGIN")
        await arena.admin.execute(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
        await arena.as_role(name, bombs.PLANT.format(schema=name))
    yield arena
    # What was thrown last holds locks on what is to be dropped.
    await arena.alone()
    for name in ASKERS:
        await arena.admin.execute(f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}")


async def _honest(door: Door, until: float) -> list[float]:
    """Seconds of each honest statement, one after the other."""
    took: list[float] = []
    while time.monotonic() < until:
        started = time.monotonic()
        assert SECRET in await door.run(VICTIM, "SELECT secret FROM b.secrets", seconds=5.0)
        took.append(time.monotonic() - started)
    return took


async def _bombing(door: Door, role: str, first: int, until: float) -> list[float]:
    """Seconds of each bomb of one asker, EXPLAIN and run in turn."""
    took: list[float] = []
    statements = itertools.cycle((*bombs.CPU, bombs.OWN.format(schema=role), *bombs.MEMORY))
    for statement in itertools.islice(statements, first, None):
        for ask in (door.explain, door.run):
            if time.monotonic() >= until:
                return took
            started = time.monotonic()
            await ask(role, statement, seconds=LIMIT)
            took.append(time.monotonic() - started)
    return took


def _resident() -> int:
    """Bytes of this process in memory, where the engine's part runs."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


async def _highest(until: float) -> int:
    seen = []
    while time.monotonic() < until:
        seen.append(_resident())
        await asyncio.sleep(0.02)
    return max(seen)


def _p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


@pytest.mark.parametrize("server", [VERSIONS[0], VERSIONS[-1]], indirect=True)
async def test_bombs_cost_whoever_throws_them(bombers: Arena) -> None:
    settings = UpstreamSettings(pool_size=8, statement_timeout=LIMIT)
    async with engine_door.opened(bombers, settings) as door:
        alone = await _honest(door, time.monotonic() + 3)
        base = _resident()
        until = time.monotonic() + SECONDS
        bombing = [_bombing(door, role, 2 * n, until) for n, role in enumerate(ASKERS)]
        beside, highest, thrown = await asyncio.gather(
            _honest(door, until), _highest(until), asyncio.gather(*bombing)
        )
    late = [seconds for took in thrown for seconds in took if seconds > LIMIT + SLACK]
    figures = f"{_p95(alone):.4f} s alone, {_p95(beside):.4f} s beside, {(highest - base) >> 20} MiB more"
    assert not late, (figures, sorted(late)[-3:], len(late), sum(len(took) for took in thrown))
    assert highest - base <= MEMORY, figures
    assert _p95(beside) <= max(2 * _p95(alone), NOISE), figures
