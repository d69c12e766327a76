"""What a model service says when it refuses a request: which fields it does not take, or what else is the matter.

Owns the shapes of services' errors and the words for users; which request is made again, and when, is the client's.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any

import openai

from engine.llm.reading import TOLD, NoReplyError
from engine.question.plain import excerpt
from engine.values.errors import ContextLengthError, ModelAwayError, ModelUnavailableError
from engine.values.model_profile import ModelProfile
from engine.values.model_settings import NO_KEY, ServiceSettings

AGAIN_SECONDS = 0.5
"""Before a second attempt, where the service does not say."""

NAMES_TOLD = 5
"""Names of models that a hint lists at most."""

_NO_CREDIT = "insufficient_quota"
_NO_KEY = 401
_NOT_FOUND = 404
_TOO_MANY = 429
_FAILED = 500
_NOT_THERE = 501

_READ = 4_000
"""Characters of an error that are looked through, some patterns more than once."""

_DEEPEST = 20
"""Levels of an error's body that are."""

_KEPT = frozenset({"model", "messages"})
"""Fields without which there is no request."""

_ECHOED = frozenset({"input", "ctx", "url"})
"""What pydantic's errors repeat of the request."""

_WORD = r"""(?:["'`]{name}\b|\b(?:parameter|argument|field|name|property|key|input)s?(?:\s+supplied)?\W+{name}\b)"""
_ANY = re.IGNORECASE | re.DOTALL
_VALUE = re.compile(r"json_schema|\btype\b|\bvalue\b|too large|at most|maximum", _ANY)
_SYSTEM = re.compile(
    r"""\bsystem['"`]?\W+(?:role|message|prompt|instruction)s?\b|\brole\b.*\bsystem\b""", _ANY
)
_CONTEXT = re.compile(
    r"context[ _](?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens"
    r"|input (?:token count|is too long|length)|reduce the length",
    _ANY,
)
_FILTER = re.compile(
    r"content[ _](?:filter|management policy|policy|exists risk)|ResponsibleAI|safety system|moderation", _ANY
)
_MODEL = re.compile(
    r"model_not_found|\bmodels?\b.{0,80}(?:\bnot (?:found|exist)|\bunknown\b|\binvalid\b)"
    r"|\b(?:no such|unknown|invalid|not a valid) model\b",
    _ANY,
)
_KEY = re.compile(r"(?:api|access)[ _-]?(?:key|token)|unauthori[sz]ed|permission|credential", _ANY)


class Refusal(Enum):
    """What is the matter. `AWAY`: nothing with the request; `REQUEST`: with its fields, or anything else."""

    AWAY = auto()
    KEY = auto()
    FILTER = auto()
    CONTEXT = auto()
    MODEL = auto()
    REQUEST = auto()


def says(problem: openai.OpenAIError) -> Refusal:
    """What an error tells; connections that fail, and replies that are none, are `AWAY`."""
    if not isinstance(problem, openai.APIStatusError):
        return Refusal.AWAY
    status, text = problem.status_code, _text(problem)
    if status == _TOO_MANY or (status >= _FAILED and status != _NOT_THERE):
        return Refusal.AWAY
    if status == _NO_KEY or (status in (400, 403) and _KEY.search(text)):
        return Refusal.KEY
    for pattern, found in ((_FILTER, Refusal.FILTER), (_CONTEXT, Refusal.CONTEXT), (_MODEL, Refusal.MODEL)):
        if pattern.search(text):
            return found
    return Refusal.MODEL if status == _NOT_FOUND else Refusal.REQUEST


def without_refused(
    profile: ModelProfile, problem: openai.OpenAIError, body: Mapping[str, Any]
) -> ModelProfile:
    """`profile` once the server has answered `body` with `problem`: the same where no field of it is refused."""
    if not isinstance(problem, openai.APIStatusError) or says(problem) is not Refusal.REQUEST:
        return profile
    text, sent = _text(problem), body.keys() - _KEPT
    # What is named by itself goes before what stands somewhere in a sentence.
    named = {re.split(r"[.\[]", value)[0] for key, value in _said(problem.body) if key in ("param", "loc")}
    found = named & sent or {name for name in sent if _mentions(text, name)}
    if not found and _SYSTEM.search(text):
        found = {"system"}
    for name in sorted(found):
        profile = profile.without(name, value=bool(_VALUE.search(text)))
    return profile


def wait_before_again(problem: openai.OpenAIError) -> float | None:
    """Seconds before a second attempt; None where there should be none."""
    if says(problem) is not Refusal.AWAY:
        return None
    if not isinstance(problem, openai.APIStatusError):
        return AGAIN_SECONDS
    headers = problem.response.headers
    if headers.get("x-should-retry") == "false" or problem.code == _NO_CREDIT:
        return None
    asked = re.fullmatch(r"\d+(\.\d+)?", headers.get("retry-after", ""))
    return float(asked[0]) if asked else AGAIN_SECONDS


def told(problem: BaseException, settings: ServiceSettings) -> str:
    """The beginning of what the service said, without the key, which some repeat."""
    cause = problem.__cause__
    text = str(cause if isinstance(cause, NoReplyError) else problem)
    text = text if settings.api_key in ("", NO_KEY) else text.replace(settings.api_key, "…")
    return excerpt(text, TOLD)


def explained(
    problem: openai.OpenAIError, settings: ServiceSettings, names: Sequence[str] = ()
) -> ModelUnavailableError:
    """The error for users. `names`: the models that the service lists."""
    detail = f"{settings.address}: {told(problem, settings)}"
    match says(problem):
        case Refusal.AWAY:
            return _away(problem, detail)
        case Refusal.FILTER:
            return filtered(detail)
        case Refusal.CONTEXT:
            return ContextLengthError(
                "the prompt is longer than the language model takes",
                detail=detail,
                hint="Ask of one database with nl.db, or use a model with a longer context.",
            )
        case Refusal.KEY:
            message = "the language model's service refused the key"
            hint = f"Its key is configured {settings.key_place}: see that it is right and has not expired."
        case Refusal.MODEL:
            message = f'the language model\'s service does not know the model "{settings.model}"'
            near = difflib.get_close_matches(settings.model, names, NAMES_TOLD, 0.0)
            listed = f" It lists: {', '.join(excerpt(each, TOLD) for each in near)}." if near else ""
            hint = f"Correct model or base_url in [model].{listed}"
        case Refusal.REQUEST:
            message = "the language model's service refused the request"
            hint = "Operators: pgparley check model finds out anew what the service takes."
    return ModelUnavailableError(message, detail=detail, hint=hint)


def filtered(detail: str) -> ModelUnavailableError:
    """The error where a service's filter withheld an answer."""
    return ModelUnavailableError(
        "the language model's service withheld the answer: its content filter was triggered",
        detail=detail,
        hint="Ask in other words. Operators: the filter is configured at the service.",
    )


def _away(problem: openai.OpenAIError, detail: str) -> ModelAwayError:
    message, hint = "the language model is not available", "Check [model] base_url, and that the server runs."
    if isinstance(problem, openai.APIStatusError) and problem.status_code == _TOO_MANY:
        message = "the language model's service takes no more requests for now"
        wait = problem.response.headers.get("retry-after", "")
        again = f"Ask again in {wait} seconds." if re.fullmatch(r"[0-9]{1,6}", wait) else "Ask again later."
        hint = f"{again} Operators: raise the service's limits or its credit, or name another in [[model.fallback]]."
    elif isinstance(problem, openai.APIStatusError):
        hint = "Ask again later. Operators: see that the model server runs, or name another in [[model.fallback]]."
    return ModelAwayError(message, detail=detail, hint=hint)


def _text(problem: openai.APIStatusError) -> str:
    return (" ".join(value for _, value in _said(problem.body)) or problem.message)[:_READ]


def _mentions(text: str, name: str) -> bool:
    """Whether `text` names the field: a word that is no English one, or one that is told to be a field."""
    plain = "_" not in name and name != "logprobs"
    pattern = _WORD if plain else r"(?<!\w){name}(?!\w)"
    return bool(re.search(pattern.format(name=name.replace("_", "[_ ]")), text, _ANY))


def _said(body: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """All texts of an error's body, each with the key that it stands under; of a place in a body its field."""
    if depth > _DEEPEST:
        return
    if isinstance(body, str):
        yield key, body
    elif isinstance(body, Mapping):
        for name, value in body.items():
            if name not in _ECHOED:
                yield from _said(value, str(name), depth + 1)
    elif isinstance(body, list):
        if key == "loc":
            body = [each for each in body if isinstance(each, str) and each != "body"][:1]
        for value in body:
            yield from _said(value, key, depth + 1)
