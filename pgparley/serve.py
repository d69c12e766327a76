"""`pgparley serve`: the gateway's workers, the engine and the embedded model, each a process of its own.

Owns starting, watching and stopping them. A process that dies is started again, later each time it dies soon; a
gateway without an engine still relays plain SQL, so workers start first and wait for nobody.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from engine.llm.settings import EmbeddedModelSettings
from pgparley.config import PREFIX, Config

log = structlog.stdlib.get_logger("serve")

STEADY = 30.0
"""Seconds after which a process counts as having started well."""

LONGEST_PAUSE = 15.0

STOP_TIMEOUT = 20.0
"""Seconds that a process gets to end by itself."""


@dataclass(frozen=True, slots=True)
class Part:
    """One process: which of `pgparley.processes` it is, and what its environment adds."""

    name: str
    kind: str
    environment: Mapping[str, str]


def parts(config: Config) -> list[Part]:
    """The processes of `config`. Without a model server, an embedded one on a free loopback port."""
    model: dict[str, str] = {}
    found: list[Part] = []
    if config.model.base_url is None:
        port = config.embedded_model.port or _free_port(config.embedded_model)
        model = {f"{PREFIX}MODEL_BASE_URL": f"http://{config.embedded_model.host}:{port}/v1"}
        # Threads that wait for each other must not spin: on a busy machine they would starve the one awaited.
        passive = {"OMP_WAIT_POLICY": "passive", f"{PREFIX}EMBEDDED_MODEL_PORT": str(port)}
        found.append(Part("model", "model", passive))
    shared = {f"{PREFIX}GATEWAY_REUSE_PORT": "true"} if config.workers > 1 else {}
    workers = [Part(f"gateway-{i}", "gateway", shared) for i in range(1, config.workers + 1)]
    return [*workers, *found, Part("engine", "engine", model)]


async def serve(config: Config, file: Path | None) -> None:
    """Runs until SIGINT or SIGTERM, then stops everything: gateways first, so that nobody asks a dead engine."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with asyncio.TaskGroup() as group:
        for part in parts(config):
            group.create_task(_keep_running(part, file, stop), name=part.name)


async def _keep_running(part: Part, file: Path | None, stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    pause = 0.5
    while not stop.is_set():
        began = loop.time()
        code = await _run_once(part, file, stop)
        if stop.is_set():
            return
        pause = 0.5 if loop.time() - began > STEADY else min(2 * pause, LONGEST_PAUSE)
        log.error("process ended, starting it again", part=part.name, exit_code=code, seconds=pause)
        try:
            await asyncio.wait_for(stop.wait(), pause)
        except TimeoutError:
            continue


async def _run_once(part: Part, file: Path | None, stop: asyncio.Event) -> int:
    """Runs the process to its end, or ends it when `stop` is set; gives its exit code."""
    config = [str(file)] if file is not None else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pgparley.processes", part.kind, *config),
        env={**os.environ, **part.environment},
        stdin=asyncio.subprocess.DEVNULL,
        # A group of its own, so that Ctrl-C in a terminal reaches only the supervisor, which stops all in order.
        start_new_session=True,
    )
    ended = asyncio.create_task(process.wait(), name=f"{part.name}-ended")
    stopped = asyncio.create_task(stop.wait(), name=f"{part.name}-stop")
    try:
        await asyncio.wait((ended, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        await _end(process, ended)
    return process.returncode or 0


async def _end(process: asyncio.subprocess.Process, ended: asyncio.Task[int]) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(asyncio.shield(ended), STOP_TIMEOUT)
        except TimeoutError:
            process.kill()
    await ended


def _free_port(settings: EmbeddedModelSettings) -> int:
    with socket.socket() as probe:
        probe.bind((settings.host, 0))
        return int(probe.getsockname()[1])
