"""The morning from psql alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from docs.morning.place import Place
from docs.morning.session import Psql, psql
from docs.morning.steps import STEPS, Step, Wait
from pgparley.demo.prepare import STORE

LONGEST_WAIT = 60.0
"""Seconds for what an engine does in a second or two."""


@dataclass(frozen=True, slots=True)
class Done:
    """A step, and what psql printed for each of its lines."""

    step: Step
    printed: tuple[str, ...]


async def from_psql(at: Place) -> tuple[Done, ...]:
    """Types all steps; raises `UnexpectedError` or `TimeoutError` at the first that goes another way."""
    store = await asyncpg.connect(at.store)
    try:
        async with psql(
            at.site.psql, at.uri(STORE, "dora"), at.environment, Path(__file__).parent
        ) as session:
            return tuple([await _do(session, store, step) for step in STEPS])
    finally:
        await store.close()


async def _do(session: Psql, store: asyncpg.Connection, step: Step) -> Done:
    printed = []
    for line in step.lines:
        if line.after is not None:
            await until(store, line.after)
        printed.append(await session.type(line.text, line.shows))
    return Done(step, tuple(printed))


async def until(store: asyncpg.Connection, wait: Wait) -> None:
    """Looks until it is so; raises `TimeoutError`."""
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            while not await store.fetchval(wait.query):
                await asyncio.sleep(0.2)
    except TimeoutError:
        raise TimeoutError(f"not in {LONGEST_WAIT:.0f} seconds: {wait.what}") from None
