"""The settings of the page; owns what an address and its TLS may be, not the listening."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass

from schema_catalog.dsn import in_the_clear


class PageConfigError(Exception):
    """The page cannot be served as configured; the message says why. `hint`: what to change."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class PageSettings:
    """`[page]`. `listen`: address:port; empty: no page. `idle_minutes`: how long a session rests before it ends.

    `behind_https`: a proxy in front of the page ends TLS, so that the page itself may do without. `gateway`: connection
    string of the gateway over which questions are tried; empty: the one of this configuration, on this machine.
    """

    listen: str = ""
    tls_cert_file: str = ""
    tls_key_file: str = ""
    behind_https: bool = False
    idle_minutes: float = 30.0
    gateway: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the page listens, and whether browsers reach it by HTTPS alone."""

    host: str
    port: int
    https: bool


def address(settings: PageSettings) -> Address:
    """Where to listen; raises `PageConfigError` where that is not said, or passwords would travel in the clear."""
    host, colon, port = settings.listen.rpartition(":")
    host = host.strip("[]")
    if not colon or not port.isdecimal() or int(port) > 65535 or not host:  # noqa: PLR2004 - ports have 16 bits
        raise PageConfigError(
            f'"{settings.listen}" is no address for the page',
            'Set listen in [page], as in listen = "127.0.0.1:6480".',
        )
    if bool(settings.tls_cert_file) != bool(settings.tls_key_file):
        raise PageConfigError("the page's TLS needs a certificate and its key", "Set both in [page].")
    https = bool(settings.tls_cert_file) or settings.behind_https
    if not https and not _is_loopback(host):
        raise PageConfigError(
            f"passwords would travel to {host} in the clear",
            "Set tls_cert_file and tls_key_file in [page], or listen on 127.0.0.1, or set behind_https where a proxy"
            " in front of the page ends TLS.",
        )
    if in_the_clear(settings.gateway):
        raise PageConfigError(
            "passwords would travel to the gateway in the clear",
            "Add sslmode=verify-full to gateway in [page].",
        )
    return Address(host, int(port), https)


def tls_context(settings: PageSettings) -> ssl.SSLContext | None:
    """The certificate to serve with, None without one; raises `PageConfigError` where it cannot be used."""
    if not settings.tls_cert_file:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.tls_cert_file, settings.tls_key_file)
    except (OSError, ssl.SSLError) as problem:
        raise PageConfigError(
            f"the page's certificate or key cannot be used: {problem}",
            "Correct tls_cert_file and tls_key_file in [page].",
        ) from problem
    return context


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
