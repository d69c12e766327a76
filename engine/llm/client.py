"""The language model behind any OpenAI-compatible server, through the `openai` client.

Owns the mapping of the server's failures to `NLError`s, and the fields of a request with grammar and prefix. When no
call is made is `engine.llm.circuit`'s.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam, ChatCompletionTokenLogprob

from engine.core.deadline import Deadline
from engine.core.ports import Completion, Prompt, Token, Weighed
from engine.errors import CancelledError, ModelUnavailableError
from engine.llm.circuit import Circuit, Outage
from engine.llm.settings import GrammarSupport, ModelSettings

TOP_LOGPROBS = 20
"""Tokens whose log-probabilities are asked for: the protocol's maximum."""

LARK = "%llguidance {}\n"
"""Tells `llama-server` that a grammar is llguidance's Lark and not its own GBNF."""

CONNECT_SECONDS = 5.0
"""What a connection may take to be made."""

_TOLD = 200
"""Characters of a failure that later refusals repeat: a server's may be a whole page."""

_TOO_MANY = 429
_FAILED = 500


class ChatModel:
    """Implements `engine.core.ports.LanguageModel`.

    A call that meets no connection, or a server that is too busy or fails, is made once more within its deadline.
    """

    def __init__(self, settings: ModelSettings, base_url: str, circuit: Circuit | None = None) -> None:
        """`circuit`: one that others look at as well; None makes one."""
        self._settings = replace(settings, base_url=base_url)
        self._circuit = circuit or Circuit(settings)
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=settings.api_key,
            max_retries=1,
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
        )

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

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """See `engine.core.ports.LanguageModel.likelihood`."""
        return _completion(await self._ask(prompt, deadline, 1, 0.0, {"given": answer}))

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """See `engine.core.ports.LanguageModel.read`."""
        # Nobody's question waits for it: it is made while the circuit is open, too, and closes it.
        await self._send(prompt, deadline, 1, 0.0, {"keep_prompt": True})
        self._circuit.answered(deadline.clock())

    async def _ask(
        self, prompt: Prompt, deadline: Deadline, max_tokens: int, temperature: float, extra: dict[str, Any]
    ) -> ChatCompletion:
        """A call, unless the circuit is open; the circuit learns how it ended."""
        circuit, began = self._circuit, deadline.clock()
        outage = circuit.refused(began)
        if outage is not None:
            raise _refused(self._settings.address, outage, began)
        try:
            reply = await self._send(prompt, deadline, max_tokens, temperature, extra)
        except CancelledError:
            circuit.timed_out(began, deadline.clock())
            raise
        except ModelUnavailableError as problem:
            if _is_servers(problem.__cause__):
                circuit.failed(began, deadline.clock(), str(problem.__cause__)[:_TOLD])
            else:
                circuit.answered(deadline.clock())
            raise
        except BaseException:
            circuit.given_up(began, deadline.clock())
            raise
        circuit.answered(deadline.clock())
        return reply

    async def _send(
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
            # The client's own timeouts are of single steps, and begin anew with the second attempt.
            async with asyncio.timeout(deadline.remaining()):
                return await self._client.chat.completions.create(
                    model=self._settings.model,
                    messages=messages,
                    max_tokens=max_tokens,
                    temperature=temperature,
                    logprobs=True,
                    extra_body=extra,
                )
        except TimeoutError as problem:
            raise CancelledError(
                "the language model did not answer in time", hint="Raise nl.timeout."
            ) from problem
        except openai.OpenAIError as problem:
            raise ModelUnavailableError(
                "the language model is not available",
                detail=f"{self._settings.address}: {problem}",
                hint="Check [model] base_url, api_key and model, and that the server runs.",
            ) from problem

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()


def _is_servers(problem: BaseException | None) -> bool:
    """Whether the server was not there, had too much to do or failed; otherwise it answers, and refused a request."""
    if isinstance(problem, openai.APIStatusError):
        return problem.status_code == _TOO_MANY or problem.status_code >= _FAILED
    return True


def _refused(address: str, outage: Outage, now: float) -> ModelUnavailableError:
    since = datetime.now(UTC) - timedelta(seconds=now - outage.since)
    wait = math.ceil(outage.again_at - now)
    again = f"It is tried again in {wait} seconds." if wait > 0 else "It is being tried again."
    return ModelUnavailableError(
        "the language model is not available",
        detail=f"{address} has failed {outage.failures} times in a row since {since:%Y-%m-%d %H:%M:%S} UTC,"
        f" at last with: {outage.last}",
        hint=f"{again} Operators: see that the model server runs, then pgparley check model.",
    )


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
