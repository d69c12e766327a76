"""A session and what has passed through it, whoever relays it: the state that console and registry look at."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from proxy.console.reports import ClientReport
from proxy.net import pump
from proxy.protocol.session import Session

if TYPE_CHECKING:
    from proxy.net._pump import Flow


class SessionTraffic(ABC):
    """`received`: bytes of the client; `sent`: of the server, translations excluded; both when `session` was last read.

    `client`: as the console shows it. `server`: the server's transport, None before it is connected.
    """

    __slots__ = ("_flow", "_session", "client", "received", "sent", "server")

    def __init__(self, session: Session, client: ClientReport) -> None:
        self._session = session
        self.client = client
        self.server: asyncio.Transport | None = None
        self.received = 0
        self.sent = 0
        self._flow: Flow | None = None

    def _enter(self, account: pump.RelayedTraffic) -> None:
        self.received += account.received
        self.sent += account.sent
        self._session.backend.relayed(account.tally)

    @property
    def session(self) -> Session:
        """The session in its present state, to be read only."""
        if self._flow is not None:
            self._enter(pump.account(self._flow))
        return self._session

    @abstractmethod
    def shut_down(self) -> None:
        """Ends the session from our side."""
