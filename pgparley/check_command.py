"""`pgparley check [PART]`: which checks a part has, what they found, and the exit status: 1 where one fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from pgparley.check.finding import Finding, Outcome, Report, ok, problem, said
from pgparley.check.gateway import check_gateway
from pgparley.check.language_model import check_services
from pgparley.check.parts import check_embedded, check_engine, check_key, check_model, check_page
from pgparley.check.secret_files import check_secret_files
from pgparley.check.store import check_store
from pgparley.config import Config, ConfigError
from pgparley.processes import PartKind
from pgparley.terminal import print_json, print_lines


async def check(
    load: Callable[[], Config], file: Path | None, part: PartKind | None, *, as_json: bool
) -> int:
    """Checks what `part` needs, or all of what `load` reads from `file`; prints findings, returns the exit status."""
    try:
        config = load()
        if part in (None, PartKind.ENGINE, PartKind.MODEL):
            config.model_with_keys()
    except ConfigError as error:
        findings = [problem("configuration", said(error), "deploy/pgparley.example.toml has every key.")]
    else:
        findings = [ok("configuration", "understood"), *check_secret_files(config, file)]
        findings += [one async for one in _findings(config, part)]
    working = all(finding.outcome is not Outcome.PROBLEM for finding in findings)
    if as_json:
        print_json(Report(working, findings), indent=True)
    else:
        for finding in findings:
            print_lines(f"{finding.outcome:<8}{finding.check}: {finding.found}", *finding.action.splitlines())
    return 0 if working else 1


async def _findings(config: Config, part: PartKind | None) -> AsyncIterator[Finding]:
    if part in (None, PartKind.GATEWAY):
        async for finding in check_gateway(config):
            yield finding
    if part in (None, PartKind.ENGINE):
        for finding in check_engine(config):
            yield finding
    if part is PartKind.PAGE or (part is None and config.page.listen):
        yield check_page(config)
    if part in (None, PartKind.ENGINE, PartKind.PAGE):
        async for finding in check_store(config):
            yield finding
    async for finding in _of_model(config, part):
        yield finding


async def _of_model(config: Config, part: PartKind | None) -> AsyncIterator[Finding]:
    if part in (None, PartKind.ENGINE):
        async for finding in check_model(config):
            yield finding
    if config.model.base_url is not None and part is not PartKind.GATEWAY and part is not PartKind.PAGE:
        async for finding in check_services(config, anew=part is PartKind.MODEL):
            yield finding
    elif part is PartKind.MODEL:
        for finding in (*check_embedded(config), check_key(config.model)):
            yield finding
