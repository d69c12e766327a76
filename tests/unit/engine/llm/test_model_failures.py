"""A model server that is away, fails or hangs: what one call of it may take, and when none is made any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from engine.llm.circuit import Circuit, CircuitState
from engine.llm.client import ChatModel
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, ModelUnavailableError, NLError
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.ports import Prompt
from tests.chat_server import chat_server, completion
from tests.conftest import free_port

PROMPT = Prompt("You write SQL.", "One.")
SETTINGS = ModelSettings(
    grammar=GrammarSupport.EMBEDDED, circuit_failures=3, circuit_pause=60.0, circuit_patience=0.2
)


@dataclass
class Server:
    """Answers with `statuses`, one a request, the last one on and on; hangs where that is 0."""

    statuses: Sequence[int]
    headers: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def chat(self, _: web.Request) -> web.Response:
        status = self.statuses[min(self.asked, len(self.statuses) - 1)]
        self.asked += 1
        if status == 0:
            self.hanging.set()
            await self.over.wait()
        if status == 200:
            return completion("SELECT 1")
        return web.json_response({"error": {"message": "no"}}, status=status, headers=self.headers)


@asynccontextmanager
async def asking(server: Server) -> AsyncIterator[tuple[ChatModel, Circuit]]:
    circuit = Circuit(SETTINGS)
    async with chat_server(server.chat) as address:
        model = ChatModel(SETTINGS, f"{address}/v1", circuit)
        try:
            yield model, circuit
        finally:
            server.over.set()
            await model.aclose()


async def outcome(model: ChatModel, seconds: float = 10.0) -> NLError | None:
    """How a question with so much time ends; None: answered."""
    try:
        await model.complete(PROMPT, deadline=Deadline(time.monotonic() + seconds), max_tokens=9)
    except NLError as problem:
        return problem
    return None


async def test_a_server_that_hangs_takes_no_more_than_the_deadline() -> None:
    server = Server([0])
    async with asking(server) as (model, circuit):
        assert isinstance(await outcome(model, 0.3), CancelledError)
        assert server.asked == 1
        for _ in range(5):
            assert isinstance(await outcome(model, 0.05), CancelledError)
        assert circuit.state is CircuitState.CLOSED, "short budgets say nothing of the server"
        await outcome(model, 0.3)
        await outcome(model, 0.3)
        asked = server.asked
        refused = await outcome(model, 0.3)
    assert isinstance(refused, ModelUnavailableError)
    assert (refused.sqlstate, server.asked) == ("58000", asked)
    assert "3 times in a row since " in (refused.detail or "")
    assert "no answer in" in (refused.detail or "")
    assert (refused.hint or "").startswith("It is tried again in 60 seconds. Operators: ")


async def test_what_a_server_refuses_is_no_failure_of_the_server() -> None:
    server = Server([400])
    async with asking(server) as (model, circuit):
        for _ in range(5):
            assert isinstance(await outcome(model), ModelUnavailableError)
    assert (server.asked, circuit.state) == (5, CircuitState.CLOSED)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_that_fails_on_and_on_is_left_alone(status: int) -> None:
    server = Server([status], {"x-should-retry": "false"})
    async with asking(server) as (model, circuit):
        for _ in range(5):
            assert isinstance(await outcome(model), ModelUnavailableError)
        assert (server.asked, circuit.state) == (3, CircuitState.OPEN)


async def test_where_nobody_listens_a_question_fails_at_once() -> None:
    circuit = Circuit(SETTINGS)
    model = ChatModel(SETTINGS, f"http://me:hunter2@127.0.0.1:{free_port()}/v1", circuit)
    failures = [await outcome(model) for _ in range(4)]
    await model.aclose()
    assert all(isinstance(each, ModelUnavailableError) for each in failures)
    assert "3 times in a row" in str(failures[3] and failures[3].detail)
    assert "hunter2" not in str([each and each.detail for each in failures])


async def test_a_warm_up_looks_past_an_open_circuit_and_closes_it() -> None:
    server = Server([500, 500, 500, 200], {"x-should-retry": "false"})
    async with asking(server) as (model, circuit):
        for _ in range(3):
            await outcome(model)
        assert circuit.state is CircuitState.OPEN
        await model.read(PROMPT, deadline=Deadline(time.monotonic() + 10))
        assert circuit.state is CircuitState.CLOSED
        assert await outcome(model) is None


async def test_a_cancelled_probe_leaves_the_next_call_to_see() -> None:
    now = [0.0]
    server = Server([500, 500, 500, 0, 200], {"x-should-retry": "false"})

    async def ask() -> None:
        await model.complete(PROMPT, deadline=Deadline(1000.0, lambda: now[0]), max_tokens=9)

    async with asking(server) as (model, circuit):
        for _ in range(3):
            with pytest.raises(ModelUnavailableError):
                await ask()
        now[0] = 100.0
        probe = asyncio.create_task(ask(), name="probe")
        await server.hanging.wait()
        with pytest.raises(ModelUnavailableError, match="not available") as refused:
            await ask()
        assert (refused.value.hint or "").startswith("It is being tried again.")
        probe.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probe
        assert circuit.state is CircuitState.OPEN
        await ask()
        assert circuit.state is CircuitState.CLOSED
