"""Starting a gateway worker: inside a running loop, or as a process of its own."""

from __future__ import annotations

import asyncio
import signal

import structlog
import uvloop

from proxy.net.worker import Worker
from proxy.settings import GatewaySettings


async def serve(settings: GatewaySettings) -> Worker:
    """A worker that listens; `stop` it in the same loop.

    Raises:
        OSError: The address cannot be bound.
    """
    worker = Worker(settings)
    await worker.start()
    return worker


def run_worker(settings: GatewaySettings) -> None:
    """Runs a worker in this process until SIGTERM or SIGINT."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    uvloop.run(_until_signalled(settings))


async def _until_signalled(settings: GatewaySettings) -> None:
    loop = asyncio.get_running_loop()
    signalled = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signalled.set)
    worker = await serve(settings)
    await signalled.wait()
    await worker.stop()
