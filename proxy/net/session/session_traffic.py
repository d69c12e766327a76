"""A session and what has passed through it, whoever relays it: the state that console and registry look at."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from proxy.net import pump
from proxy.protocol.session import Session

if TYPE_CHECKING:
    from proxy.net._pump import Flow


class SessionTraffic:
    """As a `SessionView`."""

    __slots__ = ("_flow", "_received", "_sent", "_server", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._server: asyncio.Transport | None = None
        self._received = 0
        self._sent = 0
        self._flow: Flow | None = None

    def _enter(self, account: pump.RelayedTraffic) -> None:
        self._received += account.received
        self._sent += account.sent
        self._session.backend.relayed(account.tally)

    @property
    def session(self) -> Session:
        """The session in its present state, to be read only."""
        if self._flow is not None:
            self._enter(pump.account(self._flow))
        return self._session

    @property
    def received(self) -> int:
        """Bytes that the client had sent when `session` was last read."""
        return self._received

    @property
    def sent(self) -> int:
        """Server bytes relayed by then, translations excluded."""
        return self._sent

    @property
    def server(self) -> asyncio.Transport | None:
        """The server's transport, None before it is connected."""
        return self._server
