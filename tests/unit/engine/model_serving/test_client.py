"""Calls of networks that run elsewhere, over real HTTP: what is lost is asked again, what differs is refused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from engine.core.deadline import Deadline, within
from engine.core.elements import BranchingPoint, SchemaLinks
from engine.errors import CancelledError, ModelUnavailableError
from engine.model_serving.client import (
    AT_MOST,
    ModelServer,
    ServedLinker,
    ServedReader,
    ServedSentences,
    ServedTower,
)
from engine.model_serving.messages import (
    DIFFERS,
    FINGERPRINT,
    REFUSED,
    Floats,
    LinkerRequest,
    RankerRequest,
    TextsRequest,
    TextVectors,
    decode,
    encode,
)
from engine.models.sentences import Encoded
from engine.routing.artifact import ArtifactError, Manifest
from engine.settings import EncoderSettings
from tests.conftest import free_port
from tests.support.schemas import MUSIC

Answer = Callable[[web.Request, bytes], web.StreamResponse]

LINKS = SchemaLinks(
    {("public", "singer", "*"): 0.9, ("public", "singer", "name"): 0.25},
    frozenset({("public", "singer", "*")}),
    (BranchingPoint(("public", "singer", "name"), False, (("public", "singer", "*"),)),),  # noqa: FBT003
    0.75,
)


@asynccontextmanager
async def serving(answer: Answer, **settings: Any) -> AsyncIterator[ModelServer]:
    """A client of a server that says `answer`."""
    app = web.Application()

    async def handle(request: web.Request) -> web.StreamResponse:
        return answer(request, await request.read())

    app.router.add_post("/{name}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server = ModelServer(f"http://127.0.0.1:{runner.addresses[0][1]}/", EncoderSettings(**settings), "ours")
    yield server
    server.close()
    await runner.cleanup()


def numbered(text: str) -> Encoded:
    """Vectors that tell of which text they are."""
    number = float(text.rpartition(" ")[2])
    return Encoded(np.full(4, number, np.float32), np.full((int(number) % 3, 4), -number, np.float32))


def texts_of(_: web.Request, body: bytes) -> web.Response:
    request = decode(body, TextsRequest)
    found = [numbered(text) for text in request.texts]
    if request.questions:
        return web.Response(body=encode(TextVectors.of(found)))
    sentences = Floats.of(np.stack([one.sentence for one in found]))
    return web.Response(body=encode(TextVectors(sentences, (), Floats((0,), b""))))


async def test_texts_come_back_in_their_order_however_many() -> None:
    texts = [f"text {number}" for number in range(2 * AT_MOST + 5)]
    async with serving(texts_of) as server:
        model = ServedSentences(server)
        sentences = await asyncio.to_thread(model.sentences, texts)
        questions = await asyncio.to_thread(model.questions, texts)
    assert sentences[:, 0].tolist() == [float(number) for number in range(len(texts))]
    for text, found in zip(texts, questions, strict=True):
        np.testing.assert_array_equal(found.sentence, numbered(text).sentence)
        np.testing.assert_array_equal(found.tokens, numbered(text).tokens)


async def test_a_schema_and_its_links_travel_whole() -> None:
    asked: list[LinkerRequest] = []

    def link(request: web.Request, body: bytes) -> web.Response:
        assert (request.path, request.headers[FINGERPRINT]) == ("/linker", "ours")
        asked.append(decode(body, LinkerRequest))
        return web.Response(body=encode(LINKS))

    async with serving(link) as server:
        assert await asyncio.to_thread(ServedLinker(server).link, "who sings?", MUSIC) == LINKS
    assert asked == [LinkerRequest("who sings?", MUSIC)]


async def test_a_schema_too_large_for_the_linker_has_no_links() -> None:
    async with serving(lambda *_: web.Response(body=encode(None))) as server:
        assert await asyncio.to_thread(ServedLinker(server).link, "who sings?", MUSIC) is None


async def test_a_call_that_is_lost_is_made_again() -> None:
    failures = [500, 404, 503]

    def scores(request: web.Request, body: bytes) -> web.StreamResponse:
        if failures:
            return web.Response(status=failures.pop())
        if request.transport is not None and not asked:
            asked.append(0)
            request.transport.close()
        asked.append(len(decode(body, RankerRequest).pairs))
        return web.Response(body=encode(Floats.of(np.ones((2, 2), np.float32))))

    asked: list[int] = []
    async with serving(scores) as server:
        pairs = [("who?", ("select the name",)), ("who?", ())]
        found = await asyncio.to_thread(ServedReader(server).scores, pairs)
    assert found.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert asked == [0, 2, 2]


async def test_nobody_is_asked_about_nothing() -> None:
    server = ModelServer(f"http://127.0.0.1:{free_port()}", EncoderSettings(), "ours")
    assert ServedReader(server).scores([]).shape == (0, 2)
    assert ServedTower(server, Manifest("base", "MiniLM", "2026-01-01", "a test")).questions([]) == []


async def test_away_for_too_long_is_58000_with_what_to_do() -> None:
    server = ModelServer(f"http://127.0.0.1:{free_port()}", EncoderSettings(timeout=0.2), "ours")
    with pytest.raises(ModelUnavailableError, match="the engine's linker is not available") as raised:
        await asyncio.to_thread(ServedLinker(server).link, "who sings?", MUSIC)
    assert raised.value.sqlstate == "58000"
    assert "ConnectError" in str(raised.value.detail)
    assert "base_url" in str(raised.value.hint)


async def test_a_question_waits_no_longer_than_it_has() -> None:
    server = ModelServer(f"http://127.0.0.1:{free_port()}", EncoderSettings(timeout=60.0), "ours")
    with within(Deadline(time.monotonic() + 0.2)), pytest.raises(CancelledError):
        await asyncio.to_thread(ServedLinker(server).link, "who sings?", MUSIC)


async def test_networks_of_another_release_are_refused_at_once() -> None:
    async with serving(lambda *_: web.Response(status=DIFFERS, text="of another release")) as server:
        with pytest.raises(ModelUnavailableError, match="is not this engine's") as raised:
            await asyncio.to_thread(ServedSentences(server).sentences, ["text 1"])
    assert "of another release" in str(raised.value.detail)


async def test_a_router_version_that_is_not_there_is_told() -> None:
    async with serving(lambda *_: web.Response(status=REFUSED, text='no router version "new"')) as server:
        tower = ServedTower(server, Manifest("new", "MiniLM", "2026-01-01", "a test"))
        with pytest.raises(ArtifactError, match="new"):
            await asyncio.to_thread(tower.questions, ["who?"])
