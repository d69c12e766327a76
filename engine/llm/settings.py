"""Settings of the language model, embedded or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

NO_KEY = "none"
"""The key of a server that asks for none."""


class GrammarSupport(StrEnum):
    """How the model server takes a grammar, which is Lark as llguidance reads it.

    `EMBEDDED`: the embedded server, which also goes on under a grammar with what an answer has begun with;
    `STRUCTURED_OUTPUTS`: vLLM; `GUIDED_GRAMMAR`: vLLM before 0.12; `LLGUIDANCE`: a `llama-server` that was built with
    llguidance.
    """

    EMBEDDED = "embedded"
    STRUCTURED_OUTPUTS = "structured_outputs"
    GUIDED_GRAMMAR = "guided_grammar"
    LLGUIDANCE = "llguidance"
    NONE = "none"


class Effort(StrEnum):
    """How many calls a question may cost a model that is asked for readings."""

    FAST = "fast"
    NORMAL = "normal"
    THOROUGH = "thorough"

    @property
    def calls(self) -> int:
        """At most."""
        return {Effort.FAST: 1, Effort.NORMAL: 2, Effort.THOROUGH: 4}[self]

    @property
    def doubts(self) -> bool:
        """Whether another reading is asked for where the linker sees one that the model has not given."""
        return self is Effort.THOROUGH


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """An OpenAI-compatible server. `base_url` None: pgparley starts the embedded one on loopback.

    `api_key`: shown to the server, and what the embedded one wants to be shown; with `NO_KEY` that wants none.
    `circuit_failures`: in a row, after which no call is made for `circuit_pause` seconds, and then one to see; 0: calls
    are always made. `circuit_patience`: seconds without an answer that count as a failure.
    """

    base_url: str | None = None
    api_key: str = field(default=NO_KEY, repr=False)
    model: str = "qwen2.5-coder-1.5b-instruct-q4_k_m"
    grammar: GrammarSupport = GrammarSupport.STRUCTURED_OUTPUTS
    circuit_failures: int = 5
    circuit_pause: float = 15.0
    circuit_patience: float = 30.0

    def __post_init__(self) -> None:
        if self.circuit_failures < 0 or min(self.circuit_pause, self.circuit_patience) < 0:
            raise ValueError("circuit_failures, circuit_pause and circuit_patience are 0 or more")

    @property
    def address(self) -> str:
        """Host and port of `base_url` alone: a URL may hold a password."""
        where = urlsplit(self.base_url or "")
        return f"{where.hostname or ''}:{where.port or ''}"


@dataclass(frozen=True, slots=True)
class EmbeddedModelSettings:
    """The embedded server. `context`: tokens in the key-value cache, shared by all sequences.

    `sequences`: prompts and answers kept in the cache at once. `threads` 0: as many as there are processors.
    `prefixes`: a directory that keeps computed prompts between starts (about 28 KB a token); None keeps none.
    """

    path: Path
    host: str = "127.0.0.1"
    port: int = 0
    threads: int = 0
    context: int = 16_384
    sequences: int = 16
    prefixes: Path | None = None
