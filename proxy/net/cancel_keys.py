"""Cancel keys: the sessions they belong to, and the routing of a CancelRequest.

Owns the keys of one worker. An unknown key is passed to its siblings, and then to the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerRequest
from proxy.protocol.messages import CancelRequest

_MAX_UNKNOWN_KEYS = 16
"""Cancel requests with an unknown key that are carried out at once: any client can send them."""


class Cancellable(Protocol):
    """Something that has a cancel key."""

    def cancel_requested(self) -> bool:
        """Cancels what is under way. Returns whether the request has to be sent to the server."""


class CancelKeys:
    """The keys of one worker's sessions and consoles."""

    def __init__(
        self,
        siblings: Callable[[WorkerRequest], Awaitable[list[WorkerAnswer]]],
        send_to_server: Callable[[bytes], Awaitable[None]],
    ) -> None:
        """`siblings` asks every other worker. `send_to_server` sends a CancelRequest packet; it raises OSError."""
        self._siblings = siblings
        self._send_to_server = send_to_server
        self._unknown_keys = asyncio.Semaphore(_MAX_UNKNOWN_KEYS)
        self.owners: dict[bytes, Cancellable] = {}
        """Key → session or console that it cancels."""

    def add(self, key: bytes, owner: Cancellable) -> None:
        """Registers the key of `owner`."""
        self.owners[key] = owner

    def remove(self, key: bytes) -> None:
        """Removes a key; an unknown one is ignored."""
        self.owners.pop(key, None)

    async def cancel(self, request: CancelRequest) -> None:
        """Carries out a cancel request: at the worker that has the session, and at the server where it must know.

        Raises:
            OSError: The server cannot be reached.
        """
        owner = self.owners.get(request.key)
        if owner is None:
            async with self._unknown_keys:
                answers = await self._siblings(WorkerRequest("cancel", request.key.hex()))
                if not any(answer.done for answer in answers):
                    await self._send_to_server(request.packet)
        elif owner.cancel_requested():
            await self._send_to_server(request.packet)

    def cancel_for_sibling(self, key: bytes) -> bool:
        """Returns whether the session is ours and the server need not be told."""
        owner = self.owners.get(key)
        return owner is not None and not owner.cancel_requested()
