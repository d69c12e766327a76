"""The gateway's client and the engine's interface speak of the same things, over a real socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import asyncpg
import pytest
from aiohttp import web

from engine.app.admission import Admission
from engine.app.client import _VERBS, EngineAddress, EngineClient
from engine.app.endpoints import EngineAPI
from engine.app.failures import as_reply
from engine.app.metrics import Metrics
from engine.app.question_store import Questions
from engine.app.service import Service
from engine.values.errors import InvalidSettingError, NLError, StaleDialogueError
from engine.values.messages import (
    AnswerRequest,
    AnswerRow,
    Asker,
    AskReply,
    ChooseRequest,
    CorrectRequest,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    RowKind,
    ShowRequest,
    Topic,
    TopicRequest,
)
from engine.values.queue_place import teller
from engine.values.settings import Limits
from schema_catalog.catalog import CachedCatalog, StoreUnavailableError
from schema_catalog.store import CatalogStore
from tests.support.tools import bare_tools

ANA = Asker("ana", "music")


class Scripted(Service):
    """Repeats what it hears; has one option, and a dialogue `old` whose catalog has changed."""

    def __init__(self) -> None:
        self.admission = Admission(places=1)
        self.asked = asyncio.Semaphore(0)
        self.end = asyncio.Event()

    async def answer(self, request: AnswerRequest) -> AskReply:
        if request.qid == "old":
            raise StaleDialogueError("the catalog has changed", hint="Ask again.")
        if request.n is not None and request.n > 1:
            raise InvalidSettingError("there is no option 2", hint="NL SHOW")
        return _said(f"{request.qid} {request.n} {request.text} {request.timeout}")

    async def more(self, request: MoreRequest) -> AskReply:
        self.asked.release()
        async with self.admission.place(request.qid, 100.0):
            await self.end.wait()
        if request.qid == "q3":
            raise StaleDialogueError("the catalog has changed", hint="Ask again.")
        return _said(request.qid)

    async def none(self, request: NoneRequest) -> AskReply:
        return _said(f"{request.qid} {request.why} {request.timeout}")


def _said(words: str) -> AskReply:
    row = AnswerRow(1, RowKind.OPTION, None, None, words, None, "NL ANSWER 1 OF 'q2'", "q2")
    return AskReply("q2", (row,))


def interface(service: Scripted | None = None) -> web.Application:
    # Neither a view, nor the calibration, nor an evaluation is asked for.
    views = cast("Any", SimpleNamespace(view=None))
    calibrating = cast("Any", SimpleNamespace(status=None))
    evaluating = cast("Any", SimpleNamespace(evaluate=None, known=None, trials=SimpleNamespace(begin=None)))
    suggesting = cast("Any", SimpleNamespace(suggest=None))
    ahead = cast("Any", SimpleNamespace(ask=None))
    return EngineAPI(
        service or Scripted(), Metrics(), asyncio.Event(), views, calibrating, evaluating, suggesting, ahead
    ).application()


@pytest.fixture
def service() -> Scripted:
    return Scripted()


@pytest.fixture
async def client(tmp_path: Path, service: Scripted) -> AsyncIterator[EngineClient]:
    runner = web.AppRunner(interface(service))
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "e.sock")).start()
    async with EngineClient(EngineAddress(str(tmp_path / "e.sock"))) as made:
        yield made
    await runner.cleanup()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (AnswerRequest(ANA, "q1", n=1, timeout=5.0), "q1 1 None 5.0"),
        (NoneRequest(ANA, "q1", "old", 5.0), "q1 old 5.0"),
    ],
)
async def test_a_turn(client: EngineClient, request_: AnswerRequest | NoneRequest, said: str) -> None:
    assert await client.consult(request_, timeout=10.0) == _said(said)


@pytest.mark.parametrize(
    ("request_", "sqlstate", "hint"),
    [
        (AnswerRequest(ANA, "q1", n=2), "22023", "NL SHOW"),
        (AnswerRequest(ANA, "old", n=1), "NL004", "Ask again."),
    ],
)
async def test_a_refusal_arrives_whole(
    client: EngineClient, request_: AnswerRequest, sqlstate: str, hint: str
) -> None:
    with pytest.raises(NLError) as problem:
        await client.consult(request_, timeout=10.0)
    assert (problem.value.sqlstate, problem.value.hint) == (sqlstate, hint)


async def test_who_waits_is_told_its_place_before_the_reply(client: EngineClient, service: Scripted) -> None:
    told: asyncio.Queue[int | None] = asyncio.Queue()
    teller.set(told.put)
    asked = []
    for qid in ("q1", "q2", "q3"):
        asked.append(asyncio.create_task(client.consult(MoreRequest(ANA, qid), timeout=30.0)))
        await service.asked.acquire()
    assert sorted([await told.get(), await told.get()], key=str) == [0, 1]
    service.end.set()
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert outcomes[:2] == [_said("q1"), _said("q2")]
    # An error behind its place has all of its fields.
    assert isinstance(outcomes[2], NLError)
    assert (outcomes[2].sqlstate, outcomes[2].hint) == ("NL004", "Ask again.")
    assert {told.get_nowait() for _ in range(told.qsize())} >= {None}


async def test_every_request_has_its_route() -> None:
    routes = {resource.canonical for resource in interface().router.resources()}
    assert {path for path, _ in _VERBS.values()} <= routes


@pytest.mark.parametrize(
    ("problem", "sqlstate"),
    [
        (asyncpg.DiskFullError("no room"), "58000"),
        (asyncpg.CannotConnectNowError("starting"), "58000"),
        (asyncpg.InterfaceError("closed"), "58000"),
        (ConnectionResetError(), "58000"),
        (FileNotFoundError(2, "no socket"), "58000"),
        (PermissionError(13, "no right to the socket"), "58000"),
        (socket.gaierror(-2, "no such host"), "58000"),
        (TimeoutError(), "58000"),
        (StoreUnavailableError("a secret"), "58000"),
        (asyncpg.InternalClientError("a secret"), "58000"),
        (asyncpg.InvalidPasswordError("no such password"), "58000"),
        (asyncpg.InvalidCatalogNameError("no such database"), "58000"),
        (asyncpg.InsufficientPrivilegeError("a secret"), "58000"),
        (asyncpg.ReadOnlySQLTransactionError("a standby"), "58000"),
        (asyncpg.DataCorruptedError("a secret"), "58000"),
        (asyncpg.UniqueViolationError("a secret"), "XX000"),
        (asyncpg.UndefinedTableError("a secret"), "XX000"),
        (ValueError("a secret"), "XX000"),
    ],
)
def test_a_store_in_trouble_is_told_from_a_fault_of_ours(problem: Exception, sqlstate: str) -> None:
    reply = as_reply(problem).reply()
    assert (reply.sqlstate, "secret" in f"{reply.message} {reply.detail} {reply.hint}") == (sqlstate, False)


VERBS: dict[str, Callable[[Service], Awaitable[object]]] = {
    "answer": lambda service: service.answer(AnswerRequest(ANA, "q2", 1)),
    "none": lambda service: service.none(NoneRequest(ANA, "q2")),
    "more": lambda service: service.more(MoreRequest(ANA, "q2")),
    "choose": lambda service: service.choose(ChooseRequest(ANA, "q2", 1)),
    "plan": lambda service: service.plan(PlanRequest(ANA, "q2", 1)),
    "correct": lambda service: service.correct(CorrectRequest(ANA, "q2", "SELECT 1")),
    "show": lambda service: service.show(ShowRequest(ANA, "q2")),
    **{topic: lambda service, topic=topic: service.topic(TopicRequest(ANA, topic, "q2")) for topic in Topic},
}


@pytest.mark.parametrize("verb", VERBS)
async def test_without_the_store_every_verb_says_what_to_do(tmp_path: Path, verb: str) -> None:
    pool = asyncpg.create_pool(f"postgresql://u@/d?host={tmp_path}", min_size=0)
    tools = replace(bare_tools(), catalog=CachedCatalog(CatalogStore(pool)))
    await pool
    try:
        if verb == Topic.HELP:
            assert await VERBS[verb](Service(tools, Questions(pool), Limits()))
            return
        with pytest.raises(Exception) as failed:  # noqa: PT011  whatever comes, the endpoint makes it an error
            await VERBS[verb](Service(tools, Questions(pool), Limits()))
    finally:
        await pool.close()
    problem = failed.value
    reply = (problem if isinstance(problem, NLError) else as_reply(cast("Exception", problem))).reply()
    assert (reply.sqlstate, bool(reply.hint)) == ("58000", True)
