"""The engine's interface, HTTP and JSON; where it is reached is `engine.app.listening`'s.

`POST /v1/…` takes and gives the dataclasses of `engine.values.messages`, `/v1/calibration/…` those of
`engine.values.calibration`,
`/v1/evaluation/…` those of `engine.values.evaluation`, `/v1/suggest` and `/v1/ask-ahead` those of
`engine.values.suggestions`;
`GET /health`, `/ready` and `/metrics`. The asker that a request names is trusted. What waits for its turn is told its
place by lines before the reply (`engine.values.queue_place`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import structlog
from aiohttp import web
from prometheus_client import generate_latest

from engine.app.asking_ahead import AskingAhead
from engine.app.console_views import ConsoleViews
from engine.app.evaluating import Evaluating
from engine.app.failures import as_reply
from engine.app.metrics import Metrics
from engine.app.service import Service
from engine.app.suggesting import Suggesting
from engine.judge.calibrating import Calibrating
from engine.values import queue_place
from engine.values.calibration import StatusRequest
from engine.values.errors import BusyError, NLError
from engine.values.evaluation import EvaluateRequest, KnownRequest, TrialRequest
from engine.values.messages import (
    AnswerRequest,
    AskReply,
    AskRequest,
    ChooseRequest,
    CorrectRequest,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    ShowRequest,
    TopicRequest,
    ViewRequest,
)
from engine.values.queue_place import Line, teller
from engine.values.suggestions import AskAheadRequest, SuggestRequest
from engine.values.tracing import SpanKind, span

_BUSY = 429
_UNAVAILABLE = frozenset({"58000", "57014", "53400", "XX000"})
"""SQLSTATEs that are answered with HTTP 503, not 400."""

log = structlog.stdlib.get_logger("engine")

Body = TypeVar("Body")
Question = TypeVar("Question", bound=AskRequest | MoreRequest | AnswerRequest | NoneRequest)


@dataclass(frozen=True, slots=True)
class EngineAPI:
    """Routes over one `Service`. `ready`: the models are loaded; questions are answered before that as well."""

    service: Service
    metrics: Metrics
    ready: asyncio.Event
    views: ConsoleViews
    calibrating: Calibrating
    evaluating: Evaluating
    suggesting: Suggesting
    ahead: AskingAhead

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(client_max_size=1024 * 1024)
        service, calibrating, evaluating = self.service, self.calibrating, self.evaluating
        verbs: tuple[tuple[str, type[Any], Callable[[Any], Awaitable[Any]]], ...] = (
            ("ask", AskRequest, self._logged(service.ask)),
            ("prompt", AskRequest, service.prompt),
            ("choose", ChooseRequest, service.choose),
            ("show", ShowRequest, service.show),
            ("more", MoreRequest, self._logged(service.more)),
            ("answer", AnswerRequest, self._logged(service.answer)),
            ("none", NoneRequest, self._logged(service.none)),
            ("plan", PlanRequest, service.plan),
            ("correct", CorrectRequest, service.correct),
            ("topic", TopicRequest, service.topic),
            ("view", ViewRequest, self.views.view),
            ("calibration/status", StatusRequest, calibrating.status),
            ("evaluation/evaluate", EvaluateRequest, evaluating.evaluate),
            ("evaluation/known", KnownRequest, evaluating.known),
            ("evaluation/trial", TrialRequest, evaluating.trials.begin),
            ("suggest", SuggestRequest, self.suggesting.suggest),
            ("ask-ahead", AskAheadRequest, self.ahead.ask),
        )
        for path, body, answer in verbs:
            app.router.add_post(f"/v1/{path}", self._verb(path.rpartition("/")[2], body, answer))
        app.router.add_get("/health", self._health)
        app.router.add_get("/ready", self._readiness)
        app.router.add_get("/metrics", self._exposition)
        return app

    def _logged(
        self, answer: Callable[[Question], Awaitable[AskReply]]
    ) -> Callable[[Question], Awaitable[AskReply]]:
        """`answer`, whose replies are counted and logged."""

        async def logged(request: Question) -> AskReply:
            reply = await answer(request)
            self.metrics.answered(reply)
            log.info(
                "question answered",
                qid=reply.qid,
                user=request.asker.user,
                rows=len(reply.rows),
                kind=reply.rows[0].kind,
                seconds=round(reply.seconds, 3),
                calls=reply.usage.calls,
                money=round(reply.usage.money, 6),
            )
            return reply

        return logged

    def _verb(
        self, name: str, body: type[Body], answer: Callable[[Body], Awaitable[Any]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(http: web.Request) -> web.StreamResponse:
            reply = _Reply(http)
            teller.set(reply.waits)
            return await reply.ended(await answered(http))

        async def answered(http: web.Request) -> web.Response:
            try:
                request = msgspec.json.decode(await http.read(), type=body)
                with span(f"engine {name}", SpanKind.SERVER, http.headers):
                    reply = await answer(request)
            except msgspec.DecodeError as problem:
                self.metrics.requests.labels(name, "malformed").inc()
                return web.json_response({"message": str(problem)}, status=400)
            except NLError as problem:
                return self._failed(name, problem)
            except Exception as problem:
                log.exception("request failed", verb=name)
                return self._failed(name, as_reply(problem))
            self.metrics.requests.labels(name, "ok").inc()
            return _json(reply, 200)

        return handle

    def _failed(self, name: str, problem: NLError) -> web.Response:
        self.metrics.requests.labels(name, problem.sqlstate).inc()
        return _json(problem.reply(), _status(problem))

    async def _health(self, _http: web.Request) -> web.Response:
        """200 while the process lives."""
        return web.json_response({"status": "ok"})

    async def _readiness(self, _http: web.Request) -> web.Response:
        """200 once models and schemas are loaded, 503 before."""
        if self.ready.is_set():
            return web.json_response({"status": "ok"})
        return web.json_response({"status": "starting"}, status=503)

    async def _exposition(self, _http: web.Request) -> web.Response:
        try:
            self.metrics.calibrated(await self.calibrating.status(StatusRequest()))
        except NLError:
            log.warning("calibration unknown")
        return web.Response(body=generate_latest(self.metrics.registry), content_type="text/plain")


class _Reply:
    """To one request: as it is, or behind the lines that told its place."""

    def __init__(self, http: web.Request) -> None:
        self._http = http
        self._lines: web.StreamResponse | None = None

    async def waits(self, before: int | None) -> None:
        """Tells its place."""
        # Of who has gone the request is cancelled.
        with suppress(ConnectionError):
            if self._lines is None:
                self._lines = web.StreamResponse(headers={"Content-Type": queue_place.CONTENT_TYPE})
                await self._lines.prepare(self._http)
            await self._lines.write(msgspec.json.encode(Line(before)) + b"\n")

    async def ended(self, reply: web.Response) -> web.StreamResponse:
        """What is to be returned for `reply`."""
        if self._lines is None:
            return reply
        assert isinstance(reply.body, bytes)  # noqa: S101 - it is our own
        await self._lines.write(msgspec.json.encode(Line(status=reply.status)) + b"\n" + reply.body)
        return self._lines


def _status(problem: NLError) -> int:
    if isinstance(problem, BusyError):
        return _BUSY
    return 503 if problem.sqlstate in _UNAVAILABLE else 400


def _json(value: object, status: int) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")
