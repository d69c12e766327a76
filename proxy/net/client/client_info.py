"""The facts about a client in its transport and startup packet."""

from __future__ import annotations

import asyncio
import ssl
from typing import cast

from proxy.console.reports import ClientReport
from proxy.net import tls as certificates
from proxy.net.addresses import address
from proxy.net.client.unix_peer import is_own_user, peer_credentials, user_name
from proxy.protocol.auth.hba import ClientOrigin
from proxy.protocol.messages import Startup


class ClientInfo:
    """One client; `user` and `database` are claims until it is authenticated."""

    def __init__(self, transport: asyncio.Transport, startup: Startup) -> None:
        self._transport = transport
        self.startup = startup
        self.user = startup.parameter("user") or ""
        self.database = startup.parameter("database") or self.user
        self.tls = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
        self.address, self.port = address(transport.get_extra_info("peername"))
        self.unix_peer = peer_credentials(transport.get_extra_info("socket"))

    @property
    def local(self) -> bool:
        """Whether it is connected over a Unix socket."""
        return self.unix_peer is not None

    @property
    def origin(self) -> ClientOrigin:
        """Where it comes from."""
        return ClientOrigin(None if self.local else self.address, self.tls is not None)

    @property
    def certificate_name(self) -> str | None:
        """The common name of its verified certificate; None without one."""
        return certificates.common_name(self.tls)

    @property
    def unix_user(self) -> str | None:
        """The Unix user at the other end of the socket; None on TCP, or where the user has no name."""
        return None if self.unix_peer is None else user_name(self.unix_peer[1])

    @property
    def is_owner(self) -> bool:
        """Whether its Unix user is the one that the gateway runs as."""
        return self.unix_peer is not None and is_own_user(self.unix_peer[1])

    def report(self, number: int, connected: float) -> ClientReport:
        """The client as the console shows it. `connected`: seconds since the epoch."""
        here = address(self._transport.get_extra_info("sockname"))
        return ClientReport(
            id=number,
            user=self.user,
            database=self.database,
            application_name=self.startup.parameter("application_name") or "",
            replication=_replication(self.startup.parameter("replication")),
            address=self.address,
            port=self.port,
            local_address=here[0],
            local_port=here[1],
            tls=certificates.describe(self.tls),
            connected=connected,
            peer_pid=0 if self.unix_peer is None else self.unix_peer[0],
        )


def _replication(value: str | None) -> str:
    """The column of that name: PostgreSQL takes `database` or a boolean."""
    if value is None or value.lower() in ("", "0", "no", "off", "false", "n", "f"):
        return "none"
    return "logical" if value.lower() == "database" else "physical"
