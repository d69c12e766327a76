"""Where the engine is asked: at its Unix socket, and at an address for gateways on other machines.

Who may use the socket may name any asker; so may who has what gateways show at the address: the secret, a certificate,
or both. Owns both sites, TLS and what is shown; the interface is `engine.app.endpoints`'.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from engine.values.errors import InvalidSettingError
from engine.values.keyed import keyed
from engine.values.settings import ListenSettings

SHORTEST_SECRET = 16


class AddressSite:
    """The address of `settings` and its files; raises `InvalidSettingError` where it is not safe."""

    def __init__(self, settings: ListenSettings) -> None:
        self.host, self.port = _parted(settings.listen)
        self._secret = _secret(settings)
        self._tls = _tls(settings, self.host)
        self._certified = bool(settings.tls_ca_file)

    def guarded(self, app: web.Application) -> web.Application:
        """`app`, whose verbs want secret and certificate from who comes over TCP; probes and metrics do not."""

        def free(asked: web.Request) -> bool:
            return asked.method == "GET" or _is_local(asked)

        @web.middleware
        async def certified(request: web.Request, handler: Handler) -> web.StreamResponse:
            if free(request) or not self._certified or request.get_extra_info("peercert"):
                return await handler(request)
            raise web.HTTPUnauthorized(text="the certificate of a gateway is missing")

        app.middlewares.append(certified)
        why = "the secret of this engine's gateways is missing"
        return keyed(app, self._secret, free, why) if self._secret else app

    def site(self, runner: web.AppRunner) -> web.TCPSite:
        """Not started yet."""
        return web.TCPSite(runner, self.host, self.port, ssl_context=self._tls)


def _is_local(request: web.Request) -> bool:
    own = request.get_extra_info("socket")
    return own is not None and own.family == socket.AF_UNIX


def _parted(listen: str) -> tuple[str, int]:
    host, colon, port = listen.rpartition(":")
    host = host.strip("[]")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:  # noqa: PLR2004 - ports have 16 bits
        raise InvalidSettingError(
            f'"{listen}" is no address for the engine', hint='Set listen in [engine], as in "10.0.0.7:6434".'
        )
    return host, int(port)


def _secret(settings: ListenSettings) -> bytes:
    hint = (
        "Write one to a file that the engine and its gateways read, as in: openssl rand -base64 32 > FILE. Name it as"
        " secret_file in [engine] and as engine_secret_file in [gateway]."
    )
    if not settings.secret_file and settings.tls_ca_file:
        return b""
    if not settings.secret_file:
        raise InvalidSettingError(
            "an engine that listens on an address needs a secret, or tls_ca_file", hint=hint
        )
    try:
        secret = Path(settings.secret_file).read_bytes().strip()
    except OSError as problem:
        raise InvalidSettingError(
            f"secret_file of [engine] cannot be read: {problem}", hint=hint
        ) from problem
    if len(secret) < SHORTEST_SECRET:
        raise InvalidSettingError(f"the engine's secret is shorter than {SHORTEST_SECRET} bytes", hint=hint)
    return secret


def _tls(settings: ListenSettings, host: str) -> ssl.SSLContext | None:
    hint = "Set tls_cert_file and tls_key_file in [engine], or listen on 127.0.0.1."
    if not settings.tls_cert_file and not settings.tls_key_file:
        if _is_loopback(host) and not settings.tls_ca_file:
            return None
        raise InvalidSettingError(
            f"questions, rows and the engine's secret would travel to {host} in the clear", hint=hint
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.tls_cert_file, settings.tls_key_file or None)
        if settings.tls_ca_file:
            # Probes have none, verbs want one.
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(settings.tls_ca_file)
    except (OSError, ssl.SSLError) as problem:
        raise InvalidSettingError(
            f"the engine's certificate, key or authorities cannot be used: {problem}", hint=hint
        ) from problem
    return context


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
