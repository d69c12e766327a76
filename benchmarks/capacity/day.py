"""A day of questions in a few minutes, while things break.

An engine is killed, the store restarted, the model slow and then dead, and the disk of the store full. Owns the order
of the faults, what clients saw in each, and the memory over the day. No answer may be lost, or be another's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.capacity.askers import Asker, Outcomes, askers
from benchmarks.capacity.cells import quantiles
from benchmarks.capacity.stack import Stack
from benchmarks.harness.machine import rss_kb
from benchmarks.harness.processes import start_postgres
from pgparley import cluster

NONE, ENGINE_KILLED, STORE_RESTARTED = "none", "engine killed", "store restarted"
MODEL_SLOW, MODEL_DEAD, DISK_FULL = "model slow", "model dead", "disk of the store full"

DISK_MB = 400
"""Of the store's disk, where it is one of its own."""

EVERY = 1.0
"""Seconds from one look at the memory to the next."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day. `errors`: how many askers were told what, by SQLSTATE; `words`: the first of each."""

    fault: str
    seconds: float
    answered: int
    errors: dict[str, int]
    words: dict[str, str]
    lost: int
    anothers: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class Memory:
    """Of one process after the first third: the median, and megabytes an hour by least squares."""

    part: str
    median_mb: float
    slope: float
    looks: int


@dataclass(frozen=True, slots=True)
class Day:
    """`questions` asked by `people`. `left_out`: faults that could not be made here, and why."""

    people: int
    questions: int
    minutes: float
    parts: list[Part]
    memory: list[Memory]
    left_out: list[str]


async def day(
    stack: Stack, people: int, seconds: float, pause: float, model_seconds: float, *, full: bool
) -> Day:
    """Parts of equal length; each asker rests `pause` seconds at the mean before a question.

    `full`: the store's disk is one of its own and may be filled.
    """
    faults = _faults(stack, model_seconds, full=full)
    some = askers(stack, people, Outcomes())
    over = asyncio.Event()
    chance = random.Random(1)  # noqa: S311 - a draw, no secret
    began = time.monotonic()
    looks: dict[str, list[tuple[float, float]]] = {"gateway": [], "engine": []}
    tasks = [asyncio.create_task(_asking(each, pause, chance, over)) for each in some]
    looking = asyncio.create_task(_look(stack, began, looks))
    noted = []
    for fault in faults:
        outcomes = Outcomes()
        for each in some:
            each.outcomes = outcomes
        since = time.monotonic()
        await fault.breaks()
        await asyncio.sleep(max(0.0, seconds / len(faults) - (time.monotonic() - since)))
        await fault.mends()
        noted.append((fault.name, time.monotonic() - since, outcomes))
    over.set()
    await asyncio.gather(*tasks)
    took = time.monotonic() - began
    looking.cancel()
    for each in some:
        await each.close()
    parts = [_part(name, spent, outcomes) for name, spent, outcomes in noted]
    memory = [_memory(part, [look for look in some if look[0] > took / 3]) for part, some in looks.items()]
    questions = sum(outcomes.asked for _, _, outcomes in noted)
    left_out = [] if full else [f"{DISK_FULL}: needs root, to mount a disk of its own"]
    return Day(people, questions, round(took / 60, 1), parts, memory, left_out)


@dataclass(frozen=True, slots=True)
class _Fault:
    name: str
    breaks: Callable[[], Awaitable[None]]
    mends: Callable[[], Awaitable[None]]


def _faults(stack: Stack, model_seconds: float, *, full: bool) -> list[_Fault]:
    async def nothing() -> None:
        return

    async def kill() -> None:
        for pid in stack.pids("engine"):
            os.kill(pid, signal.SIGKILL)

    async def restart() -> None:
        await asyncio.to_thread(cluster.stop, stack.store)
        await asyncio.to_thread(start_postgres, stack.store)

    async def usual() -> None:
        await stack.script(str(model_seconds))

    slow, filler = str(max(2.0, 10 * model_seconds)), stack.store.data_dir.parent / "filler"

    async def fill() -> None:
        await asyncio.to_thread(_fill, filler)

    async def free() -> None:
        filler.unlink()
        await asyncio.to_thread(_revive, stack)

    rest = _Fault(NONE, nothing, nothing)
    found = [
        rest,
        _Fault(ENGINE_KILLED, kill, stack.engine_ready),
        _Fault(STORE_RESTARTED, restart, nothing),
        _Fault(MODEL_SLOW, lambda: stack.script(slow), usual),
        _Fault(MODEL_DEAD, lambda: stack.script("fail"), usual),
        rest,
    ]
    return [*found, _Fault(DISK_FULL, fill, free), rest, rest] if full else [*found, rest]


def _fill(filler: Path) -> None:
    """Writes until nothing more fits."""
    with filler.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 20))
                file.flush()
        except OSError:
            return


def _revive(stack: Stack) -> None:
    """Starts the store's server where the full disk has ended it, as an operator would."""
    if subprocess.run(
        [stack.store.bin_dir / "pg_isready", "-q", "-h", stack.store.socket_dir, "-p", str(stack.store.port)],
        check=False,
    ).returncode:
        cluster.stop(stack.store)
        (stack.store.data_dir / "postmaster.pid").unlink(missing_ok=True)
        start_postgres(stack.store)


async def _asking(asker: Asker, pause: float, chance: random.Random, over: asyncio.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), chance.expovariate(1 / pause))
            return
        await asker.ask()


async def _look(stack: Stack, began: float, looks: dict[str, list[tuple[float, float]]]) -> None:
    while True:
        for part, some in looks.items():
            with contextlib.suppress(OSError, StopIteration):
                some.append((time.monotonic() - began, rss_kb(stack.pids(part)) / 1024))
        await asyncio.sleep(EVERY)


def _part(name: str, spent: float, outcomes: Outcomes) -> Part:
    p50, p95, _ = quantiles(outcomes.seconds)
    answered, errors = len(outcomes.seconds), dict(outcomes.errors)
    return Part(
        name, round(spent, 1), answered, errors, outcomes.words, outcomes.lost, outcomes.anothers, p50, p95
    )


def _memory(part: str, looks: Sequence[tuple[float, float]]) -> Memory:
    """By blocks of ten looks, since one look is much like the next."""
    blocks = np.array([np.mean(looks[at : at + 10], axis=0) for at in range(0, len(looks) - 9, 10)])
    slope = float(np.polyfit(blocks[:, 0] / 3600, blocks[:, 1], 1)[0]) if len(blocks) > 1 else 0.0
    return Memory(part, round(float(np.median(blocks[:, 1])), 1), round(slope, 1), len(looks))
