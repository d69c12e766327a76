"""A TCP listener in front of a server that passes bytes on, and can hurt them.

Without a fault it is a direct connection for clients that cannot use Unix sockets.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field


@dataclass
class Faults:
    """What happens to connections made from now on.

    `cut_after`: bytes of the server's after which both sides are cut off, hard. `stall_after`: bytes of the
    server's after which nothing more of it arrives. None: never.
    """

    cut_after: int | None = None
    stall_after: int | None = None


@dataclass
class Middle:
    """`target`: the path of a Unix socket, or (host, port). `passed`: bytes of the server's passed on."""

    target: str | tuple[str, int]
    faults: Faults = field(default_factory=Faults)
    passed: int = 0
    open: int = 0
    port: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> None:
        """Listens on a free port of loopback."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Ends every connection."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.open += 1
        try:
            await self._connect(reader, writer)
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if isinstance(self.target, str):
            server_reader, server_writer = await asyncio.open_unix_connection(self.target)
        else:
            server_reader, server_writer = await asyncio.open_connection(*self.target)
        try:
            pumps = (self._forward(reader, server_writer), self._back(server_reader, writer, self.faults))
            tasks = [asyncio.create_task(pump) for pump in pumps]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            server_writer.transport.abort()

    @staticmethod
    async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, faults: Faults) -> None:
        seen = 0
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                limit = min(
                    (each for each in (faults.cut_after, faults.stall_after) if each is not None),
                    default=None,
                )
                if limit is not None and seen + len(data) > limit:
                    data = data[: max(0, limit - seen)]
                seen += len(data)
                self.passed += len(data)
                writer.write(data)
                await writer.drain()
                if faults.cut_after is not None and seen >= faults.cut_after:
                    return
                if faults.stall_after is not None and seen >= faults.stall_after:
                    await asyncio.Event().wait()
            await writer.drain()
            writer.close()
            await writer.wait_closed()
