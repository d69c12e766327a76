"""Settings of the language model, embedded or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


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


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """An OpenAI-compatible server. `base_url` None: pgparley starts the embedded one on loopback."""

    base_url: str | None = None
    api_key: str = "none"
    model: str = "qwen2.5-coder-1.5b-instruct-q4_k_m"
    grammar: GrammarSupport = GrammarSupport.STRUCTURED_OUTPUTS


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
