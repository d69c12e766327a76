"""What a model server can do, as it was found out: which fields it takes, and what it makes of them.

Owns the value and what a refused field changes of it. Who finds out is `engine.llm.discovery`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from engine.values.model_settings import GrammarSupport

MORE_ROOM = 8
"""Times the tokens of an answer that a model gets which thinks before it answers."""

LEAST_MORE = 4_096
"""Tokens that it gets on top at least."""


class TokenField(StrEnum):
    """The field that limits an answer's tokens. `NONE`: the server has refused both."""

    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    MAX_TOKENS = "max_tokens"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The defaults are those of a server of which nothing is known yet.

    `temperature`, `logprobs`, `top_logprobs`, `system` (the role): it takes them. `continuation`: it goes on
    with the beginning of an answer. `schema`: an answer's JSON schema is kept to; `json_mode`: it can be told to answer
    in JSON. `reasoning`: it thinks before it answers, within the same limit of tokens. `context`: tokens of prompt and
    answer together, None where it does not tell. `refused`: fields, by name.
    """

    tokens: TokenField = TokenField.MAX_TOKENS
    temperature: bool = True
    logprobs: bool = False
    top_logprobs: bool = False
    grammar: GrammarSupport = GrammarSupport.NONE
    continuation: bool = False
    schema: bool = False
    json_mode: bool = False
    system: bool = True
    reasoning: bool = False
    context: int | None = None
    refused: frozenset[str] = frozenset()

    @property
    def grammars(self) -> bool:
        """Whether it writes under a grammar."""
        return self.grammar is not GrammarSupport.NONE

    @property
    def goes_on(self) -> bool:
        """Whether it does what servers beside our own do not.

        It goes on with an answer that has `begun`, under its grammar (else `begun` has to be empty), and tells of an
        answer that it has not written how likely it is (else `likelihood` may not be asked).
        """
        return self.grammar is GrammarSupport.EMBEDDED

    @classmethod
    def of_json(cls, text: str) -> ModelProfile:
        """Raises `msgspec.MsgspecError` where `text` is none of `to_json`."""
        return msgspec.json.decode(text, type=cls)

    def to_json(self) -> str:
        """For the store."""
        return msgspec.json.encode(self, order="deterministic").decode()

    def without(self, field: str, *, value: bool = False) -> ModelProfile:
        """The profile once `field` was refused, or only the `value` that it had."""
        changes: dict[str, Any] = {"refused": self.refused | {field}}
        thinks = {"reasoning": True, "temperature": False, "logprobs": False, "top_logprobs": False}
        match field:
            case TokenField.MAX_TOKENS if value:
                changes["tokens"] = TokenField.NONE
            case TokenField.MAX_TOKENS:
                # Services refuse it for models that think, and with it the fields of sampling: none is tried by itself.
                other = TokenField.MAX_COMPLETION_TOKENS
                changes |= {"tokens": TokenField.NONE if other in self.refused else other} | thinks
            case TokenField.MAX_COMPLETION_TOKENS:
                other = TokenField.MAX_TOKENS
                changes["tokens"] = TokenField.NONE if other in self.refused else other
            case "temperature":
                changes |= thinks
            case "logprobs":
                changes |= {"logprobs": False, "top_logprobs": False}
            case "response_format":
                changes |= {"schema": False, "json_mode": value and self.schema}
            case "structured_outputs" | "guided_grammar" | "grammar":
                changes["grammar"] = GrammarSupport.NONE
            case "continue_final_message" | "add_generation_prompt":
                changes["continuation"] = False
            case "top_logprobs" | "system":
                changes[field] = False
        return replace(self, **changes)

    def findings(self) -> tuple[str, ...]:
        """In words, one a finding."""
        json = "in JSON of a schema" if self.schema else "in JSON" if self.json_mode else "in free text alone"
        return (
            f"answers {json}",
            f"grammar: {self.grammar}",
            "goes on with the beginning of an answer" if self.continuation else "begins its answers itself",
            "tells how likely its words are" if self.logprobs else "does not tell how likely its words are",
            f"thinks before it answers: {'yes' if self.reasoning else 'no'}",
            f"context: {f'{self.context} tokens' if self.context else 'it does not tell'}",
            f"limit of tokens: {self.tokens}",
            f"refused: {', '.join(sorted(self.refused)) or 'nothing'}",
        )

    def summary(self) -> str:
        """All of them in one line; empty where nothing is known yet."""
        return "" if self == UNKNOWN else "; ".join(self.findings())

    def room(self, tokens: int) -> int:
        """The limit to ask for, that an answer of `tokens` has its place."""
        return max(MORE_ROOM * tokens, tokens + LEAST_MORE) if self.reasoning else tokens


class Profiles(Protocol):
    """Profiles that outlive the process, by where a server is and the model's name. They fail in silence."""

    async def find(self, place: str, model: str) -> ModelProfile | None:
        """None where none is kept."""

    async def keep(self, place: str, model: str, profile: ModelProfile) -> None:
        """Takes the place of the one before."""


class NoProfiles:
    """Keeps none."""

    async def find(self, _place: str, _model: str) -> ModelProfile | None:
        """Nothing."""
        return None

    async def keep(self, _place: str, _model: str, _profile: ModelProfile) -> None:
        """Nothing."""


UNKNOWN = ModelProfile()
"""Before anything was found out."""

EMBEDDED = ModelProfile(logprobs=True, top_logprobs=True, grammar=GrammarSupport.EMBEDDED, continuation=True)
"""Our own server, of which nothing has to be found out."""
