"""The language model behind any OpenAI-compatible server, through the `openai` client.

Owns a call's deadline, its second attempt, and what is learnt where a server refuses a field. The words of errors are
`engine.llm.refusals`'; when no call is made is `engine.llm.circuit`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

import openai

from engine.llm import refusals
from engine.llm.call import Call
from engine.llm.circuit import Circuit, Outage
from engine.llm.discovery import Discovery, ListedModel
from engine.llm.reading import TOLD, Listed, Reply, completion, is_cut_short, is_filtered, read, thinks
from engine.llm.redaction import Redaction
from engine.llm.wire import StrangersClient
from engine.values import wording
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, ModelAwayError, ModelUnavailableError
from engine.values.model_profile import EMBEDDED, UNKNOWN, ModelProfile, NoProfiles, Profiles
from engine.values.model_settings import GrammarSupport, ModelSettings, Provider
from engine.values.ports import Completion, Marks, Prompt

CONNECT_SECONDS = 5.0
"""What a connection may take to be made."""

MODELS = 1_000
"""Of a server that are looked at."""

MORE = 2
"""Times the room of an answer that did not fit."""

_Made = TypeVar("_Made")


class ChatModel:
    """Implements `engine.values.ports.LanguageModel`.

    A call that meets no connection, or a server that is too busy or fails, is made once more within its deadline. What
    the server can do is found out by the first call, or taken from `profiles`, which a refusal changes.
    """

    def __init__(
        self,
        settings: ModelSettings,
        base_url: str,
        circuit: Circuit | None = None,
        profiles: Profiles | None = None,
    ) -> None:
        """`circuit`: one that others look at as well; None makes one. `profiles` None: kept in memory alone."""
        self._settings = replace(settings, base_url=base_url)
        self._circuit = circuit or Circuit(settings)
        self._profiles = profiles or NoProfiles()
        self._profile = EMBEDDED if settings.grammar is GrammarSupport.EMBEDDED else None
        self._key = self._settings.place, self._settings.called
        self._finding_out = asyncio.Lock()
        self._client = _client(self._settings)
        self._redaction = Redaction(frozenset(settings.redact), secrets.token_bytes())

    @property
    def profile(self) -> ModelProfile:
        """See `engine.values.ports.LanguageModel.profile`."""
        return self._profile or UNKNOWN

    @property
    def outage(self) -> Outage | None:
        """While the server is not asked."""
        return self._circuit.outage

    async def complete(
        self,
        prompt: Prompt,
        *,
        deadline: Deadline,
        max_tokens: int,
        grammar: str | None = None,
        others: int = 0,
        schema: Mapping[str, object] | None = None,
    ) -> Completion:
        """See `engine.values.ports.LanguageModel.complete`."""
        prompt, grammar, marks = await asyncio.to_thread(self._leaving, prompt, grammar)
        own = {"begun": prompt.begun} if prompt.begun else {}
        call = Call(prompt, max_tokens, others, grammar, schema, own)
        reply = await self._ask(call, deadline)
        prefix = prompt.prefix if self.profile.continuation else ""
        return replace(completion(reply, prefix, self._settings.price), marks=marks)

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """See `engine.values.ports.LanguageModel.likelihood`."""
        prompt, given, _ = await asyncio.to_thread(self._leaving, prompt, answer)
        reply = await self._ask(Call(prompt, 1, own={"given": given}), deadline)
        return completion(reply, price=self._settings.price)

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """See `engine.values.ports.LanguageModel.read`."""
        if self._profile is not None and not self.profile.goes_on:
            return
        # Nobody's question waits for it: it is made while the circuit is open, too, and closes it.
        kept = Call(prompt, 1, own={"keep_prompt": True})
        make = (
            partial(self._replied, kept, deadline)
            if self.profile.goes_on
            else partial(self._find_out, deadline)
        )
        await self._told(make, deadline)
        self._circuit.answered(deadline.clock())

    def outgoing(self, prompt: Prompt) -> Prompt:
        """See `engine.values.ports.Outgoing`."""
        return self._leaving(prompt)[0]

    def _leaving(self, prompt: Prompt, more: str | None = None) -> tuple[Prompt, str | None, Marks]:
        """What leaves of a prompt, and of `more` with it; raises `ModelAwayError` where nothing may."""
        settings = self._settings
        to = f"{settings.called} at {settings.address}"
        if settings.own:
            return replace(prompt, asked=(), to=f"{to} (local)"), more, ()
        if prompt.local:
            raise ModelAwayError.told(wording.MODEL_IS_LOCAL_NOT, to=to)
        return self._redaction.hidden(replace(prompt, to=to), more)

    async def remember(self) -> None:
        """Takes the profile that is kept, where there is one."""
        if self._profile is None:
            self._profile = await self._profiles.find(*self._key)

    async def find_out(self, deadline: Deadline, *, anew: bool = False) -> ModelProfile:
        """What the server can do; `anew`: asked again whatever is known. Raises as a call."""
        if self._profile is None or (anew and not self.profile.goes_on):
            await self._watched(partial(self._find_out, deadline, anew=anew), deadline)
        return self.profile

    async def models(self) -> tuple[ListedModel, ...]:
        """Those that the server lists; none where it does not."""
        with contextlib.suppress(openai.OpenAIError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                page = await self._client.models.with_raw_response.list()
            listed = await asyncio.to_thread(read, page.content, Listed)
            return tuple(map(ListedModel.of, listed.data[:MODELS]))
        return ()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _ask(self, call: Call, deadline: Deadline) -> Reply:
        """The answer, with more room where a model that thinks has used it all up."""
        await self.find_out(deadline)
        reply = await self._watched(partial(self._replied, call, deadline), deadline)
        if is_cut_short(reply) and (thinks(reply) or self.profile.reasoning):
            await self._learn(replace(self.profile, reasoning=True, temperature=False))
            more = replace(call, room=MORE)
            reply = await self._watched(partial(self._replied, more, deadline), deadline)
        if is_filtered(reply):
            raise refusals.filtered(f"{self._settings.address}: finish_reason is content_filter.")
        return reply

    async def _watched(self, make: Callable[[], Awaitable[_Made]], deadline: Deadline) -> _Made:
        """What `make` gives, unless the circuit is open; the circuit learns how it ended."""
        circuit, began = self._circuit, deadline.clock()
        outage = circuit.refused(began)
        if outage is not None:
            raise _refused(self._settings.address, outage, began)
        try:
            made = await self._told(make, deadline)
        except CancelledError:
            circuit.timed_out(began, deadline.clock())
            raise
        except ModelAwayError as problem:
            circuit.failed(began, deadline.clock(), (problem.detail or "").partition(": ")[2][:TOLD])
            raise
        except ModelUnavailableError:
            circuit.answered(deadline.clock())
            raise
        except BaseException:
            circuit.given_up(began, deadline.clock())
            raise
        circuit.answered(deadline.clock())
        return made

    async def _told(self, make: Callable[[], Awaitable[_Made]], deadline: Deadline) -> _Made:
        """What `make` gives within the deadline; the client's errors become ours."""
        try:
            # The client's own timeouts are of single steps, and begin anew with the second attempt.
            async with asyncio.timeout(deadline.remaining()):
                try:
                    return await make()
                except openai.OpenAIError as problem:
                    unknown = refusals.says(problem) is refusals.Refusal.MODEL
                    names = [each.name for each in await self.models()] if unknown else []
                    raise refusals.explained(problem, self._settings, names) from problem
        except TimeoutError as problem:
            raise CancelledError.told(wording.MODEL_LATE) from problem

    async def _replied(self, call: Call, deadline: Deadline) -> Reply:
        """The reply to `call`, without the fields that the server refuses: they are never sent again."""
        while True:
            profile = self.profile
            try:
                return await self._post(call, profile, deadline=deadline)
            except openai.APIStatusError as problem:
                learnt = refusals.without_refused(profile, problem, call.body(profile))
                if learnt == profile:
                    raise
                await self._learn(learnt)

    async def _post(self, call: Call, profile: ModelProfile, *, deadline: Deadline) -> Reply:
        """One request, and a second one where the first met no server, or one that fails or has too much to do."""
        try:
            return await self._request(call, profile)
        except openai.OpenAIError as problem:
            wait = refusals.wait_before_again(problem)
            if wait is None or wait >= deadline.remaining():
                raise
            await asyncio.sleep(wait)
        return await self._request(call, profile)

    async def _request(self, call: Call, profile: ModelProfile) -> Reply:
        body = call.body(profile)
        reply = await self._client.chat.completions.with_raw_response.create(
            model=self._settings.called, messages=body.pop("messages"), extra_body=body
        )
        # Some services put an error, or a page of theirs, into a reply that says all is well.
        return await asyncio.to_thread(read, reply.content, Reply)

    async def _find_out(self, deadline: Deadline, *, anew: bool = False) -> None:
        async with self._finding_out:
            if not anew:
                await self.remember()
                if self._profile is not None:
                    return
            listed = await self.models()
            own = [each for each in listed if len(listed) == 1 or each.name == self._settings.model]
            post = partial(self._post, deadline=deadline)
            discovery = Discovery(post, self._settings.grammar, next(iter(own), None))
            await self._learn(await discovery.find_out())

    async def _learn(self, profile: ModelProfile) -> None:
        if profile != self._profile:
            self._profile = profile
            await self._profiles.keep(*self._key, profile)


def _client(settings: ModelSettings) -> openai.AsyncOpenAI:
    timeout = openai.Timeout(None, connect=CONNECT_SECONDS)
    if settings.provider is Provider.AZURE:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=settings.base_url or "",
            api_version=settings.api_version,
            api_key=settings.api_key,
            max_retries=0,
            timeout=timeout,
            http_client=StrangersClient(),
        )
    return openai.AsyncOpenAI(
        base_url=settings.base_url,
        api_key=settings.api_key,
        max_retries=0,
        timeout=timeout,
        http_client=StrangersClient(),
    )


def _refused(address: str, outage: Outage, now: float) -> ModelAwayError:
    since = datetime.now(UTC) - timedelta(seconds=now - outage.since)
    wait = math.ceil(outage.again_at - now)
    again = f"It is tried again in {wait} seconds." if wait > 0 else "It is being tried again."
    failed = {"address": address, "times": outage.failures, "since": since, "last": outage.last}
    return ModelAwayError.told(wording.MODEL_FAILED, again=again, **failed)
