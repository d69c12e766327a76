"""One strict chat service, driven by a description: what it is asked, refuses, and answers."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.support.providers.checks import effective, problems, prompt_tokens
from tests.support.providers.descriptions import Auth, Provider
from tests.support.providers.faults import Failing, Fault, RateLimited, Reply, Trouble
from tests.support.providers.replies import completion
from tests.support.providers.shapes import Kind, Problem

Answer = Callable[[dict[str, Any]], str | Reply]
"""From the fields of a request's body that the service heeds to what its model says."""

_LITERAL = re.compile(r'\s*(?:root\s*::=|start\s*:)\s*"([^"\\]*)"\s*')
"""A grammar of one text, which is the only one that a stand-in can obey."""


class Service:
    """A running stand-in. `requests`: the chat bodies with a right key, refused ones too."""

    def __init__(self, provider: Provider, answer: Answer) -> None:
        self.provider = provider
        self.model = provider.model
        self.key = "sk-stand-in-0123456789abcdef"
        self.base_url = ""
        self.requests: list[dict[str, Any]] = []
        self.refused: Counter[str] = Counter()
        self._answer = answer
        self._faults: deque[Fault] = deque()

    def next(self, *faults: Fault) -> None:
        """What becomes of the next chat requests that are not refused, in this order."""
        self._faults.extend(faults)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Any request."""
        if self.provider.auth is not Auth.NONE and self._sent_key(request) != self.key:
            return self._refuse(Problem(Kind.KEY, told={"tail": self._sent_key(request)[-4:]}))
        models, chat = self._paths()
        if self.provider.auth is Auth.API_KEY and "api-version" not in request.query:
            return self._refuse(Problem(Kind.PATH))
        if (request.method, request.path) == ("GET", models):
            return web.json_response(self._models())
        if (
            self.provider.auth is Auth.API_KEY
            and request.path.endswith("/chat/completions")
            and request.path != chat
        ):
            return self._refuse(Problem(Kind.MODEL))
        if (request.method, request.path) != ("POST", chat):
            return self._refuse(Problem(Kind.PATH, told={"path": request.path}))
        self.requests.append(await request.json())
        return self._trouble(request) or self._chat(self.requests[-1])

    def _paths(self) -> tuple[str, str]:
        path = self.provider.path
        deployment = f"/deployments/{self.model}" if self.provider.auth is Auth.API_KEY else ""
        return f"{path}/models", f"{path}{deployment}/chat/completions"

    def _sent_key(self, request: web.Request) -> str:
        return request.headers.get(self.provider.auth.value, "").removeprefix("Bearer ")

    def _models(self) -> dict[str, Any]:
        name = self.provider.listed
        told = {"id": self.model, "object": "model", "created": 0, "owned_by": self.provider.owner}
        return {"object": "list", "data": [told | ({name: self.provider.context} if name else {})]}

    def _trouble(self, request: web.Request) -> web.StreamResponse | None:
        """What comes before the body is looked at."""
        match self._faults[0] if self._faults else None:
            case RateLimited(after):
                headers = {"Retry-After": f"{after:g}"} if after is not None else {}
                answer = self._refuse(Problem(Kind.RATE), headers)
            case Failing(status):
                answer = self._refuse(Problem(Kind.FAILED, status=status))
            case Trouble.RESET:
                if request.transport is not None:
                    request.transport.abort()
                answer = web.Response()
            case _:
                return None
        self._faults.popleft()
        return answer

    def _chat(self, sent: dict[str, Any]) -> web.StreamResponse:
        body = {name: value for name, value in sent.items() if value is not None}
        problem = next(problems(self.provider, body), None) or self._unknown_model(body)
        if problem is not None:
            return self._refuse(problem)
        heeded = effective(self.provider, body)
        tokens = prompt_tokens(body)
        match self._faults.popleft() if self._faults else None:
            case Trouble.FILTERED:
                return self._refuse(Problem(Kind.FILTER))
            case Trouble.CONTEXT_EXCEEDED:
                got = {"got": self.provider.context + tokens, "most": self.provider.context}
                return self._refuse(Problem(Kind.CONTEXT, ("messages",), got))
            case Trouble.ERROR_INSIDE:
                return web.json_response(self.provider.style.render(Problem(Kind.FAILED))[1])
            case Reply() as reply:
                return web.json_response(completion(self.provider, heeded, reply, tokens))
        return web.json_response(completion(self.provider, heeded, self._said(heeded), tokens))

    def _unknown_model(self, body: dict[str, Any]) -> Problem | None:
        """Azure knows the deployment of the path alone."""
        if self.provider.auth is Auth.API_KEY or body["model"].removeprefix("models/") == self.model:
            return None
        return Problem(Kind.MODEL, ("model",), {"model": body["model"]})

    def _said(self, body: dict[str, Any]) -> Reply:
        told = body.get(self.provider.grammar or "") or ""
        literal = _LITERAL.fullmatch(told.get("grammar", "") if isinstance(told, dict) else told)
        said = literal[1] if literal else self._answer(body)
        return said if isinstance(said, Reply) else Reply(said)

    def _refuse(self, problem: Problem, headers: dict[str, str] | None = None) -> web.Response:
        self.refused.update(self.provider.style.named(problem))
        status, body = self.provider.style.render(problem)
        return web.json_response(body, status=status, headers=headers)


@asynccontextmanager
async def serve(provider: Provider, answer: Answer) -> AsyncIterator[Service]:
    """Serves on a free port; of Azure `base_url` is the endpoint, and `model` the deployment."""
    service = Service(provider, answer)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", service.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    path = "" if provider.auth is Auth.API_KEY else provider.path
    service.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}{path}"
    try:
        yield service
    finally:
        await runner.cleanup()
