"""Settings of the language model, embedded or elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

NO_KEY = "none"
"""The key of a server that asks for none."""

OWNER = "pgparley"
"""Who owns a model that our own server lists."""


INSTRUCTED = 7.0
"""Thousand million parameters, of which on a model is taken to give all readings of a question when it is told to."""

_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z0-9])")


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


class Provider(StrEnum):
    """How the service is addressed. `AZURE`: by deployment and version, with the key in a header of its own."""

    OPENAI = "openai"
    AZURE = "azure"


class Redacted(StrEnum):
    """Kinds of texts of a question that a service of somebody else's is not told. `QUOTED`: what stands in quotes."""

    EMAIL = "email"
    PHONE = "phone"
    IBAN = "iban"
    CARD = "card"
    QUOTED = "quoted"


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
    def thorough(self) -> bool:
        """Whether the model is asked once more for what its first readings do not do."""
        return self is Effort.THOROUGH


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens, in any currency. `cached` None: those cost what others of the prompt do."""

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def of(self, prefilled: int, cached: int, generated: int) -> float:
        """Of one call."""
        again = self.prompt if self.cached is None else self.cached
        return (prefilled * self.prompt + cached * again + generated * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """An OpenAI-compatible server. `base_url` None: pgparley starts the embedded one on loopback.

    `api_key`: shown to the server, and what the embedded one wants to be shown; with `NO_KEY` that wants none. A file
    that holds it (`api_key_file`) goes before, and a variable of the environment (`api_key_env`). `grammar` None: found
    out. `deployment`: Azure's name for the model, where it differs; `api_version`: of Azure's interface. `local`: it is
    the operator's own, and is told all that the embedded one is.
    """

    base_url: str | None = None
    api_key: str = field(default=NO_KEY, repr=False)
    api_key_file: str = ""
    api_key_env: str = ""
    model: str = "qwen2.5-coder-1.5b-instruct-q4_k_m"
    provider: Provider = Provider.OPENAI
    deployment: str = ""
    api_version: str = "2024-10-21"
    grammar: GrammarSupport | None = None
    price: Price = Price()
    local: bool = False

    @property
    def own(self) -> bool:
        """Whether it may be told everything: the embedded one, or one that is said to be local."""
        return self.local or self.grammar is GrammarSupport.EMBEDDED

    @property
    def address(self) -> str:
        """Host and port of `base_url` alone: a URL may hold a password."""
        where = urlsplit(self.base_url or "")
        return f"{where.hostname or ''}:{where.port or ''}"

    @property
    def called(self) -> str:
        """The name by which requests call the model."""
        return self.deployment or self.model

    @property
    def small(self) -> bool:
        """Whether the model's name tells of fewer than `INSTRUCTED` thousand million parameters."""
        sizes = map(float, _SIZE.findall(self.called.lower()))
        return any(size < INSTRUCTED for size in sizes)

    @property
    def place(self) -> str:
        """What tells this server from others: its address and path, and the grammar that it was said to take."""
        path = urlsplit(self.base_url or "").path.rstrip("/")
        return f"{self.address}{path}{f' {self.grammar}' if self.grammar else ''}"

    @property
    def key_place(self) -> str:
        """Where the key is configured, in words."""
        if self.api_key_file:
            return f"in the file {self.api_key_file}, which api_key_file in [model] names"
        if self.api_key_env:
            return f"in the variable {self.api_key_env}, which api_key_env in [model] names"
        return "as api_key in [model]"


@dataclass(frozen=True, slots=True)
class ModelSettings(ServiceSettings):
    """The service that is asked, and those that stand in for it.

    `fallback`: the next is asked where one is away. `circuit_failures`: in a row, after which no call is made for
    `circuit_pause` seconds, and then one to see; 0: calls are always made. `circuit_patience`: seconds without an
    answer that count as a failure. `redact`: kinds of texts that services which are not local get marks for.
    """

    fallback: tuple[ServiceSettings, ...] = ()
    redact: tuple[Redacted, ...] = (Redacted.EMAIL, Redacted.PHONE, Redacted.IBAN, Redacted.CARD)
    effort: Effort = Effort.NORMAL
    circuit_failures: int = 5
    circuit_pause: float = 15.0
    circuit_patience: float = 30.0

    def __post_init__(self) -> None:
        if self.circuit_failures < 0 or min(self.circuit_pause, self.circuit_patience) < 0:
            raise ValueError("circuit_failures, circuit_pause and circuit_patience are 0 or more")
        if any(each.base_url is None for each in self.fallback):
            raise ValueError("every fallback needs a base_url")

    @property
    def services(self) -> tuple[ModelSettings, ...]:
        """Each service by itself, in the order in which they are asked."""
        names = [each.name for each in fields(ServiceSettings)]
        return (
            replace(self, fallback=()),
            *(
                replace(self, fallback=(), **{name: getattr(other, name) for name in names})
                for other in self.fallback
            ),
        )


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
