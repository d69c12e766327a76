"""`pgparley serve [PART]`: which processes it starts, and whether what they need is installed."""

from __future__ import annotations

import asyncio
import datetime as dt
from importlib.util import find_spec
from pathlib import Path

import structlog

from page.settings import PageConfigError, address, tls_context
from pgparley import processes
from pgparley.check.secret_files import HINT, readable_by_others
from pgparley.config import Config, ConfigError, chosen
from pgparley.processes import PartKind
from pgparley.serve import Part, PartFailedError, parts, serve, workers
from proxy.net import access
from schema_catalog.dsn import DSNError

log = structlog.stdlib.get_logger("serve")

_LIBRARIES = {PartKind.ENGINE: ("engine", "torch"), PartKind.MODEL: ("local", "pgparley_local")}
"""Part → the extra that brings its libraries, and one of them that nothing else brings."""


class CannotStartError(Exception):
    """A part cannot start. `hint`: what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def serve_parts(config: Config, file: Path | None, part: PartKind | None) -> None:
    """Runs `part`, or everything, until told to end; raises `CannotStartError`."""
    _warn(config, file)
    everything = [] if part in (PartKind.GATEWAY, PartKind.PAGE) else _everything(config)
    needed = {each.kind for each in everything} if part is None else {part}
    if PartKind.PAGE in needed:
        _check_page(config)
    for kind, (extra, library) in _LIBRARIES.items():
        if kind in needed and find_spec(library) is None:
            hint = f"Run: pip install 'pgparley[{extra}]'. The gateway alone is: pgparley serve gateway"
            raise CannotStartError(f"the {kind}'s libraries are not installed", hint)
    match part:
        case None:
            _supervise(config, file, everything)
        case PartKind.GATEWAY:
            _supervise(config, file, workers(config))
        case PartKind.ENGINE:
            processes.engine(config)
        case PartKind.MODEL:
            try:
                processes.model(config)
            except OSError as problem:
                raise CannotStartError(str(problem), "Run: pgparley check model") from problem
        case PartKind.PAGE:
            _serve_page(config)


def _warn(config: Config, file: Path | None) -> None:
    for each in readable_by_others(config, chosen(file)):
        log.warning("secrets_readable_by_others", file=each, hint=HINT)


def _supervise(config: Config, file: Path | None, found: list[Part]) -> None:
    _check_gateway(config)
    try:
        asyncio.run(serve(config, file, found))
    except OSError as problem:
        hint = "Correct the addresses or runtime_dir in [gateway], or port in [embedded_model]."
        raise CannotStartError(str(problem), hint) from problem
    except PartFailedError as problem:
        hint = "The reason is in the log above. Run: pgparley check"
        raise CannotStartError(str(problem), hint) from problem


def _everything(config: Config) -> list[Part]:
    """Raises `CannotStartError`, for the reason that `_check_page` has."""
    try:
        config.model_with_keys()
        return parts(config)
    except ConfigError as problem:
        raise CannotStartError(str(problem), "Correct api_key_file or api_key_env in [model].") from problem


def _check_gateway(config: Config) -> None:
    """Raises `CannotStartError`: the supervisor would listen, and start worker after worker while clients wait."""
    try:
        expires = access.load(config.gateway).expires
        access.engine_addresses(config.gateway)
        access.audit_key(config.audit)
    except access.AccessError as problem:
        hint = "Correct the settings of logins and TLS in [gateway], key in [audit], or the files that they name."
        raise CannotStartError(str(problem), hint) from problem
    if expires is not None and expires < dt.datetime.now(dt.UTC):
        hint = "Clients that verify it refuse it. Renew it, and run: RELOAD"
        log.warning(
            "certificate_expired", file=config.gateway.client_tls_cert_file, expired=str(expires), hint=hint
        )


def _check_page(config: Config) -> None:
    """Raises `CannotStartError`: where everything starts, the page would be started again and again."""
    try:
        address(config.page)
        tls_context(config.page)
    except PageConfigError as problem:
        raise CannotStartError(str(problem), problem.hint) from problem


def _serve_page(config: Config) -> None:
    try:
        processes.page(config)
    except (OSError, DSNError) as problem:
        raise CannotStartError(str(problem), "Correct listen in [page], or store in [engine].") from problem
