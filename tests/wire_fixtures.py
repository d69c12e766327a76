"""A real server, a scripted engine on a Unix socket, and a gateway between client and server.

A conftest that wants these fixtures imports them; a folder of tests shares one server.
"""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import psycopg
import pytest
import uvloop
from aiohttp import web

from engine.values import queue_place
from engine.values.messages import (
    ANSWER_COLUMNS,
    AnswerRequest,
    AnswerRow,
    AskReply,
    AskRequest,
    ChooseRequest,
    Chosen,
    CorrectRequest,
    ErrorReply,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    ResultColumn,
    RowKind,
    RowSet,
    ShowRequest,
    Topic,
    TopicRequest,
)
from engine.values.queue_place import Line
from pgparley.cluster import Cluster
from proxy.net.worker.worker import Worker
from proxy.settings import AuditSettings, GatewaySettings
from tests.conftest import Postgres

_T = TypeVar("_T")
USER = "analyst"
WAIT = "wait for ever"
"""The question, and the answer to a question back, that the engine never answers."""

IN_LINE = "in line"
"""The question that waits for its turn: two come before it."""

BACK = "Which name is meant?"
"""The question back."""

NO_AUDIT = AuditSettings()

_OPEN_QID = "q7"
_OPTIONS = 2


class LoopThread:
    """An event loop in a thread, so that blocking clients can talk to what runs in it."""

    def __init__(self) -> None:
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Runs `work` in the loop and waits for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def close(self) -> None:
        """Stops the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@dataclass
class FakeEngine:
    """Answers by the question's first word; remembers what it was asked."""

    asked: list[AskRequest] = field(default_factory=list)
    chosen: list[ChooseRequest] = field(default_factory=list)
    shown: list[ShowRequest] = field(default_factory=list)
    others: list[MoreRequest | AnswerRequest | NoneRequest | PlanRequest | CorrectRequest | TopicRequest] = (
        field(default_factory=list)
    )
    statement: str | None = None
    """What candidate 1 is in place, None for three rows."""
    waiting: threading.Event = field(default_factory=threading.Event)
    aborted: threading.Event = field(default_factory=threading.Event)

    def app(self) -> web.Application:
        """The interface of the real engine."""
        app = web.Application()
        app.add_routes(
            [
                web.post("/v1/ask", self._ask),
                web.post("/v1/choose", self._choose),
                web.post("/v1/show", self._show),
                web.post("/v1/more", self._more),
                web.post("/v1/answer", self._answer),
                web.post("/v1/none", self._none),
                web.post("/v1/plan", self._plan),
                web.post("/v1/correct", self._correct),
                web.post("/v1/topic", self._tell),
                web.get("/health", self._health),
            ]
        )
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        asked = _given(msgspec.json.decode(await request.read(), type=AskRequest))
        self.asked.append(asked)
        if asked.question == IN_LINE:
            return await self._in_line(request, _reply(self.answer(asked.question)))
        if asked.question == WAIT:
            await self._wait()
        if asked.question.startswith("no route"):
            return _failure(
                400, ErrorReply("NL003", "no database can answer this", "None matched.", "Try another.")
            )
        if asked.question.startswith("broken"):
            return web.Response(text="not json")
        return _reply(self.answer(asked.question))

    async def _in_line(self, request: web.Request, reply: web.Response) -> web.StreamResponse:
        lines = web.StreamResponse(headers={"Content-Type": queue_place.CONTENT_TYPE})
        await lines.prepare(request)
        for line in (Line(2), Line(1), Line(None), Line(status=reply.status)):
            await lines.write(msgspec.json.encode(line) + b"\n")
        assert isinstance(reply.body, bytes)
        await lines.write(reply.body)
        return lines

    async def _wait(self) -> None:
        self.aborted.clear()
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.waiting.clear()
            self.aborted.set()

    @staticmethod
    def answer(question: str) -> AskReply:
        """Two candidates whose explanation repeats the question; an abstention for `unknown …`.

        `single …` has one candidate, `far …` one that belongs to another database; `which …` is asked back, as qid q7.
        """
        if question.startswith("which"):
            return asked_back(_OPEN_QID)
        if question.startswith("unknown"):
            row = AnswerRow(1, RowKind.ABSTAIN, None, None, "nothing fits", None, None, "q9")
            return AskReply("q9", (row,))
        qid = "q2" if question.startswith("second") else "q1"
        if question.startswith(("single", "far")):
            n = 1 if question.startswith("single") else 2
            row = AnswerRow(n, RowKind.CANDIDATE, "sales", 0.9, question, "SELECT 1", None, qid)
            return AskReply(qid, (row,), members=1)
        rows = tuple(
            AnswerRow(
                n,
                RowKind.CANDIDATE,
                "sales",
                1 - n / 4,
                question,
                f"SELECT '{n}''\\ ü' AS \"x\"",
                f"NL CHOOSE {n} OF '{qid}'",
                qid,
            )
            for n in (1, 2)
        )
        return AskReply(qid, rows, members=2)

    async def _choose(self, request: web.Request) -> web.Response:
        asked = msgspec.json.decode(await request.read(), type=ChooseRequest)
        self.chosen.append(asked)
        if asked.qid == _OPEN_QID:
            return _failure(400, waits_for_answer(asked.qid))
        if asked.qid not in ("q1", "q2", "q3"):
            return _failure(400, ErrorReply("NL004", "unknown or expired question", None, "Ask again."))
        if asked.n == 1:
            sql = self.statement or "SELECT g AS a, g::text AS b FROM generate_series(1, 3) g;"
            return _reply(Chosen("here", sql, in_place=True))
        columns = (ResultColumn('na"me', "text"), ResultColumn("born", "date"), ResultColumn("data", "jsonb"))
        rows = (("Zoë", "1980-02-03", '{"a": [1]}'), (None, None, None))
        return _reply(
            Chosen(
                "elsewhere", "SELECT …", in_place=False, columns=columns, rows=rows, truncated=asked.n == 3
            )
        )

    async def _show(self, request: web.Request) -> web.Response:
        self.shown.append(msgspec.json.decode(await request.read(), type=ShowRequest))
        return _reply(self.answer("shown"))

    async def _more(self, request: web.Request) -> web.Response:
        self.others.append(_given(msgspec.json.decode(await request.read(), type=MoreRequest)))
        return _reply(self.answer("second more"))

    async def _answer(self, request: web.Request) -> web.Response:
        asked = _given(msgspec.json.decode(await request.read(), type=AnswerRequest))
        self.others.append(asked)
        if asked.qid != _OPEN_QID:
            return _failure(400, ErrorReply("NL004", "unknown or expired question", None, "Ask again."))
        if asked.n is not None and asked.n > _OPTIONS:
            return _failure(400, ErrorReply("22023", f"there is no option {asked.n}", None, "NL SHOW."))
        if asked.text == WAIT:
            await self._wait()
        return _reply(self.answer("second " + (asked.text or f"option {asked.n}")))

    async def _none(self, request: web.Request) -> web.Response:
        asked = _given(msgspec.json.decode(await request.read(), type=NoneRequest))
        self.others.append(asked)
        return _reply(self.answer("which" if asked.why else "second after none"))

    async def _plan(self, request: web.Request) -> web.Response:
        asked = msgspec.json.decode(await request.read(), type=PlanRequest)
        self.others.append(asked)
        if asked.qid == _OPEN_QID:
            return _failure(400, waits_for_answer(asked.qid))
        if asked.n == 1:
            return _reply(Chosen("here", "EXPLAIN SELECT 1 AS a", in_place=True))
        columns = (ResultColumn("QUERY PLAN", "text"),)
        return _reply(Chosen("far", "SELECT 1", in_place=False, columns=columns, rows=(("Result",),)))

    async def _correct(self, request: web.Request) -> web.Response:
        asked = msgspec.json.decode(await request.read(), type=CorrectRequest)
        self.others.append(asked)
        if "drop" in asked.sql.lower():
            return _failure(400, ErrorReply("NL005", "the correction is refused", "It drops.", None))
        row = AnswerRow(3, RowKind.VERIFIED, "sales", None, "as told", asked.sql, None, asked.qid)
        return _reply(AskReply(asked.qid, (row,)))

    async def _tell(self, request: web.Request) -> web.Response:
        asked = msgspec.json.decode(await request.read(), type=TopicRequest)
        self.others.append(asked)
        return _reply(RowSet(TOLD[asked.topic]))


TOLD: dict[Topic, tuple[tuple[Any, ...], ...]] = {
    Topic.EXPLAIN: (("meaning", "number of rows"), ("database", "sales")),
    Topic.WHY: (("route", "chosen", "it's sales", 0.25), ("judge", "SELECT 1", "", None)),
    Topic.PROMPT: ((1, "system", "You write SQL."), (1, "user", "how many?\nÜ")),
    Topic.HISTORY: (("2026-01-02T03:04:05+00:00", "q1", "how many", 2, 1, None),),
    Topic.FORGET: ((1,),),
}
"""What the engine tells about each topic."""


_Question = TypeVar("_Question", AskRequest, AnswerRequest, NoneRequest, MoreRequest)


def _given(asked: _Question) -> _Question:
    """The request without a timeout that is the gateway's own."""
    own = GatewaySettings("").nl_timeout
    return replace(asked, timeout=None) if asked.timeout == own else asked


def asked_back(qid: str) -> AskReply:
    """An answer that asks back: two options and the asker's own words."""
    options = ("the artist's own name: Zoë", "the stage name: Zed")
    rows = tuple(
        AnswerRow(
            n,
            RowKind.OPTION,
            "sales",
            0.5,
            f"{BACK}\n{option}",
            None,
            f"NL ANSWER {n} OF '{qid}'",
            qid,
        )
        for n, option in enumerate(options, 1)
    )
    own = f"NL ANSWER $$in your own words$$ OF '{qid}'"
    last = AnswerRow(3, RowKind.OPTION, None, None, f"{BACK}\nsomething else", None, own, qid)
    return AskReply(qid, (*rows, last))


def shortened(rows: tuple[AnswerRow, ...]) -> tuple[AnswerRow, ...]:
    """The rows as a client sees them whose last answer they are."""
    return tuple(replace(row, next=row.next and row.next.removesuffix(f" OF '{row.qid}'")) for row in rows)


NAMES = [name for name, _ in ANSWER_COLUMNS]
"""Of an answer's columns."""

CURSORS = {"simple": psycopg.ClientCursor, "extended": psycopg.Cursor, "text": psycopg.RawCursor}
"""psycopg's by the protocol that they speak."""


def expected(gateway: Gateway, question: str) -> list[tuple[Any, ...]]:
    """The rows that a client gets to a question."""
    rows = shortened(gateway.engine.answer(question).rows)
    return [tuple(getattr(row, name) for name in NAMES) for row in rows]


def refusal(connection: psycopg.Connection[Any], statement: str) -> psycopg.Error:
    """The error of a statement."""
    with pytest.raises(psycopg.Error) as error:
        connection.execute(statement.encode())
    return error.value


def psql(dsn: str, *words: str, script: str | None = None) -> subprocess.CompletedProcess[str]:
    """Psql with a script or the arguments of a command."""
    command = ["/usr/bin/psql", "-X", "-A", "-t", dsn, *words]
    return subprocess.run(command, input=script, capture_output=True, text=True, check=False, timeout=30)  # noqa: S603


def waits_for_answer(qid: str) -> ErrorReply:
    """What the engine says to a choice from an answer that waits."""
    return ErrorReply("NL001", "the question waits for an answer", None, f"NL ANSWER n OF '{qid}'")


def _reply(value: AskReply | Chosen | RowSet) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


def _failure(status: int, error: ErrorReply) -> web.Response:
    return web.Response(body=msgspec.json.encode(error), status=status, content_type="application/json")


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running gateway and what stands on both sides of it."""

    cluster: Cluster
    worker: Worker
    port: int
    engine: FakeEngine
    loop: LoopThread

    def dsn(self, user: str = USER, dbname: str = "wire", **more: str) -> str:
        """A connection string through the gateway."""
        words = {"host": "127.0.0.1", "port": str(self.port), "user": user, "dbname": dbname, **more}
        return " ".join(f"{key}={value}" for key, value in words.items())

    def direct(self, user: str = USER, dbname: str = "wire") -> str:
        """A connection string past the gateway."""
        return f"host={self.cluster.socket_dir} port={self.cluster.port} user={user} dbname={dbname}"


@pytest.fixture(scope="session")
def loop_thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture(scope="session")
def wire_cluster(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("wire") as running:
        with psycopg.connect(running.dsn(), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {USER} LOGIN PASSWORD 'secret'")
            connection.execute("CREATE ROLE scram LOGIN PASSWORD 'pa:ss-wörd'")
            connection.execute("CREATE DATABASE wire OWNER " + USER)
        yield running


@pytest.fixture(scope="session")
def start_gateway(
    wire_cluster: Cluster, loop_thread: LoopThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Gateway]]:
    """Starts gateways that differ in their settings; `engine` is scripted unless an address is given."""
    closers: list[Coroutine[Any, Any, None]] = []

    def start(engine: str | None = None, audit: AuditSettings = NO_AUDIT, **changes: Any) -> Gateway:
        fake = FakeEngine()
        if engine is None:
            engine = str(tmp_path_factory.mktemp("engine") / "s")
            runner = web.AppRunner(fake.app(), shutdown_timeout=0.1, handler_cancellation=True)
            loop_thread.run(_listen(runner, Path(engine)))
            closers.append(runner.cleanup())
        address = {"upstream_host": str(wire_cluster.socket_dir), "upstream_port": wire_cluster.port}
        settings = GatewaySettings(
            **{**address, "listen_port": 0, "engine": engine, "shutdown_grace": 0.0, **changes}
        )
        worker = loop_thread.run(_started(settings, audit))
        closers.append(worker.stop())
        return Gateway(wire_cluster, worker, worker.port, fake, loop_thread)

    yield start
    for closer in reversed(closers):
        loop_thread.run(closer)


async def _started(settings: GatewaySettings, audit: AuditSettings) -> Worker:
    worker = Worker(settings, audit=audit)
    await worker.start()
    return worker


async def _listen(runner: web.AppRunner, path: Path) -> None:
    await runner.setup()
    await web.UnixSite(runner, str(path)).start()


@pytest.fixture(scope="session")
def gateway(start_gateway: Callable[..., Gateway]) -> Gateway:
    """The gateway that most tests share."""
    return start_gateway()
