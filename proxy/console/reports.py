"""A worker's report: the values of the console's tables, as JSON. Times: seconds since the epoch; sizes: bytes."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class ClientReport:
    """A client as the console shows it; `port` is 0 on a Unix socket."""

    id: int
    user: str
    database: str
    application_name: str
    replication: str
    address: str
    port: int
    local_address: str
    local_port: int
    tls: str
    connected: float
    peer_pid: int = 0


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A connection to the server; `pid`: the backend's, from BackendKeyData, 0 until the server has sent it."""

    address: str
    port: int
    local_address: str
    local_port: int
    tls: str
    connected: float
    pid: int


@dataclass(frozen=True, slots=True)
class SessionReport:
    """One session. `state`: PgBouncer's; `asking`: the engine; `close_needed`: older than the last RECONNECT."""

    client: ClientReport
    server: ServerReport | None
    state: str
    received: int
    sent: int
    asking: bool = False
    close_needed: bool = False


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of one database, sessions that have ended included."""

    database: str
    sessions: int = 0
    transactions: int = 0
    queries: int = 0
    received: int = 0
    sent: int = 0

    def plus(self, other: Traffic, times: int = 1) -> Traffic:
        """The same with the counts of `other` added so many `times`; -1 subtracts them."""
        counts = zip(astuple(self)[1:], astuple(other)[1:], strict=True)
        return Traffic(self.database, *(one + times * more for one, more in counts))


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The state of one worker. `period`: seconds that `recent` covers; `metrics`: a page of Prometheus'.

    `paused`: databases, an empty name is all of them; `prewarmed`: connections that wait for their clients.
    """

    pid: int
    started: float
    sessions: tuple[SessionReport, ...]
    traffic: tuple[Traffic, ...]
    recent: tuple[Traffic, ...]
    period: float
    paused: tuple[str, ...]
    disabled: tuple[str, ...]
    logins: int
    memory: int
    metrics: str
    prewarmed: tuple[ServerReport, ...] = ()
