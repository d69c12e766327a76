"""Changing settings while clients are served: RELOAD and SET on the console, and SIGHUP."""

from __future__ import annotations

from collections.abc import Callable

from proxy.net.access import AccessError
from proxy.net.worker.context import GatewayContext
from proxy.settings import GatewaySettings, assigned, changes


def reload(context: GatewayContext, reread: Callable[[], GatewaySettings] | None) -> str | None:
    """Reads the settings and their files anew. Returns why that failed; everything is then as before.

    `reread` gives the settings, and raises ValueError or OSError where they are bad; None: they stay, and their files
    are read.
    """
    try:
        settings = context.settings if reread is None else reread()
        fixed = changes(context.settings, settings)
        context.adopt(settings)
    except (ValueError, OSError, AccessError) as problem:
        context.log.warning("reload_failed", error=str(problem))
        return f"RELOAD failed: {problem}"
    for key in fixed:
        context.log.warning("setting_needs_restart", key=key)
    context.log.info("reloaded")
    return None


def assign(context: GatewayContext, key: str, value: str) -> str | None:
    """Changes one setting until the next `reload`. Returns why that failed."""
    try:
        context.adopt(assigned(context.settings, key, value))
    except (ValueError, OSError, AccessError) as problem:
        return str(problem)
    return None
