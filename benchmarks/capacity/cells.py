"""What is measured while nothing breaks: askers at once, idle sessions, and plain SQL beside them."""

from __future__ import annotations

import asyncio
import re
import statistics
import subprocess
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.capacity.askers import Asker, Outcomes, askers, connected
from benchmarks.capacity.stack import Stack, weighed
from benchmarks.harness.machine import cpu_seconds, rss_kb
from benchmarks.harness.processes import HOST

CLIENTS = 8
"""Of pgbench."""

TRANSACTION = "\\set age random(1, 1000000)\nSELECT name FROM singer WHERE singer_id = :age;\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """`askers` sessions that each asked again as soon as they were answered. Seconds a question of those answered.

    `model_seconds`: of the scripted model, a call.
    """

    askers: int
    model_seconds: float
    answered: int
    refused: dict[str, int]
    lost: int
    anothers: int
    questions_a_second: float
    p50: float | None
    p95: float | None
    p99: float | None
    engine_cpu: float
    gateway_cpu: float
    engine_mb: float
    gateway_mb: float


async def asked(stack: Stack, count: int, seconds: float, model_seconds: float) -> Asked:
    """So many askers, for so many seconds; those that wait then are waited for."""
    outcomes = Outcomes()
    some = askers(stack, count, outcomes)
    engine, gateway = stack.pids("engine"), stack.pids("gateway")
    spent = cpu_seconds(engine), cpu_seconds(gateway)
    began = time.monotonic()
    await asyncio.gather(*(_again(each, began + seconds) for each in some))
    took = time.monotonic() - began
    for each in some:
        await each.close()
    answered = len(outcomes.seconds)
    p50, p95, p99 = quantiles(outcomes.seconds)
    return Asked(
        count,
        model_seconds,
        answered,
        dict(outcomes.errors),
        outcomes.lost,
        outcomes.anothers,
        round(answered / took, 2),
        p50,
        p95,
        p99,
        round((cpu_seconds(engine) - spent[0]) / max(answered, 1), 4),
        round((cpu_seconds(gateway) - spent[1]) / max(answered, 1), 4),
        round(rss_kb(engine) / 1024, 1),
        round(rss_kb(gateway) / 1024, 1),
    )


async def _again(asker: Asker, until: float) -> None:
    while time.monotonic() < until:
        await asker.ask()


def quantiles(seconds: Sequence[float]) -> tuple[float | None, ...]:
    """The median, the 95th and the 99th percentile; None of none."""
    if not seconds:
        return None, None, None
    return tuple(round(float(value), 3) for value in np.percentile(seconds, (50, 95, 99)))


@dataclass(frozen=True, slots=True)
class Idle:
    """Sessions that have asked for nothing since they set how to be answered. Kilobytes of the gateway a session."""

    sessions: int
    opened_a_second: float
    gateway_kb: float
    asked_beside: Asked


async def idle(stack: Stack, sessions: int, seconds: float, model_seconds: float) -> Idle:
    """Opens the sessions, then asks beside them."""
    gateway = stack.pids("gateway")
    before = rss_kb(gateway)
    began = time.monotonic()
    async with AsyncExitStack() as opened:
        for start in range(0, sessions, 20):
            some = await asyncio.gather(*(connected(stack) for _ in range(min(20, sessions - start))))
            for each in some:
                opened.callback(each.terminate)
                await each.execute("SET nl.k = 2")
        rate = sessions / (time.monotonic() - began)
        grown = (rss_kb(gateway) - before) / sessions
        beside = await asked(stack, 10, seconds, model_seconds)
    return Idle(sessions, round(rate, 1), round(grown, 1), beside)


@dataclass(frozen=True, slots=True)
class Plain:
    """Transactions a second of pgbench through the gateway, in rounds without and with askers beside it.

    `ratio`: the median of the rounds' ratios, with the range of the middle half. `engine_weight`: its CPUWeight beside
    100 of all others; None where the kernel shares out by session.
    """

    askers: int
    engine_weight: int | None
    model_seconds: float
    without: list[float]
    beside: list[float]
    ratio: float
    quartiles: tuple[float, float]
    answered: int


async def plain(
    stack: Stack, count: int, rounds: int, seconds: float, model_seconds: float, *, weight: int | None = None
) -> Plain:
    """Alternating rounds; each ratio is of neighbours in time. `weight`: see `Plain.engine_weight`."""
    if weight is not None:
        with weighed(stack, weight):
            found = await plain(stack, count, rounds, seconds, model_seconds)
        return replace(found, engine_weight=weight)
    without, beside = [], []
    answered = 0
    for _ in range(rounds):
        without.append(await asyncio.to_thread(_pgbench, stack, seconds))
        outcomes = Outcomes()
        some = askers(stack, count, outcomes)
        tasks = [asyncio.create_task(_again(each, float("inf"))) for each in some]
        await asyncio.sleep(2.0)
        beside.append(await asyncio.to_thread(_pgbench, stack, seconds))
        await _ended(tasks)
        for each in some:
            await each.close()
        answered += len(outcomes.seconds)
        await asyncio.sleep(2.0)
    ratios = [later / earlier for earlier, later in zip(without, beside, strict=True)]
    low, high = np.percentile(ratios, (25, 75))
    middle = round(statistics.median(ratios), 3)
    return Plain(
        count,
        None,
        model_seconds,
        without,
        beside,
        middle,
        (round(float(low), 3), round(float(high), 3)),
        answered,
    )


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _pgbench(stack: Stack, seconds: float) -> float:
    script = stack.folder / "plain.sql"
    script.write_text(TRANSACTION, encoding="utf-8")
    given = (f"--file={script}", f"--client={CLIENTS}", f"--time={seconds:.0f}", f"--host={HOST}")
    command = [str(stack.data.bin_dir / "pgbench"), "--no-vacuum", "--jobs=1", "--protocol=extended", *given]
    command += [f"--port={stack.port}", "--username=analyst", "music"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    if found is None:
        raise RuntimeError(done.stdout + done.stderr)
    return float(found[1])
