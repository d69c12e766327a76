"""Starting a gateway worker: inside a running loop, or as a process of its own."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable

import uvloop

from proxy.net.worker.context import ShutdownMode
from proxy.net.worker.worker import STANDALONE, Worker, WorkerPlacement
from proxy.settings import GatewaySettings


async def serve(
    settings: GatewaySettings,
    placement: WorkerPlacement = STANDALONE,
    reread: Callable[[], GatewaySettings] | None = None,
) -> Worker:
    """A worker that listens; `stop` it in the same loop. Raises `OSError` and `AccessError`."""
    worker = Worker(settings, placement, reread)
    await worker.start()
    return worker


def run_worker(
    settings: GatewaySettings,
    placement: WorkerPlacement = STANDALONE,
    reread: Callable[[], GatewaySettings] | None = None,
) -> None:
    """Runs a worker in this process until a signal ends it; signals mean the same as to PgBouncer.

    SIGHUP: RELOAD. SIGTERM: SHUTDOWN WAIT_FOR_CLIENTS. SIGINT: SHUTDOWN WAIT_FOR_SERVERS. SIGQUIT, or a second
    signal: SHUTDOWN. SIGUSR1: PAUSE. SIGUSR2: RESUME.
    """
    # Imported modules live as long as the process: no collection has to traverse them.
    gc.freeze()
    uvloop.run(_run_until_ended(settings, placement, reread))


async def _run_until_ended(
    settings: GatewaySettings, placement: WorkerPlacement, reread: Callable[[], GatewaySettings] | None
) -> None:
    worker = await serve(settings, placement, reread)
    loop = asyncio.get_running_loop()
    actions: dict[signal.Signals, Callable[[], object]] = {
        signal.SIGHUP: worker.reload,
        signal.SIGTERM: lambda: worker.shut_down(ShutdownMode.WAIT_FOR_CLIENTS),
        signal.SIGINT: lambda: worker.shut_down(ShutdownMode.WAIT_FOR_SERVERS),
        signal.SIGQUIT: lambda: worker.shut_down(ShutdownMode.NOW),
        signal.SIGUSR1: lambda: worker.context.pause(""),
        signal.SIGUSR2: lambda: worker.context.sessions.resume(""),
    }
    for number, action in actions.items():
        loop.add_signal_handler(number, action)
    await worker.ended.wait()
    await worker.stop()
