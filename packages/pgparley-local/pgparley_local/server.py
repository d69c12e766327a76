"""The OpenAI protocol over the scheduler: `/v1/chat/completions`, `/v1/models`, `/health`.

With vLLM's names for what OpenAI has none for (`structured_outputs.grammar`, `continue_final_message`), and
`keep_prompt`. The model's chat template puts the messages together; control tokens in a text stay text, so that
nothing in it ends its message.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import signal
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
from aiohttp import web

from engine.values.keyed import keyed
from engine.values.model_settings import NO_KEY, OWNER, EmbeddedModelSettings
from pgparley_local.runtime import Runtime
from pgparley_local.scheduler import Generated, GrammarProblemError, Request, Scheduler


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class StructuredOutputs:
    """Constraints on the answer."""

    grammar: str | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The body of `/v1/chat/completions`; other fields are ignored.

    `begun`: of our own, what the answer has begun with behind the last message, of which the grammar takes notice.
    `given`: of our own, the answer, where only how likely it is is asked for.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 256
    logprobs: bool = False
    top_logprobs: Annotated[int, msgspec.Meta(ge=0, le=20)] = 0
    continue_final_message: bool = False
    structured_outputs: StructuredOutputs = field(default_factory=StructuredOutputs)
    keep_prompt: bool = False
    begun: str = ""
    given: str = ""


class EmbeddedServer:
    """One model, one scheduler, one aiohttp application."""

    def __init__(self, runtime: Runtime, name: str, prefixes: Path | None) -> None:
        self._runtime = runtime
        self._prefixes = prefixes
        self._scheduler = Scheduler(runtime)
        self._name = name

    def application(self) -> web.Application:
        """The routes; closing the application frees the model."""
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)
        app.on_cleanup.append(self._close)
        return app

    async def _chat(self, http: web.Request) -> web.Response:
        try:
            body = msgspec.json.decode(await http.read(), type=ChatRequest)
            request = self._request(body)
        except msgspec.DecodeError as problem:
            return _error(400, str(problem))
        try:
            generated = await self._scheduler.submit(request)
        except GrammarProblemError as problem:
            return _error(400, f"grammar: {problem}")
        except MemoryError as problem:
            return _error(400, str(problem))
        return web.json_response(self._reply(body, request, generated))

    def _request(self, body: ChatRequest) -> Request:
        begun = self._runtime.tokenize(body.begun) if body.begun else []
        prompt = (*prompt_tokens(self._runtime, body), *begun)
        given = tuple(self._runtime.tokenize(body.given))
        return Request(
            prompt=prompt,
            begun=len(begun),
            max_tokens=len(given) or body.max_tokens,
            given=given,
            grammar=body.structured_outputs.grammar,
            keep=self._file(prompt) if body.keep_prompt else None,
            top=body.top_logprobs if body.logprobs else 0,
        )

    def _file(self, prompt: Sequence[int]) -> Path | None:
        """The file of a computed prompt: its name holds the model and every token."""
        if self._prefixes is None:
            return None
        self._prefixes.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(repr((self._name, list(prompt))).encode()).hexdigest()
        return self._prefixes / f"{digest[:32]}.kv"

    def _reply(self, body: ChatRequest, request: Request, generated: Generated) -> dict[str, Any]:
        text = b"".join(self._runtime.piece(token) for token in generated.tokens).decode(errors="replace")
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop" if generated.finished else "length",
            "logprobs": {"content": self._logprobs(generated)} if body.logprobs else None,
        }
        prompt, written = len(request.prompt), len(generated.tokens)
        return {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self._name,
            "choices": [choice],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": written,
                "total_tokens": prompt + written,
                "prompt_tokens_details": {"cached_tokens": generated.cached},
            },
        }

    def _logprobs(self, generated: Generated) -> list[dict[str, Any]]:
        return [
            {**self._likely(t, p), "top_logprobs": [self._likely(*each) for each in top]}
            for t, p, top in zip(generated.tokens, generated.logprobs, generated.top, strict=False)
        ]

    def _likely(self, token: int, logprob: float) -> dict[str, Any]:
        text = self._runtime.piece(token).decode(errors="replace")
        return {"token": text, "logprob": logprob, "bytes": None}

    async def _models(self, _http: web.Request) -> web.Response:
        told = {"id": self._name, "object": "model", "owned_by": OWNER}
        return web.json_response({"object": "list", "data": [told]})

    async def _health(self, _http: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "model": self._name})

    async def _close(self, _app: web.Application) -> None:
        self._scheduler.close()
        self._runtime.close()


_PLACE = re.compile("\ue000([0-9]+)\ue001")
"""Where a message's content goes in what the template makes of the messages."""


def prompt_tokens(runtime: Runtime, body: ChatRequest) -> list[int]:
    """The messages as tokens, by the model's chat template. The last one stays open where it is to be continued."""
    *before, last = body.messages
    messages = before if body.continue_final_message and last.role == "assistant" else body.messages
    text = runtime.rendered([(each.role, f"\ue000{n}\ue001") for n, each in enumerate(messages)])
    tokens = [*runtime.begins]
    for n, part in enumerate(_PLACE.split(text)):
        # What the template writes is its own; a content is text, and nothing in it ends its message.
        content = n % 2 == 1
        tokens += runtime.tokenize(messages[int(part)].content if content else part, special=not content)
    return tokens if messages is body.messages else tokens + runtime.tokenize(last.content)


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


async def serve(settings: EmbeddedModelSettings, name: str, key: str, *, reuse_port: bool) -> None:
    """Loads the model, listens, writes the base URL to standard output, serves until a signal ends it.

    `key`: to be shown.
    """
    ended = asyncio.Event()
    # The first process of a container is not ended by a signal that it does not handle (pid_namespaces(7)).
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    runtime = await asyncio.to_thread(Runtime, settings)
    app = EmbeddedServer(runtime, name, settings.prefixes).application()
    if key != NO_KEY:
        app = keyed(app, key.encode(), lambda asked: asked.path == "/health", "the model's key is missing")
    # A cancelled request stops its handler, which stops the work on the model.
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, settings.host, settings.port, reuse_port=reuse_port)
        await site.start()
        host, port = _address(runner.addresses)
        sys.stdout.write(f"http://{host}:{port}/v1\n")
        sys.stdout.flush()
        await ended.wait()
    finally:
        await runner.cleanup()


def run(settings: EmbeddedModelSettings, name: str, key: str, *, reuse_port: bool) -> None:
    """The embedded server as a process of its own; ends on SIGINT or SIGTERM."""
    asyncio.run(serve(settings, name, key, reuse_port=reuse_port))


def _address(addresses: Sequence[Any]) -> tuple[str, int]:
    host, port = addresses[0][:2]
    return str(host), int(port)
