"""The workers' sockets: what becomes of a directory that cannot hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerChannel, WorkerRequest

LIMIT = 107
"""Bytes of a Unix socket's path."""


async def nothing(_: WorkerRequest) -> WorkerAnswer:
    return WorkerAnswer()


def directory(folder: Path, room: int) -> Path:
    """One in whose path `room` bytes are left for a name, the slash not counted."""
    return folder / ("d" * (LIMIT - 1 - room - len(str(folder)) - 1))


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("w")


async def test_a_directory_with_room_for_every_worker_is_used(folder: Path) -> None:
    channel = WorkerChannel(directory(folder, len("gateway-4194304.sock")), "supervisor.sock", nothing)
    await channel.open()
    await channel.close()


async def test_one_without_is_refused_before_a_worker_is_started(folder: Path) -> None:
    # The supervisor's own socket would have room here.
    channel = WorkerChannel(directory(folder, len("gateway-4194304.sock") - 1), "supervisor.sock", nothing)
    with pytest.raises(OSError, match="too long for the sockets in it, by 1 bytes"):
        await channel.open()
