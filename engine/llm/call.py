"""One call of a model server as the body of its request, made of the fields that the server takes and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.values.model_profile import ModelProfile, TokenField
from engine.values.model_settings import GrammarSupport
from engine.values.ports import Prompt

TOP_LOGPROBS = 20
"""Tokens whose log-probabilities are asked for: the protocol's maximum."""

LARK = "%llguidance {}\n"
"""Tells `llama-server` that a grammar is llguidance's Lark and not its own GBNF."""

JSON_MODE = {"type": "json_object"}


@dataclass(frozen=True, slots=True)
class Call:
    """See `engine.values.ports.LanguageModel.complete`. `own`: fields that our own server alone knows.

    `room`: times the usual limit of tokens.
    """

    prompt: Prompt
    max_tokens: int
    others: int = 0
    grammar: str | None = None
    schema: Mapping[str, object] | None = None
    own: Mapping[str, object] = field(default_factory=dict)
    room: int = 1

    def body(self, profile: ModelProfile) -> dict[str, Any]:
        """All but the model's name."""
        found: dict[str, Any] = {"messages": self._messages(profile)}
        if self.prompt.prefix and profile.continuation:
            found |= {"continue_final_message": True, "add_generation_prompt": False}
        if profile.tokens is not TokenField.NONE:
            found[profile.tokens] = self.room * profile.room(self.max_tokens)
        if profile.temperature:
            found["temperature"] = 0.0
        if profile.logprobs:
            found["logprobs"] = True
            if self.others and profile.top_logprobs:
                found["top_logprobs"] = min(self.others, TOP_LOGPROBS)
        if self.grammar is not None:
            found |= _constraint(profile.grammar, self.grammar)
        elif self.schema is not None:
            found |= _format(profile, self.schema)
        if profile.grammar is GrammarSupport.EMBEDDED:
            found |= self.own
        return found

    def _messages(self, profile: ModelProfile) -> list[dict[str, str]]:
        asked = self.prompt
        if profile.system:
            found = [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}]
        else:
            found = [{"role": "user", "content": f"{asked.system}\n\n{asked.user}"}]
        if asked.prefix and profile.continuation:
            found.append({"role": "assistant", "content": asked.prefix})
        return found


def _constraint(support: GrammarSupport, grammar: str) -> dict[str, Any]:
    """The fields that make the answer match `grammar`."""
    match support:
        case GrammarSupport.EMBEDDED | GrammarSupport.STRUCTURED_OUTPUTS:
            return {"structured_outputs": {"grammar": grammar}}
        case GrammarSupport.GUIDED_GRAMMAR:
            return {"guided_grammar": grammar}
        case GrammarSupport.LLGUIDANCE:
            return {"grammar": LARK + grammar}
        case GrammarSupport.NONE:
            return {}


def _format(profile: ModelProfile, schema: Mapping[str, object]) -> dict[str, Any]:
    """The field that makes the answer JSON, of `schema` where the server can."""
    if profile.schema:
        asked = {"name": "answer", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": asked}}
    return {"response_format": JSON_MODE} if profile.json_mode else {}
