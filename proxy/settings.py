"""The settings of a gateway worker. Where a key means what PgBouncer's does, it has PgBouncer's name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What one worker is told; `pgparley.config` reads it from file and environment."""

    upstream_host: str
    """Host name of the server, or the directory of its Unix socket where it starts with a slash."""
    upstream_port: int = 5432
    listen_addr: str = "127.0.0.1"
    """Addresses to listen on, separated by commas; `*` for all."""
    listen_port: int = 6432
    """0 lets the system choose a free port."""
    reuse_port: bool = False
    """Whether several workers share the port (`so_reuseport`)."""
    listen_backlog: int = 128
    engine: str = ""
    """The engine: the path of its Unix socket, or an http URL. Empty: NL statements get 58000."""
    nl_timeout: float = 60.0
    """Seconds that an NL statement may take where it does not say otherwise itself."""
    max_question_chars: int = 4000
    server_connect_timeout: float = 15.0
    """Seconds to wait for the upstream's socket."""
    shutdown_grace: float = 5.0
    """Seconds that sessions get to end by themselves when the worker shuts down."""
    log_level: str = "info"
