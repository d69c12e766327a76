"""Checks of the gateway: its logins and TLS, the server behind it, its engine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

from engine.app.client import EngineClient
from pgparley.check.finding import Finding, ok, problem, said, warning
from pgparley.config import Config
from proxy.net import access
from proxy.net.access import engine_addresses
from proxy.net.audit_log import syslog_device
from proxy.protocol import codec
from proxy.settings import GatewaySettings

_SECONDS = 5.0


async def check_gateway(config: Config) -> AsyncIterator[Finding]:
    """What a worker needs, in the order in which it needs it."""
    yield _logins(config.gateway)
    for target in filter(None, (config.audit.log, config.audit.heads)):
        yield _audit_log(target)
    if config.audit.key:
        yield _audit_key(config)
    yield await _server(config.gateway)
    yield await _engine(config.gateway)
    if in_the_clear := access.in_the_clear(config.gateway):
        yield warning(
            "between hosts",
            f"questions, rows and what lets the engine act as an asker travel in the clear: {', '.join(in_the_clear)}",
            "Use https:// and engine_tls_cert_file in [gateway], or a network of the gateway's and the engines' own.",
        )


def _logins(settings: GatewaySettings) -> Finding:
    try:
        access.load(settings)
    except access.AccessError as error:
        return problem(
            "logins", said(error), "Correct [gateway]: docs/logins.md says what each setting needs."
        )
    return ok("logins", f"auth_type {settings.auth_type}, TLS with clients {settings.client_tls_sslmode}")


def _audit_log(target: str) -> Finding:
    device = syslog_device(target)
    if device is not None:
        usable = Path(device).is_socket()
    else:
        usable = os.access(target if Path(target).exists() else Path(target).parent, os.W_OK)
    if usable:
        return ok("audit log", target)
    action = "Make its folder and give it to the gateway's user, or correct log and heads in [audit]."
    return problem("audit log", f"{device or target} cannot be written: the gateway does not start", action)


def _audit_key(config: Config) -> Finding:
    settings = config.audit
    try:
        access.audit_key(settings)
    except access.AccessError as error:
        return problem("audit key", said(error), "Run: pgparley audit key")
    if settings.pseudonyms and not os.access(settings.people, os.W_OK):
        action = "Make it (mode 700) and give it to the gateway's user, or correct people in [audit]."
        return problem("audit key", f"{settings.people} cannot be written: no line can be", action)
    return ok("audit key", settings.key)


async def _server(settings: GatewaySettings) -> Finding:
    host, port = settings.upstream_host, settings.upstream_port
    name = f"{host}:{port}"
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await (
                asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
                if host.startswith("/")
                else asyncio.open_connection(host, port)
            )
            # Every server answers it with one letter, whoever asks.
            writer.write(codec.SSL_REQUEST)
            answer = await reader.read(1)
            writer.close()
    except (OSError, TimeoutError) as error:
        action = "Start it, or correct upstream_host and upstream_port in [gateway]."
        return problem("server", f"{name} does not answer: {said(error)}", action)
    if answer not in (b"S", b"N"):
        action = "Point upstream_host and upstream_port in [gateway] at a PostgreSQL server."
        return problem("server", f"{name} does not speak PostgreSQL's protocol", action)
    if settings.server_tls_sslmode.insists and answer == b"N":
        action = "Turn ssl on there, or set server_tls_sslmode in [gateway]."
        return problem("server", f"{name} has no TLS, and server_tls_sslmode insists on it", action)
    return ok("server", f"{name} answers{', with TLS' if answer == b'S' else ''}")


async def _engine(settings: GatewaySettings) -> Finding:
    try:
        addresses = engine_addresses(settings)
    except access.AccessError as error:
        return problem("engine", said(error), "Correct engine_secret_file in [gateway].")
    if not addresses:
        return warning(
            "engine", "none is configured", "Questions get 58000 until [gateway] engine names one."
        )
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(EngineClient(each)) for each in addresses]
        ready = await asyncio.gather(*(client.ready() for client in clients))
    missing = [each.target for each, is_ready in zip(addresses, ready, strict=True) if not is_ready]
    if not missing:
        return ok("engine", f"{settings.engine} is ready")
    action = (
        "Start it with pgparley serve, or wait until it has loaded its models; plain SQL works without it."
    )
    return warning("engine", f"{', '.join(missing)} is not ready", action)
