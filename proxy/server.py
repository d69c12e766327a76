"""Running a gateway worker as a process of its own."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable

import uvloop

from proxy.net.worker.context import ShutdownMode
from proxy.net.worker.worker import Worker


def run_worker(worker: Worker) -> None:
    """Runs it in this process until a signal ends it; signals mean the same as to PgBouncer.

    SIGHUP: RELOAD. SIGTERM: SHUTDOWN WAIT_FOR_CLIENTS. SIGINT: SHUTDOWN WAIT_FOR_SERVERS. SIGQUIT, or a second
    signal: SHUTDOWN. SIGUSR1: PAUSE. SIGUSR2: RESUME.
    """
    # Imported modules live as long as the process: no collection has to traverse them.
    gc.freeze()
    uvloop.run(_run_until_ended(worker))


async def _run_until_ended(worker: Worker) -> None:
    await worker.start()
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
