"""What each service takes, ignores and refuses, as its reference says and its users report. Data alone.

The error's JSON is `shapes`'. A field that stands nowhere in a description is unknown to the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, Flag, auto
from typing import Any

from tests.support.providers import shapes
from tests.support.providers.shapes import Style


class Auth(Enum):
    """Where the key is sent."""

    BEARER = "Authorization"
    API_KEY = "api-key"
    NONE = "none"


class Thinking(Enum):
    """What becomes of a model's reasoning: not told, a field of the message's, or a part of the text."""

    NONE = ""
    HIDDEN = "hidden"
    REASONING_CONTENT = "reasoning_content"
    REASONING = "reasoning"
    TAGGED = "<think>"


BASE = frozenset({"messages", "model", "temperature", "top_p", "stop", "stream", "tools", "tool_choice"})
PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
LOGPROBS = frozenset({"logprobs", "top_logprobs"})
TOKENS = frozenset({"max_tokens", "max_completion_tokens"})
FORMATS = frozenset({"text", "json_object", "json_schema"})
ROLES = frozenset({"system", "user", "assistant", "tool"})
ACCOUNT = frozenset({"user", "metadata", "store", "service_tier"})


class Quirk(Flag):
    """What is so or not.

    Unknown fields are refused, not ignored; JSON mode wants the word "json" in a message; a strict schema has to be
    closed; the last message has to be the user's; JSON that was asked for in words alone comes in a code fence.
    """

    NONE = 0
    STRICT = auto()
    JSON_WORD = auto()
    CLOSED_SCHEMAS = auto()
    USER_LAST = auto()
    FENCES = auto()


@dataclass(frozen=True, slots=True)
class Provider:
    """A service: `known` fields have an effect, `ignored` ones none, `own` are its extensions of the protocol.

    `unsupported` fields are refused though OpenAI's protocol has them, with a status and a text, or None for the
    style's; `ones` may be 1 alone, `most` are maxima. `thinks` are tokens of reasoning, counted with the answer's;
    with a room below `least` a request is refused. `grammar` is the field that takes one; `listed` is what the list
    of models calls `context`, in tokens.
    """

    style: Style
    model: str
    known: frozenset[str]
    path: str = "/v1"
    auth: Auth = Auth.BEARER
    quirks: Quirk = Quirk.NONE
    own: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    unsupported: Mapping[str, tuple[int, str] | None] = field(default_factory=dict)
    ones: frozenset[str] = frozenset()
    most: Mapping[str, float] = field(default_factory=lambda: {"temperature": 2, "top_logprobs": 20})
    formats: frozenset[str] = FORMATS
    format_text: str = "This response_format type is unavailable now"
    roles: frozenset[str] = ROLES
    thinking: Thinking = Thinking.NONE
    thinks: int = 0
    least: int = 1
    grammar: str | None = None
    context: int = 131_072
    listed: str | None = None
    owner: str = "system"
    extras: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)


_CACHED = {"prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}}

_OPENAI = Provider(
    style=shapes.OPENAI,
    model="gpt-4o-mini",
    known=BASE | TOKENS | PENALTIES | LOGPROBS | ACCOUNT | {"seed", "n", "logit_bias", "response_format"},
    quirks=Quirk.STRICT | Quirk.JSON_WORD | Quirk.CLOSED_SCHEMAS,
    roles=ROLES | {"developer"},
    context=128_000,
    extras={"system_fingerprint": "fp_1", "service_tier": "default"},
    usage=_CACHED,
)

_NO_LOGPROBS = (403, "You are not allowed to request logprobs from this model")
_OTHER_LIMIT = (400, "Unsupported parameter: 'max_tokens' is none here. Use 'max_completion_tokens' instead.")

_REASONING = replace(
    _OPENAI,
    model="o4-mini",
    known=(_OPENAI.known - LOGPROBS - PENALTIES - {"max_tokens", "logit_bias"}) | {"reasoning_effort"},
    unsupported=dict.fromkeys(PENALTIES | {"logit_bias", "top_logprobs"})
    | {"logprobs": _NO_LOGPROBS, "max_tokens": _OTHER_LIMIT},
    ones=frozenset({"temperature", "top_p", "n"}),
    thinking=Thinking.HIDDEN,
    thinks=256,
    least=16,
    context=200_000,
)


def _on_azure(provider: Provider) -> Provider:
    return replace(provider, path="/openai", auth=Auth.API_KEY, style=shapes.AZURE)


_OLLAMA = Provider(
    style=shapes.OLLAMA,
    model="qwen3:8b",
    known=BASE | PENALTIES | LOGPROBS | {"seed", "max_tokens", "response_format", "reasoning_effort"},
    auth=Auth.NONE,
    thinking=Thinking.REASONING,
    thinks=64,
    extras={"system_fingerprint": "fp_ollama"},
)

_DEEPSEEK = Provider(
    style=shapes.DEEPSEEK,
    model="deepseek-chat",
    known=BASE | PENALTIES | LOGPROBS | {"max_tokens", "response_format"},
    formats=frozenset({"text", "json_object"}),
    quirks=Quirk.JSON_WORD,
    usage={"prompt_cache_hit_tokens": 0, "prompt_cache_miss_tokens": 0},
)

_VLLM = Provider(
    style=shapes.VLLM,
    model="Qwen/Qwen2.5-Coder-7B-Instruct",
    known=BASE | TOKENS | PENALTIES | LOGPROBS | {"seed", "n", "logit_bias", "response_format", "user"},
    own=frozenset(
        {"structured_outputs", "continue_final_message", "add_generation_prompt", "top_k", "min_p"}
    ),
    grammar="structured_outputs",
    context=32_768,
    listed="max_model_len",
    owner="vllm",
)

PROVIDERS: Mapping[str, Provider] = {
    "openai": _OPENAI,
    "openai-reasoning": _REASONING,
    "azure": _on_azure(_OPENAI),
    "azure-reasoning": _on_azure(_REASONING),
    "gemini": Provider(
        style=shapes.GEMINI,
        model="gemini-2.5-flash",
        path="/v1beta/openai",
        known=BASE | TOKENS | {"n", "response_format", "reasoning_effort"},
        quirks=Quirk.STRICT | Quirk.FENCES,
        thinking=Thinking.HIDDEN,
        thinks=128,
        context=1_048_576,
    ),
    "anthropic": Provider(
        style=shapes.ANTHROPIC,
        model="claude-opus-4-6",
        known=BASE | TOKENS | {"n", "parallel_tool_calls"},
        ignored=LOGPROBS
        | PENALTIES
        | ACCOUNT
        | {"response_format", "seed", "logit_bias", "reasoning_effort"},
        ones=frozenset({"n"}),
        most={},
        roles=ROLES | {"developer"},
        quirks=Quirk.USER_LAST | Quirk.FENCES,
        context=200_000,
    ),
    "groq": Provider(
        style=shapes.GROQ,
        model="llama-3.3-70b-versatile",
        path="/openai/v1",
        known=BASE | TOKENS | PENALTIES | ACCOUNT | {"seed", "n", "response_format"},
        quirks=Quirk.STRICT | Quirk.JSON_WORD,
        unsupported=dict.fromkeys(LOGPROBS | {"logit_bias"}),
        ones=frozenset({"n"}),
        formats=frozenset({"text", "json_object"}),
        format_text="This model does not support response format `{type}`.",
        listed="context_window",
        extras={"x_groq": {"id": "req_1"}, "system_fingerprint": "fp_1"},
        usage={"queue_time": 0.1, "prompt_time": 0.1, "completion_time": 0.1, "total_time": 0.2},
    ),
    "mistral": Provider(
        style=shapes.MISTRAL,
        model="mistral-small-latest",
        known=BASE | PENALTIES | {"max_tokens", "n", "prediction", "parallel_tool_calls", "response_format"},
        own=frozenset({"random_seed", "safe_prompt", "prompt_mode"}),
        quirks=Quirk.STRICT | Quirk.USER_LAST | Quirk.FENCES,
        most={"temperature": 1.5},
        listed="max_context_length",
    ),
    "deepseek": _DEEPSEEK,
    "deepseek-reasoner": replace(
        _DEEPSEEK,
        model="deepseek-reasoner",
        known=_DEEPSEEK.known - LOGPROBS - PENALTIES - {"temperature", "top_p"},
        ignored=PENALTIES | {"temperature", "top_p"},
        unsupported=dict.fromkeys(LOGPROBS),
        thinking=Thinking.REASONING_CONTENT,
        thinks=128,
    ),
    "ollama": _OLLAMA,
    "ollama-older": replace(
        _OLLAMA, model="deepseek-r1:8b", known=_OLLAMA.known - LOGPROBS, thinking=Thinking.TAGGED, thinks=0
    ),
    "lm-studio": Provider(
        style=shapes.LM_STUDIO,
        model="qwen2.5-coder-7b-instruct",
        known=BASE | PENALTIES | {"max_tokens", "logit_bias", "seed", "response_format"},
        own=frozenset({"top_k", "repeat_penalty"}),
        auth=Auth.NONE,
        formats=FORMATS - {"json_object"},
        format_text="'response_format.type' must be 'json_schema' or 'text'",
        context=4_096,
        extras={"stats": {}},
    ),
    "openrouter": Provider(
        style=shapes.OPENROUTER,
        model="qwen/qwen3-coder",
        path="/api/v1",
        known=BASE | TOKENS | PENALTIES | {"seed", "response_format"},
        own=frozenset({"provider", "models", "transforms", "reasoning", "usage", "top_k"}),
        ignored=LOGPROBS | {"logit_bias"},
        roles=ROLES | {"developer"},
        thinking=Thinking.REASONING,
        thinks=64,
        quirks=Quirk.FENCES,
        listed="context_length",
        extras={"provider": "Chutes"},
        usage=_CACHED | {"cost": 0.0001},
    ),
    "vllm": _VLLM,
    "vllm-older": replace(
        _VLLM, own=(_VLLM.own - {"structured_outputs"}) | {"guided_grammar"}, grammar="guided_grammar"
    ),
    "vllm-gemma": replace(_VLLM, model="google/gemma-2-9b-it", roles=ROLES - {"system"}),
}
