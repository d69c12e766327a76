"""Check of the files with secrets: others on this machine can read them. `pgparley serve` says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from engine.values.model_settings import NO_KEY
from pgparley.check.finding import Finding, warning
from pgparley.config import Config
from proxy.net import access

HINT = "Run: chmod 600 on it; or let root own it, and a group of pgparley's read it (640)."

_PASSWORD = re.compile(r"password\s*=|://[^/@]*:[^/@]*@")


def check_secret_files(config: Config, file: Path | None) -> Iterator[Finding]:
    """A warning for each; `file` is the configuration's."""
    for each in (*access.readable_by_others(config.gateway), *readable_by_others(config, file)):
        yield warning("secrets", f"{each} can be read by others", HINT)


def readable_by_others(config: Config, file: Path | None) -> list[str]:
    """Those that others can read, without the gateway's, of which its workers say it."""
    models = (config.model, *config.model.fallback)
    addresses = (config.engine.store, *(each.base_url or "" for each in models))
    secret = any(each.api_key != NO_KEY for each in models) or any(map(_PASSWORD.search, addresses))
    own = (config.engine.secret_file, config.engine.tls_key_file, config.page.tls_key_file, config.audit.key)
    keys = (each.api_key_file for each in models)
    return access.exposed((str(file) if file and secret else "", *own, *keys))
