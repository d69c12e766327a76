"""Settings of the engine: its interface, its store, its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from engine.llm.settings import ModelSettings
from engine.models.encoder import EncoderSettings
from engine.upstream import UpstreamSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question may cost. Times in seconds.

    `k`: candidates shown where the asker sets none; `k_max`: where they do. `calls`: model calls for one
    question, repairs apart. `row_cap`: rows of a chosen statement that runs on another database than the
    asker's. `ttl`: how long a question can be chosen from. `warm_databases`: schemas that the model reads when
    the engine starts, so that the first question on them need not wait for that.
    """

    k: int = 3
    k_max: int = 10
    calls: int = 6
    timeout: float = 120.0
    row_cap: int = 10_000
    ttl: float = 86_400.0
    question_characters: int = 4_000
    concurrent: int = 4
    warm_databases: int = 8


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything the engine process needs. `socket`: the Unix socket of its interface."""

    socket: Path
    store_dsn: str
    limits: Limits = field(default_factory=Limits)
    model: ModelSettings = field(default_factory=ModelSettings)
    upstream: UpstreamSettings = field(default_factory=UpstreamSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
