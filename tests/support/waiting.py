"""Waits for what happens by itself, with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(met: Callable[[], Awaitable[object]], seconds: float = 20.0) -> None:
    """Returns once `met` gives something true; raises `TimeoutError`."""
    async with asyncio.timeout(seconds):
        while not await met():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.02)
