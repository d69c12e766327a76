"""The processes that `pgparley serve` starts: `python -P -E -m pgparley.processes gateway|engine|model|page`.

Each imports what it runs and nothing else: a gateway worker pays for no engine library.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pgparley.config import Config, ConfigError, load
from pgparley.logs import configure
from schema_catalog.dsn import DSNError

if TYPE_CHECKING:
    from proxy.settings import GatewaySettings

_PR_SET_PDEATHSIG = 1


class PartKind(StrEnum):
    """What a process is; `pgparley serve` runs all of them, or one."""

    GATEWAY = "gateway"
    ENGINE = "engine"
    MODEL = "model"
    PAGE = "page"


def gateway(config: Config, options: argparse.Namespace) -> None:
    """Runs one gateway worker."""
    from proxy.net.worker.worker import Worker  # noqa: PLC0415
    from proxy.server import run_worker  # noqa: PLC0415

    def reread() -> GatewaySettings:
        try:
            return load(options.config).gateway
        except ConfigError as problem:
            raise ValueError(str(problem)) from problem

    audit, days = config.audit, config.retention.audit
    run_worker(
        Worker(config.gateway, options.sockets, options.supervisor, reread, audit=audit, audit_days=days)
    )


def engine(config: Config) -> None:
    """Runs the engine."""
    from engine.app.main import run  # noqa: PLC0415

    run(config.engine_settings())


def model(config: Config, *, held: bool = False) -> None:
    """Runs the embedded model server. `held`: a supervisor holds its port for it."""
    from pgparley.plugins import embedded_model  # noqa: PLC0415

    key = config.model_with_keys().api_key
    embedded_model().serve(config.embedded_model, config.model.model, key, reuse_port=held)


def page(config: Config) -> None:
    """Runs the DBA's page; raises `PageConfigError`, and `OSError` where its address cannot be bound."""
    from page.server import run  # noqa: PLC0415
    from pgparley.page_engine import PageEngine  # noqa: PLC0415
    from schema_catalog.dsn import as_uri  # noqa: PLC0415

    settings = replace(config.page, gateway=as_uri(config.page.gateway or _own_gateway(config)))
    run(as_uri(config.engine.store), settings, PageEngine(config))


def _own_gateway(config: Config) -> str:
    """The gateway of this configuration, as it is reached on this machine."""
    listens = {each.strip() for each in config.gateway.listen_addr.split(",")}
    host = "127.0.0.1" if listens & {"*", "0.0.0.0", "127.0.0.1", "localhost"} else "localhost"  # noqa: S104 - read
    return f"postgresql://{host}:{config.gateway.listen_port}"


def main(arguments: list[str]) -> None:
    """Runs the process that the arguments describe; raises `ConfigError`."""
    options = _parser().parse_args(arguments)
    _end_with_parent()
    config = load(options.config)
    configure(config.gateway.log_level)
    match PartKind(options.kind):
        case PartKind.GATEWAY:
            gateway(config, options)
        case PartKind.ENGINE:
            engine(config)
        case PartKind.MODEL:
            try:
                model(config, held=options.supervisor is not None)
            except OSError as problem:
                raise ConfigError(f"the embedded model: {problem}") from problem
        case PartKind.PAGE:
            page(config)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pgparley.processes")
    parser.add_argument("kind", choices=[*PartKind])
    parser.add_argument("config", type=Path, nargs="?")
    parser.add_argument(
        "--sockets", type=lambda text: tuple(int(word) for word in text.split(",")), default=()
    )
    parser.add_argument("--supervisor", type=int)
    return parser


def _end_with_parent() -> None:
    """A child whose supervisor was killed gets SIGTERM (Linux; elsewhere it stays until it is ended by hand)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ConfigError, DSNError) as unusable:
        sys.stderr.write(f"pgparley: {unusable}\n")
        sys.exit(os.EX_CONFIG)
