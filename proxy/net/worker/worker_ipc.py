"""How the workers of one gateway talk to each other: a Unix socket each, in a directory that only the owner can open.

Every process finds the others by the names in it, also those that finish their last sessions; a dead name is removed.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proxy.console.reports import WorkerReport
from proxy.net.client.sockets import is_alive

_DEADLINE = 5.0
"""Seconds that a worker gets to answer another."""

_LIMIT = 1 << 26
"""Bytes of the longest answer: a report of tens of thousands of sessions."""

_WORKER = "gateway-{}.sock"

LOANS = ".s.PGSQL.{}"
"""Where the worker with this process id lends the sessions of its askers."""

_LONGEST = 107
"""Bytes of a Unix socket's path at most, by the kernel's `sockaddr_un`."""

_LONGEST_NAME = "gateway-4194304.sock"
"""With the largest process id that a kernel gives: where it has room, every process that is started later has."""


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """A request to a worker; `argument` is empty where the verb needs none."""

    verb: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class WorkerAnswer:
    """`done`: whether the request applied to this worker. `error`: why it failed, None where it did not."""

    done: bool = False
    error: str | None = None
    report: WorkerReport | None = None


Handler = Callable[[WorkerRequest], Awaitable[WorkerAnswer]]


class WorkerChannel:
    """This process's socket, and requests to the others. `name` is the socket's file name."""

    def __init__(self, directory: Path, name: str, handle: Handler) -> None:
        self._directory = directory
        self._path = directory / name
        self._handle = handle
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listens. Raises `OSError`."""
        if (excess := len(os.fsencode(self._directory / _LONGEST_NAME)) - _LONGEST) > 0:
            reason = f"runtime_dir is too long for the sockets in it, by {excess} bytes"
            raise OSError(errno.ENAMETOOLONG, reason, str(self._directory))
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = self._directory.stat()
        if about.st_uid != os.getuid() or about.st_mode & 0o077:
            raise PermissionError(f"{self._directory} has to be a directory of mode 700 that we own")
        self._path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, str(self._path), limit=_LIMIT)
        self._path.chmod(0o600)

    async def close(self) -> None:
        """Listens no more."""
        if self._server is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_DEADLINE):
                request = msgspec.json.decode(await reader.readline(), type=WorkerRequest)
            answer = await self._handle(request)
            writer.write(msgspec.json.encode(answer) + b"\n")
            await writer.drain()
        except (OSError, ValueError, msgspec.MsgspecError):
            # A sibling that hangs up or sends garbage gets no answer.
            return
        finally:
            writer.close()

    async def ask_others(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """Sends `request` to every other worker. Returns the answers of those that run."""
        paths = [path for path in sorted(self._directory.glob(_WORKER.format("*"))) if path != self._path]
        answers = await asyncio.gather(*(_ask_sibling(path, request) for path in paths))
        return [answer for answer in answers if answer is not None]


async def _ask_sibling(path: Path, request: WorkerRequest) -> WorkerAnswer | None:
    try:
        return await ask_worker(path, request)
    except (ConnectionRefusedError, FileNotFoundError):
        _forget(path)
        return None
    except (OSError, msgspec.MsgspecError) as problem:
        return WorkerAnswer(error=f"{path.name}: {problem or type(problem).__name__}")


def worker_path(directory: Path, pid: int) -> Path:
    """Where the worker with this process id is asked."""
    return directory / _WORKER.format(pid)


def forget_killed(directory: Path, pid: int | None = None) -> None:
    """Removes the sockets that a killed worker left behind; None: every one's. None of them may be starting."""
    for name in (_WORKER, LOANS):
        for path in directory.glob(name.format("*" if pid is None else pid)):
            if not is_alive(path):
                _forget(path)


def _forget(path: Path) -> None:
    path.unlink(missing_ok=True)


async def ask_worker(path: Path, request: WorkerRequest, seconds: float = _DEADLINE) -> WorkerAnswer:
    """Asks the process that listens at `path`. Raises `OSError` and `msgspec.MsgspecError`."""
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_unix_connection(str(path), limit=_LIMIT)
        try:
            writer.write(msgspec.json.encode(request) + b"\n")
            return msgspec.json.decode(await reader.readline(), type=WorkerAnswer)
        finally:
            writer.close()
