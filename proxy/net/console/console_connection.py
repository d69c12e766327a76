"""One console: its connection, and the task that carries out its commands."""

from __future__ import annotations

import asyncio
import secrets
from typing import cast

from engine.types import ErrorReply
from proxy.console.grammar import ConsoleCommand, Rights
from proxy.console.reports import ClientReport
from proxy.console.session import CloseConnection, ConsoleAction, ConsoleSession, RunCommand, WriteReply
from proxy.net.console import admin_commands
from proxy.net.ports import Admin, ConsoleContext
from proxy.protocol import codec
from proxy.protocol.session import SHUTTING_DOWN

_KEY_BYTES = 8


class ConsoleConnection(asyncio.Protocol):
    """A console user's connection, after the login."""

    def __init__(
        self, context: ConsoleContext, admin: Admin, client_report: ClientReport, rights: Rights
    ) -> None:
        self._context = context
        self._admin = admin
        self._client_report = client_report
        self._session = ConsoleSession(rights)
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._key = secrets.token_bytes(_KEY_BYTES)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client has been logged in."""
        self._transport = cast("asyncio.Transport", transport)
        self._context.consoles.add(self)
        self._context.keys.add(self._key, self)
        self._context.log.info(
            "console_opened", user=self._client_report.user, address=self._client_report.address
        )
        self._transport.write(self._session.greeting(self._client_report.user, self._key))

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        self._perform(self._session.receive(data))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone; the command under way is cancelled."""
        self._transport = None
        self._context.consoles.discard(self)
        self._context.keys.remove(self._key)
        if self._task is not None:
            self._task.cancel()

    def _perform(self, outputs: list[ConsoleAction]) -> None:
        for output in outputs:
            match output:
                case WriteReply():
                    if self._transport is not None:
                        self._transport.write(output.data)
                case RunCommand():
                    self._task = self._context.spawn("console", self._carry_out(output.command))
                case CloseConnection():
                    if self._transport is not None:
                        self._transport.close()

    async def _carry_out(self, command: ConsoleCommand) -> None:
        try:
            result = await admin_commands.carry_out(
                self._admin, command, self._client_report.user, self._context.log
            )
        except Exception:
            self._context.log.exception("console_command_failed")
            result = ErrorReply("XX000", "the gateway failed to carry the command out")
        self._task = None
        if self._transport is not None:
            self._perform(self._session.answered(result))

    def cancel_requested(self) -> bool:
        """Ctrl-C: gives up the command under way. The server has no part in it."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            error = ErrorReply("57014", "canceling statement due to user request")
            self._perform(self._session.answered(error))
        return False

    def shut_down(self) -> None:
        """The gateway ends."""
        if self._transport is not None:
            self._transport.write(codec.encode_fatal(SHUTTING_DOWN))
            self._transport.close()
