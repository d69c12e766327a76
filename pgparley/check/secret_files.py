"""Check of the files with secrets: others on this machine can read them. `pgparley serve` says the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from engine.llm.settings import NO_KEY
from pgparley.check.finding import Finding, warning
from pgparley.config import Config, ConfigError, load
from proxy.net import access
from schema_catalog.dsn import DSNError, as_uri, has_password

HINT = "Run: chmod 600 on it; or let root own it, and a group of pgparley's read it (640)."


def check_secret_files(config: Config, file: Path | None) -> Iterator[Finding]:
    """A warning for each; `file` is the configuration's."""
    for each in (*access.readable_by_others(config.gateway), *readable_by_others(config, file)):
        yield warning("secrets", f"{each} can be read by others", HINT)


def readable_by_others(config: Config, file: Path | None) -> list[str]:
    """Those that others can read, without the gateway's, of which its workers say it."""
    own = (config.engine.secret_file, config.engine.tls_key_file, config.page.tls_key_file)
    return access.exposed((str(file) if file and _holds_secret(file) else "", *own))


def _holds_secret(file: Path) -> bool:
    """Whether a configuration has a password or a key in it; one that is not understood may."""
    try:
        config = load(file, {})
        password = has_password(as_uri(config.engine.store))
    except (ConfigError, DSNError):
        return True
    addresses = (config.model.base_url, config.encoder.base_url)
    return (
        password or config.model.api_key != NO_KEY or any(urlsplit(each or "").password for each in addresses)
    )
