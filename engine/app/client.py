"""The gateway's client of the engine: HTTP/JSON over a Unix socket or TCP.

Owns addressing, deadlines and the mapping of every failure to an `NLError`. Imports no model code: a proxy
worker loads this module.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeVar

import aiohttp
import msgspec

from engine.values import queue_place, tracing
from engine.values.calibration import Status, StatusRequest
from engine.values.errors import (
    CancelledError,
    EngineLostError,
    InternalError,
    ModelUnavailableError,
    NLError,
    ReportedBusyError,
    ReportedError,
)
from engine.values.evaluation import (
    EvaluateReply,
    EvaluateRequest,
    KnownQuestions,
    KnownRequest,
    TrialReply,
    TrialRequest,
)
from engine.values.messages import (
    AnswerRequest,
    AskReply,
    AskRequest,
    ChooseRequest,
    Chosen,
    CorrectRequest,
    EngineRequest,
    ErrorReply,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    PromptReply,
    RowSet,
    ShowRequest,
    TopicRequest,
    ViewRequest,
)
from engine.values.queue_place import Line, teller
from engine.values.suggestions import AskAheadRequest, AskedAhead, SuggestReply, SuggestRequest
from engine.values.tracing import SpanKind, span

if TYPE_CHECKING:
    from aiohttp.connector import AddrInfoType

EngineReply = AskReply | Chosen | RowSet
_Reply = TypeVar(
    "_Reply",
    bound=EngineReply
    | PromptReply
    | Status
    | EvaluateReply
    | KnownQuestions
    | TrialReply
    | SuggestReply
    | AskedAhead,
)
_VERBS: dict[type[EngineRequest], tuple[str, type[EngineReply]]] = {
    AskRequest: ("/v1/ask", AskReply),
    ChooseRequest: ("/v1/choose", Chosen),
    ShowRequest: ("/v1/show", AskReply),
    MoreRequest: ("/v1/more", AskReply),
    AnswerRequest: ("/v1/answer", AskReply),
    NoneRequest: ("/v1/none", AskReply),
    PlanRequest: ("/v1/plan", Chosen),
    CorrectRequest: ("/v1/correct", AskReply),
    TopicRequest: ("/v1/topic", RowSet),
}
_OK = 200
_UNAUTHORIZED = 401
_BUSY = 429
_FAILURES = frozenset({400, 503})
_READY_SECONDS = 2.0

CONNECT_SECONDS = 3.0
"""An engine that has not taken the connection by then is lost."""

_SILENT_SECONDS = 3
"""After which an engine whose machine acknowledges nothing is lost; how long it thinks is the question's affair."""

_NO_SECRET = ErrorReply(
    "28000",
    "the engine does not take this gateway's secret, or wants a certificate",
    hint="The operator should give both the same secret (secret_file in [engine], engine_secret_file in [gateway]), and"
    " the gateway a certificate (engine_tls_cert_file) where the engine has tls_ca_file.",
)

_RUNS = "The operator should see that the engine process runs. Plain SQL is not affected."

_CERTIFICATES = (
    "The operator should see that the engine process runs, and that each trusts the other's certificate: engine_ca_file"
    " in [gateway] that of the engine, tls_ca_file in [engine] engine_tls_cert_file. Plain SQL is not affected."
)


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """Where the engine listens: the path of a Unix socket, or a URL. Empty: there is none.

    What an engine on TCP wants to be shown: `secret`, the certificate of `cert_file`, or both. `ca_file`: who may have
    signed its certificate; empty: those whom the system trusts.
    """

    target: str
    secret: str = field(default="", repr=False)
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""

    @property
    def is_url(self) -> bool:
        """Whether it is reached over TCP."""
        return self.target.startswith(("http://", "https://"))


class EngineClient:
    """Asks the engine. Connects on the first request; `close` it, or leave its block, inside the same event loop.

    A cancelled call aborts its request, which the engine sees as a closed connection. `timeout`: seconds that a call
    may take in all. Every call raises `NLError`: with the fields that the engine gave (`ReportedBusyError` where it
    has no place for a question), 57014 when its time is over, `EngineLostError` where the engine does not answer.
    """

    def __init__(self, address: EngineAddress) -> None:
        self._address = address
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()

    async def ask(self, request: AskRequest, *, timeout: float) -> AskReply:  # noqa: ASYNC109 - a budget
        """The answer to a question."""
        return await self._call("/v1/ask", request, AskReply, timeout)

    async def prompt(self, request: AskRequest, *, timeout: float) -> PromptReply:  # noqa: ASYNC109 - a budget
        """What the model would be sent for a question; it is not asked."""
        return await self._call("/v1/prompt", request, PromptReply, timeout)

    async def view(self, name: str, *, timeout: float) -> RowSet:  # noqa: ASYNC109 - a budget
        """The rows of one of the console's views."""
        return await self._call("/v1/view", ViewRequest(name), RowSet, timeout)

    async def calibration(self, request: StatusRequest, *, timeout: float) -> Status:  # noqa: ASYNC109 - a budget
        """Points, thresholds and observed coverage of the calibration."""
        return await self._call("/v1/calibration/status", request, Status, timeout)

    async def evaluate(self, request: EvaluateRequest, *, timeout: float) -> EvaluateReply:  # noqa: ASYNC109 - a budget
        """What became of a question whose answer is known."""
        return await self._call("/v1/evaluation/evaluate", request, EvaluateReply, timeout)

    async def known(self, request: KnownRequest, *, timeout: float) -> KnownQuestions:  # noqa: ASYNC109 - a budget
        """Stored questions whose answer is known."""
        return await self._call("/v1/evaluation/known", request, KnownQuestions, timeout)

    async def begin_trial(self, request: TrialRequest, *, timeout: float) -> TrialReply:  # noqa: ASYNC109 - a budget
        """The catalog with a file imported, for questions that name it; nothing of it is kept in the store."""
        return await self._call("/v1/evaluation/trial", request, TrialReply, timeout)

    async def suggest(self, request: SuggestRequest, *, timeout: float) -> SuggestReply:  # noqa: ASYNC109 - a budget
        """What the language model proposes to say of a table; none of it counts yet."""
        return await self._call("/v1/suggest", request, SuggestReply, timeout)

    async def ask_ahead(self, request: AskAheadRequest, *, timeout: float) -> AskedAhead:  # noqa: ASYNC109 - a budget
        """What the language model says of the next tables of a database, or what asking it would cost."""
        return await self._call("/v1/ask-ahead", request, AskedAhead, timeout)

    async def consult(self, request: EngineRequest, *, timeout: float) -> EngineReply:  # noqa: ASYNC109 - a budget
        """The reply to a session's request."""
        path, kind = _VERBS[type(request)]
        return await self._call(path, request, kind, timeout)

    async def ready(self) -> bool:
        """Whether the engine has loaded the models and indexes of the first question; never raises `NLError`."""
        return await self._page("/ready") is not None

    async def check(self) -> None:
        """Raises `EngineLostError` where the engine, asked twice, does not say that it is there."""
        for _ in range(2):
            if await self._page("/health") is not None:
                return
        raise self._lost(TimeoutError(), sent=True)

    async def metrics(self) -> str:
        """The engine's own page for Prometheus; empty where it does not answer."""
        return await self._page("/metrics") or ""

    async def _page(self, path: str) -> str | None:
        """None where the engine does not answer, or has no such page yet."""
        try:
            async with asyncio.timeout(_READY_SECONDS), self._connected().get(self._url(path)) as response:
                return await response.text() if response.status == _OK else None
        except (aiohttp.ClientError, OSError, TimeoutError):
            return None

    async def close(self) -> None:
        """Closes the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _call(self, path: str, request: object, kind: type[_Reply], seconds: float) -> _Reply:
        with span(f"NL {path.rpartition('/')[2]}", SpanKind.CLIENT):
            return await self._answered(path, request, kind, seconds)

    async def _answered(self, path: str, request: object, kind: type[_Reply], seconds: float) -> _Reply:
        if not self._address.target:
            raise ModelUnavailableError(
                "no engine is configured", hint="Set engine in the gateway's settings and restart it."
            )
        try:
            async with asyncio.timeout(seconds):
                status, body = await self._exchange(path, request)
        except aiohttp.ConnectionTimeoutError as error:
            raise self._lost(error, sent=False) from error
        except TimeoutError as error:
            raise CancelledError(
                "the question timed out",
                detail=f"The engine did not answer within {seconds:g} seconds.",
                hint="Raise nl.timeout, or ask for fewer candidates with nl.k.",
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._lost(error, sent=not isinstance(error, aiohttp.ClientConnectorError)) from error
        return _decode(status, body, kind)

    def _lost(self, error: Exception, *, sent: bool) -> EngineLostError:
        target = self._address.target
        return EngineLostError(
            "the engine does not answer",
            detail=f"{_distrust(error) or type(error).__name__} at {target}.",
            # An engine that does not trust us only hangs up.
            hint=_CERTIFICATES if target.startswith("https://") else _RUNS,
            sent=sent,
        )

    async def _exchange(self, path: str, request: object) -> tuple[int, bytes]:
        body = msgspec.json.encode(request)
        headers = {"Content-Type": "application/json", **tracing.headers()}
        async with self._connected().post(self._url(path), data=body, headers=headers) as response:
            status = response.status
            if response.content_type == queue_place.CONTENT_TYPE:
                status = await _waited(response)
            return status, await response.read()

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            target = self._address.target
            connector = (
                aiohttp.TCPConnector(
                    limit=0,
                    ssl=self._trusted() if target.startswith("https://") else True,
                    socket_factory=_watched,
                )
                if self._address.is_url
                else aiohttp.UnixConnector(path=target, limit=0)
            )
            secret = self._address.secret
            # Deadlines of answers are the caller's; aiohttp's own five minutes would cut them.
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                trust_env=False,
                headers={"Authorization": f"Bearer {secret}"} if secret else None,
            )
        return self._session

    def _trusted(self) -> ssl.SSLContext:
        address = self._address
        context = ssl.create_default_context(cafile=address.ca_file or None)
        if address.cert_file:
            context.load_cert_chain(address.cert_file, address.key_file or None)
        return context

    def _url(self, path: str) -> str:
        base = self._address.target.rstrip("/") if self._address.is_url else "http://engine"
        return base + path


def _distrust(error: BaseException | None) -> str:
    """The reason of TLS in an error of a connection; empty where it has none."""
    while error is not None:
        if isinstance(error, ssl.SSLError) and getattr(error, "reason", None):
            return f"TLS: {error.reason}"
        error = error.__cause__ or error.__context__
    return ""


async def _waited(response: aiohttp.ClientResponse) -> int:
    """The status behind the lines that tell the request's place, each of which is passed on."""
    while True:
        line = msgspec.json.decode(await response.content.readline(), type=Line)
        if line.status is not None:
            return line.status
        await teller.get()(line.before)


def _watched(address: AddrInfoType) -> socket.socket:
    """A socket whose connection ends where the other machine is gone without a word (tcp(7))."""
    made = socket.socket(*address[:3])
    for option, value in (
        ("TCP_USER_TIMEOUT", _SILENT_SECONDS * 1000),
        ("TCP_KEEPIDLE", 1),
        ("TCP_KEEPINTVL", 1),
        ("TCP_KEEPCNT", _SILENT_SECONDS),
    ):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return made


def _decode(status: int, body: bytes, kind: type[_Reply]) -> _Reply:
    try:
        if status == _OK:
            return msgspec.json.decode(body, type=kind)
        if status == _UNAUTHORIZED:
            raise ReportedError(_NO_SECRET)
        if status == _BUSY:
            raise ReportedBusyError(msgspec.json.decode(body, type=ErrorReply))
        if status in _FAILURES:
            raise ReportedError(msgspec.json.decode(body, type=ErrorReply))
    except msgspec.MsgspecError as error:
        raise _misunderstood(status) from error
    raise _misunderstood(status)


def _misunderstood(status: int) -> NLError:
    return InternalError(
        "the engine's reply cannot be understood",
        detail=f"HTTP status {status}.",
        hint="Gateway and engine should be of the same version.",
    )
