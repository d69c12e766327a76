"""The language model behind any OpenAI-compatible server, through the `openai` client.

Owns the mapping of the server's failures to `NLError`s, and the fields of a request with grammar and prefix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam, ChatCompletionTokenLogprob

from engine.core.deadline import Deadline
from engine.core.ports import Completion, Prompt, Token, Weighed
from engine.errors import CancelledError, ModelUnavailableError
from engine.llm.settings import GrammarSupport, ModelSettings

TOP_LOGPROBS = 20
"""Tokens whose log-probabilities are asked for: the protocol's maximum."""

LARK = "%llguidance {}\n"
"""Tells `llama-server` that a grammar is llguidance's Lark and not its own GBNF."""


class ChatModel:
    """Implements `engine.core.ports.LanguageModel`."""

    def __init__(self, settings: ModelSettings, base_url: str) -> None:
        self._settings = settings
        self._base_url = base_url
        self._client = openai.AsyncOpenAI(base_url=base_url, api_key=settings.api_key, max_retries=1)

    @property
    def grammars(self) -> bool:
        """Whether the server takes grammars."""
        return self._settings.grammar is not GrammarSupport.NONE

    @property
    def goes_on(self) -> bool:
        """Whether the server goes on with a begun answer under its grammar."""
        return self._settings.grammar is GrammarSupport.EMBEDDED

    async def complete(
        self,
        prompt: Prompt,
        *,
        deadline: Deadline,
        max_tokens: int,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        others: int = 0,
    ) -> Completion:
        """See `engine.core.ports.LanguageModel.complete`."""
        extra: dict[str, Any] = {"seed": seed} if seed else {}
        if others:
            extra["top_logprobs"] = min(others, TOP_LOGPROBS)
        if prompt.begun:
            extra["begun"] = prompt.begun
        if grammar is not None:
            extra |= _constraint(self._settings.grammar, grammar)
        return _completion(await self._ask(prompt, deadline, max_tokens, temperature, extra), prompt.prefix)

    async def weigh(self, prompt: Prompt, options: Sequence[str], *, deadline: Deadline) -> Weighed:
        """See `engine.core.ports.LanguageModel.weigh`."""
        return _weighed(await self._ask(prompt, deadline, 1, 0.0, {"top_logprobs": TOP_LOGPROBS}), options)

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """See `engine.core.ports.LanguageModel.read`."""
        await self._ask(prompt, deadline, 1, 0.0, {"keep_prompt": True})

    async def _ask(
        self, prompt: Prompt, deadline: Deadline, max_tokens: int, temperature: float, extra: dict[str, Any]
    ) -> ChatCompletion:
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        if prompt.prefix:
            messages.append({"role": "assistant", "content": prompt.prefix})
            extra = {**extra, "continue_final_message": True, "add_generation_prompt": False}
        try:
            return await self._client.chat.completions.create(
                model=self._settings.model,
                messages=messages,
                max_tokens=max_tokens,
                temperature=temperature,
                logprobs=True,
                extra_body=extra,
                timeout=deadline.remaining(),
            )
        except openai.APITimeoutError as problem:
            raise CancelledError(
                "the language model did not answer in time", hint="Raise nl.timeout."
            ) from problem
        except openai.OpenAIError as problem:
            raise ModelUnavailableError(
                "the language model is not available",
                detail=f"{self._base_url}: {problem}",
                hint="Check [model] base_url, api_key and model, and that the server runs.",
            ) from problem

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()


def _constraint(support: GrammarSupport, grammar: str) -> dict[str, Any]:
    """The fields of the request's body that make the answer match `grammar`."""
    match support:
        case GrammarSupport.EMBEDDED | GrammarSupport.STRUCTURED_OUTPUTS:
            return {"structured_outputs": {"grammar": grammar}}
        case GrammarSupport.GUIDED_GRAMMAR:
            return {"guided_grammar": grammar}
        case GrammarSupport.LLGUIDANCE:
            return {"grammar": LARK + grammar}
        case GrammarSupport.NONE:
            return {}


def _weighed(reply: ChatCompletion, options: Sequence[str]) -> Weighed:
    cost = _completion(reply)
    logprobs = reply.choices[0].logprobs
    first = next(iter((logprobs.content or ()) if logprobs else ()), None)
    told = [(each.token.strip(), each.logprob) for each in first.top_logprobs] if first else []
    found = [_summed([logprob for token, logprob in told if token == option]) for option in options]
    # A token beyond the top ones is at most as probable as the last of them.
    least = min((logprob for _, logprob in told), default=None)
    known = any(each is not None for each in found)
    values = tuple((least if each is None else each) if known else None for each in found)
    return Weighed(values, cost.prefilled, cost.cached, cost.generated)


def _summed(logprobs: Sequence[float]) -> float | None:
    """The logarithm of the probabilities' sum; None of none."""
    return math.log(sum(map(math.exp, logprobs))) if logprobs else None


def _completion(reply: ChatCompletion, prefix: str = "") -> Completion:
    """The completion, without the `prefix`, which `llama-server` repeats and others do not."""
    choice = reply.choices[0]
    usage = reply.usage
    prompt = usage.prompt_tokens if usage else 0
    details = usage.prompt_tokens_details if usage else None
    cached = (details.cached_tokens or 0) if details else 0
    told = (choice.logprobs.content or ()) if choice.logprobs else ()
    # `llama-server` tells of the token that ends the answer too, which has no text.
    content = [token for token in told if token.bytes != []]
    return Completion(
        text=(choice.message.content or "").removeprefix(prefix),
        prefilled=prompt - cached,
        cached=cached,
        generated=usage.completion_tokens if usage else 0,
        logprob=sum(token.logprob for token in content) / len(content) if content else None,
        finished=choice.finish_reason == "stop",
        tokens=tuple(map(_token, content)),
    )


def _token(told: ChatCompletionTokenLogprob) -> Token:
    return Token(told.token, tuple((other.token, math.exp(other.logprob)) for other in told.top_logprobs))
