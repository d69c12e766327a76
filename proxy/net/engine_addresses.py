"""The engines that a gateway asks, from its settings. Owns reading the secret that engines on TCP want to be shown."""

from __future__ import annotations

from pathlib import Path

from engine.client import EngineAddress
from proxy.net.access import AccessError
from proxy.settings import GatewaySettings


def engine_addresses(settings: GatewaySettings) -> tuple[EngineAddress, ...]:
    """Those that `engine` names, in its order; raises `AccessError` where the secret cannot be read."""
    targets = [each.strip() for each in settings.engine.split(",") if each.strip()]
    secret = _secret(settings.engine_secret_file) if settings.engine_secret_file else ""
    return tuple(EngineAddress(each, secret, settings.engine_ca_file) for each in targets)


def _secret(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise AccessError(f"engine_secret_file: {problem}") from problem
