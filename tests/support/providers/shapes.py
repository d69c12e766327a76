"""How each service words and wraps its errors. Which request is refused is `checks`' and `descriptions`'."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Kind = Enum(
    "Kind", "UNKNOWN UNSUPPORTED VALUE TYPE MISSING ROLE ORDER KEY MODEL PATH CONTEXT ROOM FILTER RATE FAILED"
)
"""What is wrong with a request."""

Naming = Enum("Naming", "FIRST COMMAS LINES")
"""How several refused fields are told."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal; `fields` are those of the body that it is about, `told` what its text speaks of beside them."""

    kind: Kind
    fields: tuple[str, ...] = ()
    told: Mapping[str, object] = field(default_factory=dict)
    status: int | None = None
    text: str | None = None
    """The message where the description has one of its own."""


@dataclass(frozen=True, slots=True)
class Style:
    """A service's way to refuse: the JSON around a message, and what differs from `TEXTS` and `STATUSES`."""

    wrap: Callable[[Problem, int, str], Any]
    texts: Mapping[Kind, str] = field(default_factory=dict)
    statuses: Mapping[Kind, int] = field(default_factory=dict)
    naming: Naming = Naming.FIRST

    def named(self, problem: Problem) -> tuple[str, ...]:
        """The fields that the message names."""
        return problem.fields[:1] if self.naming is Naming.FIRST else problem.fields

    def render(self, problem: Problem) -> tuple[int, Any]:
        """Status and body."""
        status = problem.status or self.statuses.get(problem.kind) or STATUSES.get(problem.kind, 400)
        text = problem.text or self.texts.get(problem.kind) or TEXTS[problem.kind]
        names = self.named(problem)
        groups = [(each,) for each in names] if self.naming is Naming.LINES and names else [names]
        told = [{"field": ", ".join(group), "s": "s"[: len(group) - 1]} for group in groups]
        lines = [text.format(**each, **problem.told) for each in told]
        return status, self.wrap(problem, status, "\n".join(lines))


STATUSES = {Kind.KEY: 401, Kind.MODEL: 404, Kind.PATH: 404, Kind.RATE: 429, Kind.FAILED: 503}

TEXTS = {
    Kind.UNKNOWN: "Unrecognized request argument{s} supplied: {field}",
    Kind.UNSUPPORTED: "Unsupported parameter: '{field}' is not supported with this model.",
    Kind.VALUE: "Unsupported value: '{field}' does not support {value} with this model.",
    Kind.TYPE: "Invalid type for '{field}': expected {expected}, but got {got} instead.",
    Kind.MISSING: "Missing required parameter: '{field}'.",
    Kind.ROLE: "Invalid value: '{role}'. Supported values are: {roles}.",
    Kind.ORDER: "The last message must be the user's.",
    Kind.KEY: "Incorrect API key provided: ****{tail}. Keys are made in the account's settings.",
    Kind.MODEL: "The model `{model}` does not exist or you may not use it.",
    Kind.PATH: "Invalid URL (POST {path})",
    Kind.CONTEXT: "This model's maximum context length is {most} tokens. However, your messages resulted in {got}"
    " tokens. Please shorten the messages.",
    Kind.ROOM: "Could not finish the message because max_tokens or model output limit was reached."
    " Try again with more.",
    Kind.FILTER: "The request was rejected by the safety system.",
    Kind.RATE: "Rate limit reached for requests.",
    Kind.FAILED: "The server is overloaded, try later.",
}

_CODES = {
    Kind.UNSUPPORTED: "unsupported_parameter",
    Kind.VALUE: "unsupported_value",
    Kind.TYPE: "invalid_type",
    Kind.MISSING: "missing_required_parameter",
    Kind.ROLE: "invalid_value",
    Kind.KEY: "invalid_api_key",
    Kind.MODEL: "model_not_found",
    Kind.CONTEXT: "context_length_exceeded",
    Kind.FILTER: "content_policy_violation",
    Kind.RATE: "rate_limit_exceeded",
}


def _param(problem: Problem) -> str | None:
    """The field as `error.param`; what is unknown stands in the message alone."""
    return problem.fields[0] if problem.fields and problem.kind is not Kind.UNKNOWN else None


def _error(message: str, kind: str, param: str | None, code: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _openai(problem: Problem, status: int, text: str) -> Any:
    kind = "server_error" if status >= 500 else "requests" if status == 429 else "invalid_request_error"
    if status == 403:
        return _error(text, kind, None, None)
    return _error(text, kind, _param(problem), _CODES.get(problem.kind))


def _azure(problem: Problem, status: int, text: str) -> Any:
    codes = {Kind.KEY: "401", Kind.PATH: "404", Kind.RATE: "429", Kind.MODEL: "DeploymentNotFound"}
    if problem.kind in codes:
        return {"error": {"code": codes[problem.kind], "message": text}}
    if problem.kind is not Kind.FILTER:
        return _openai(problem, status, text)
    found = {"hate": {"filtered": True, "severity": "high"}}
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": found}
    told = {"code": "content_filter", "message": text, "param": "prompt", "type": None, "status": status}
    return {"error": told | {"innererror": inner}}


def _gemini(problem: Problem, status: int, text: str) -> Any:
    names = {429: "RESOURCE_EXHAUSTED", 404: "NOT_FOUND", 503: "UNAVAILABLE", 400: "INVALID_ARGUMENT"}
    told: dict[str, Any] = {"code": status, "message": text, "status": names.get(status, "INTERNAL")}
    if problem.kind is Kind.UNKNOWN:
        lines = [{"description": line} for line in text.splitlines()]
        told["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": lines}]
    return [{"error": told}]


def _anthropic(_: Problem, status: int, text: str) -> Any:
    kinds = {
        401: "authentication_error",
        404: "not_found_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return _error(text, kind, None, kind)


def _groq(problem: Problem, status: int, text: str) -> Any:
    code = {"code": _CODES[problem.kind]} if problem.kind in {Kind.KEY, Kind.MODEL, Kind.RATE} else {}
    return {
        "error": {"message": text, "type": "invalid_request_error" if status < 500 else "api_error"} | code
    }


def _mistral(problem: Problem, status: int, text: str) -> Any:
    if problem.kind is Kind.KEY:
        return {"detail": text}
    kinds = {
        Kind.MODEL: ("invalid_model", "1500"),
        Kind.ORDER: ("invalid_request_message_order", "3230"),
        Kind.RATE: ("service_tier_capacity_exceeded", "3505"),
    }
    kind, code = kinds.get(
        problem.kind, ("invalid_request_error" if status < 500 else "service_unavailable", None)
    )
    told: Any = text
    if status == 422:
        name = {Kind.UNKNOWN: "extra_forbidden", Kind.MISSING: "missing"}.get(problem.kind, "value_error")
        listed = zip(problem.fields, text.splitlines(), strict=True)
        told = {"detail": [{"type": name, "loc": ["body", each], "msg": line} for each, line in listed]}
    return {"object": "error", "message": told, "type": kind, "param": None, "code": code}


def _deepseek(problem: Problem, _: int, text: str) -> Any:
    kind = "authentication_error" if problem.kind is Kind.KEY else "invalid_request_error"
    return _error(text, kind, None, "invalid_request_error")


def _ollama(_: Problem, status: int, text: str) -> Any:
    kind = "not_found_error" if status == 404 else "api_error" if status >= 500 else "invalid_request_error"
    return _error(text, kind, None, None)


def _lm_studio(problem: Problem, status: int, text: str) -> Any:
    return _openai(problem, status, text) if problem.kind is Kind.MODEL else {"error": text}


def _openrouter(_: Problem, status: int, text: str) -> Any:
    return {
        "error": {"message": text, "code": status, "metadata": {"provider_name": None}},
        "user_id": "user_1",
    }


def _vllm(problem: Problem, status: int, text: str) -> Any:
    kinds = {404: "NotFoundError", 400: "BadRequestError"}
    told = _error(text, kinds.get(status, "InternalServerError"), _param(problem), status)
    return {"error": "Unauthorized"} if problem.kind is Kind.KEY else told


_UNSUPPORTED_IS_UNKNOWN = "property '{field}' is unsupported"
_INVALID_BODY = "1 validation error: {{'type': 'value_error', 'loc': ('body', '{field}')}}"

OPENAI = Style(_openai, naming=Naming.COMMAS)
AZURE = Style(
    _azure,
    {
        Kind.KEY: "Access denied: invalid subscription key or wrong endpoint for the resource.",
        Kind.MODEL: "The API deployment for this resource does not exist.",
        Kind.PATH: "Resource not found",
        Kind.FILTER: "The response was filtered: the prompt triggered the content management policy.",
    },
    naming=Naming.COMMAS,
)
GEMINI = Style(
    _gemini,
    {
        Kind.UNKNOWN: 'Invalid JSON payload received. Unknown name "{field}": Cannot find field.',
        Kind.KEY: "API key not valid. Please pass a valid API key.",
        Kind.MODEL: "models/{model} is not found for API version v1main",
        Kind.CONTEXT: "The input token count ({got}) exceeds the maximum number of tokens allowed ({most}).",
    },
    {Kind.KEY: 400},
    Naming.LINES,
)
ANTHROPIC = Style(
    _anthropic,
    {
        Kind.ORDER: "This model does not support assistant message prefill. The last message must be the user's.",
        Kind.KEY: "Invalid bearer token",
        Kind.MODEL: "model: {model}",
        Kind.CONTEXT: "prompt is too long: {got} tokens > {most} maximum",
    },
    {Kind.FAILED: 529},
)
GROQ = Style(
    _groq,
    {
        Kind.UNKNOWN: _UNSUPPORTED_IS_UNKNOWN,
        Kind.UNSUPPORTED: _UNSUPPORTED_IS_UNKNOWN,
        Kind.KEY: "Invalid API Key",
        Kind.CONTEXT: "Please reduce the length of the messages or completion.",
    },
)
MISTRAL = Style(
    _mistral,
    {
        Kind.UNKNOWN: "Extra inputs are not permitted",
        Kind.TYPE: "Input should be {expected}",
        Kind.MISSING: "Field required",
        Kind.ROLE: "Input tag '{role}' does not match any of the expected tags: {roles}",
        Kind.ORDER: "Expected last role User or Tool (or Assistant with prefix True) but got assistant",
        Kind.KEY: "Unauthorized",
        Kind.MODEL: "Invalid model: {model}",
        Kind.CONTEXT: "Prompt contains {got} tokens, too large for model with {most} maximum context length",
    },
    {Kind.MODEL: 400} | dict.fromkeys((Kind.UNKNOWN, Kind.TYPE, Kind.MISSING, Kind.ROLE, Kind.VALUE), 422),
    Naming.LINES,
)
DEEPSEEK = Style(
    _deepseek,
    {
        Kind.UNSUPPORTED: "{model} does not support the parameter `{field}`",
        Kind.TYPE: "Failed to deserialize the JSON body into the target type: {field}: invalid type: {got},"
        " expected {expected}",
        Kind.ROLE: "Failed to deserialize the JSON body into the target type: {field}: unknown variant `{role}`,"
        " expected one of {roles}",
        Kind.KEY: "Authentication Fails, your api key ****{tail} is invalid",
        Kind.MODEL: "Model Not Exist",
        Kind.FILTER: "Content Exists Risk",
    },
    {Kind.MODEL: 400},
)
OLLAMA = Style(_ollama, {Kind.MODEL: 'model "{model}" not found, try pulling it first'})
LM_STUDIO = Style(
    _lm_studio,
    {
        Kind.CONTEXT: "The number of tokens to keep from the initial prompt is greater than the context length"
        " (n_keep: {got} >= n_ctx: {most})."
    },
)
OPENROUTER = Style(
    _openrouter,
    {
        Kind.KEY: "No auth credentials found",
        Kind.MODEL: "{model} is not a valid model ID",
        Kind.CONTEXT: "This endpoint's maximum context length is {most} tokens. However, you requested about"
        " {got} tokens.",
    },
    {Kind.MODEL: 400, Kind.FAILED: 502},
)
VLLM = Style(
    _vllm,
    {
        Kind.TYPE: _INVALID_BODY,
        Kind.MISSING: _INVALID_BODY,
        Kind.MODEL: "The model `{model}` does not exist.",
        Kind.ROLE: "System role not supported",
    },
)
