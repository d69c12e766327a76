"""A client of few words, to say what no library says, and to see every message that comes back."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

from proxy.protocol import codec

V3 = 3 << 16


def packet(code: int, body: bytes = b"") -> bytes:
    """A first packet."""
    return struct.pack(">II", 8 + len(body), code) + body


def startup(user: str = "alice", database: str = "postgres", version: int = V3, **more: str) -> bytes:
    """A StartupMessage."""
    words = {"user": user, "database": database, **more}
    return packet(version, b"".join(f"{key}\0{value}\0".encode() for key, value in words.items()) + b"\0")


@dataclass
class Client:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def say(self, data: bytes) -> None:
        """Sends bytes."""
        self.writer.write(data)

    async def hear(self) -> bytes:
        """The next message."""
        head = await self.reader.readexactly(5)
        return head + await self.reader.readexactly(int.from_bytes(head[1:], "big") - 4)

    async def rest(self) -> bytes:
        """Everything until the gateway closes."""
        return await self.reader.read()


@contextlib.asynccontextmanager
async def connected(port: int, address: str = "127.0.0.1") -> AsyncIterator[Client]:
    """A client that has said nothing yet; `address` is a socket's path where it starts with a slash."""
    opened = (
        asyncio.open_unix_connection(address)
        if address.startswith("/")
        else asyncio.open_connection(address, port)
    )
    reader, writer = await opened
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


async def answer(port: int, data: bytes) -> bytes:
    """All that comes back for `data`."""
    async with connected(port) as client:
        client.say(data)
        return await client.rest()


def sqlstate(message: bytes) -> str:
    """The code of an ErrorResponse."""
    assert message[:1] == b"E", message
    return codec.error_fields(message)[b"C"].decode()


class Impostor(asyncio.Protocol):
    """A server that waits for a startup packet and asks for `challenges`, one after each word of the client's."""

    def __init__(
        self, heard: list[bytes], challenges: tuple[bytes, ...], standing: list[asyncio.Transport]
    ) -> None:
        self._heard = heard
        self._challenges = list(challenges)
        self._standing = standing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has connected."""
        self._transport = cast("asyncio.Transport", transport)
        self._standing.append(self._transport)
        self._number = len(self._heard)
        self._heard.append(b"")

    def data_received(self, data: bytes) -> None:
        """They speak."""
        self._heard[self._number] += data
        if self._challenges:
            self._transport.write(self._challenges.pop(0))


@contextlib.asynccontextmanager
async def impostor(*challenges: bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Such a server: its port, and what it was told on each connection."""
    heard: list[bytes] = []
    standing: list[asyncio.Transport] = []
    listening = socket.create_server(("127.0.0.1", 0))
    server = await asyncio.get_running_loop().create_server(
        lambda: Impostor(heard, challenges, standing), sock=listening
    )
    try:
        yield listening.getsockname()[1], heard
    finally:
        server.close()
        for transport in standing:
            transport.abort()
