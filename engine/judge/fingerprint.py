"""The fingerprint of the settings and program files that scores depend on: a calibration's recipe.

`engine.judge.point_store` adds what users teach. Points of another recipe are kept and do not count.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from engine.models.encoder import packaged_model
from engine.values.model_settings import ModelSettings
from engine.values.settings import (
    CatalogSettings,
    DialogueSettings,
    EncoderSettings,
    EngineSettings,
    Limits,
    SelectionSettings,
    UpstreamSettings,
)
from engine.values.shipped import ENGINE, root

SHAPING = (
    "app/pipeline.py",
    "ask",
    "findings",
    "guard",
    "judge/answer_features.py",
    "judge/features.py",
    "judge/judge.py",
    "judge/merge.py",
    "judge/model.py",
    "judge/weights.json",
    "judge/ranker.py",
    "judge/result_equivalence.py",
    "judge/run.py",
    "judge/select.py",
    "learn",
    "link",
    "llm/call.py",
    "llm/client.py",
    "llm/prompts",
    "llm/reading.py",
    "llm/redaction.py",
    "llm/replies.py",
    "models",
    "question",
    "route",
    "statement",
    "values",
    "write",
)
"""The parts of this package after whose change the same question may have other candidates or other scores."""

_READ = frozenset({".py", ".lark", ".txt", ".sql", ".json", ".npz"})
"""Suffixes of what the program reads of its own files."""


def pipeline_fingerprint(settings: EngineSettings) -> str:
    """SHA-256 (hex) of settings, `SHAPING` and encoder, read once. Raises `EncoderUnavailableError`."""
    encoder = settings.encoder.model or packaged_model()
    parts = [counting(settings), program(), weights(encoder)]
    return hashlib.sha256(msgspec.json.encode(parts, enc_hook=str)).hexdigest()


def counting(settings: EngineSettings) -> EngineSettings:
    """The settings with those at their default that change no candidate and no score. Any other counts."""
    limits, selection, upstream, model = Limits(), SelectionSettings(), UpstreamSettings(), ModelSettings()
    return replace(
        settings,
        socket=Path(),
        store_dsn="",
        vectors=None,
        encoder=EncoderSettings(),
        catalog=CatalogSettings(),
        model=replace(
            settings.model,
            base_url=None,
            api_key="",
            api_key_file="",
            api_key_env="",
            provider=model.provider,
            deployment="",
            api_version="",
            price=model.price,
            local=False,
            # An outage is no part of the recipe.
            fallback=(),
            circuit_failures=model.circuit_failures,
            circuit_pause=model.circuit_pause,
            circuit_patience=model.circuit_patience,
        ),
        limits=replace(
            settings.limits,
            # How many were looked for stands with each point.
            k=limits.k,
            k_max=limits.k_max,
            row_cap=limits.row_cap,
            reuse=limits.reuse,
            question_characters=limits.question_characters,
            concurrent=limits.concurrent,
            warm_databases=limits.warm_databases,
        ),
        dialogue=replace(settings.dialogue, on_doubt=DialogueSettings().on_doubt),
        # The promise is no part of the scores.
        selection=selection,
        upstream=replace(
            settings.upstream,
            connect_timeout=upstream.connect_timeout,
            pool_size=upstream.pool_size,
            privileges_ttl=upstream.privileges_ttl,
            overdue_per_asker=upstream.overdue_per_asker,
        ),
    )


@functools.cache
def program() -> str:
    """The digest of the running program's `SHAPING`."""
    return digest(ENGINE, root())


@functools.cache
def weights(folder: Path) -> str:
    """The digest of an encoder's folder."""
    return _digest((file, folder) for file in folder.rglob("*") if file.is_file())


def digest(*places: Path) -> str:
    """SHA-256 (hex) of what the program reads of its `SHAPING`, wherever it lies in `places`: names and contents."""
    within = [
        (file, place)
        for place in dict.fromkeys(places)
        for part in SHAPING
        for file in (place / part, *(place / part).rglob("*"))
    ]
    return _digest((file, place) for file, place in within if file.is_file() and file.suffix in _READ)


def _digest(files: Iterable[tuple[Path, Path]]) -> str:
    """Of files, each with the folder in which its name begins."""
    known = []
    for name, file in sorted((file.relative_to(place), file) for file, place in files):
        with file.open("rb") as content:
            known.append((str(name), hashlib.file_digest(content, "sha256").hexdigest()))
    return hashlib.sha256(msgspec.json.encode(known)).hexdigest()
