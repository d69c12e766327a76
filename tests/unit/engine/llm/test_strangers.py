"""A model service is a stranger: whatever it replies is an answer, or 58000 with its name, and the next is asked."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from engine.llm.client import ChatModel
from engine.llm.fallback import FallbackModel
from engine.llm.replies import readings
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, ModelAwayError, NLError
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.ports import Prompt
from tests.chat_server import chat_server, completion

SETTINGS = ModelSettings(grammar=GrammarSupport.EMBEDDED, api_key="k-secret", circuit_failures=0)
PROMPT = Prompt("You write SQL.", "One.")
MESSAGE = {"role": "assistant", "content": "SELECT 1"}
TOKEN = {"token": "a", "logprob": -0.1, "bytes": None, "top_logprobs": []}
PAGE = "<html><title>intranet</title>" + "payroll of everybody \x1b[31m\u202e" * 200


def http(body: bytes, status: str = "200 OK", *headers: str, length: int | None = None) -> bytes:
    lines = (
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body) if length is None else length}",
        *headers,
    )
    return "\r\n".join((*lines, "Connection: close", "", "")).encode() + body


def reply(**changes: Any) -> bytes:
    """A chat completion whose only choice has these `changes`."""
    return said(choices=[{"index": 0, "finish_reason": "stop", "message": MESSAGE} | changes])


def said(**changes: Any) -> bytes:
    whole = {"id": "1", "choices": [{"finish_reason": "stop", "message": MESSAGE}]} | changes
    return http(json.dumps(whole).encode())


def token(**changes: Any) -> bytes:
    return reply(logprobs={"content": [TOKEN | changes]})


WHOLE = json.dumps({"choices": [{"message": MESSAGE}]}).encode()
ZEROES = gzip.compress(json.dumps({"choices": [{"message": {"content": " " * 50_000_000}}]}).encode())

BAD = {
    "nothing at all": b"",
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "an empty body": http(b""),
    "a page": http(PAGE.encode()),
    "a page with 500": http(PAGE.encode(), "500 Internal Server Error"),
    "an endless page with 502": http(b"x" * 3_000_000, "502 Bad Gateway"),
    "half of the JSON": http(WHOLE[:-9]),
    "something behind the JSON": http(WHOLE + b"}"),
    "NaN": http(WHOLE[:-1] + b', "usage": {"prompt_tokens": NaN}}'),
    "an infinite number": http(WHOLE[:-1] + b', "usage": {"prompt_tokens": 1e999}}'),
    "a huge number": http(WHOLE[:-1] + b', "usage": {"prompt_tokens": ' + b"9" * 300 + b"}}"),
    "a number that is no int": http(WHOLE[:-1] + b', "usage": {"prompt_tokens": ' + b"9" * 9000 + b"}}"),
    "no UTF-8": http(WHOLE.replace(b"SELECT", b"\xff\xfe\xc0")),
    "brackets": http(b"[" * 1_000_000),
    "braces": http(b'{"a":' * 300_000),
    "a stream": http(b"data: " + WHOLE + b"\n\ndata: [DONE]\n\n", "200 OK", "X: text/event-stream"),
    "less than was told": http(WHOLE, length=len(WHOLE) + 100),
    "more than may be": http(b" " * 3_000_000 + WHOLE),
    "chunks without an end": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"10000\r\n" + b" " * 0x10000 + b"\r\n",
    "chunks that are none": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "packed": http(ZEROES, "200 OK", "Content-Encoding: gzip"),
    "packed in an unknown way": http(WHOLE, "200 OK", "Content-Encoding: br, gzip, x"),
    "headers without an end": b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * 1_000_000,
    "null": http(b"null"),
    "a number": http(b"1"),
    "a text": http(b'"SELECT 1"'),
    "a list": http(b"[]"),
    "an error": said(choices=None, error={"message": PAGE}),
    "no choices": said(choices=[]),
    "choices that are none": said(choices={"0": MESSAGE}),
    "a choice that is none": said(choices=["SELECT 1"]),
    "null for a choice": said(choices=[None]),
    "usage that is none": said(usage=[]),
    "a negative number": said(usage={"prompt_tokens": -1}),
    "a text for a number": said(usage={"prompt_tokens": "10"}),
    "details that are none": said(usage={"prompt_tokens_details": 3}),
    "no message": reply(message=None),
    "a message that is none": reply(message="SELECT 1"),
    "a number for the content": reply(message={"content": 1}),
    "a list for the content": reply(message={"content": [1]}),
    "a number for the refusal": reply(message={"content": "a", "refusal": 1}),
    "calls that are none": reply(message={"tool_calls": 1}),
    "a call that is none": reply(message={"tool_calls": [1]}),
    "arguments that are none": reply(message={"tool_calls": [{"function": {"arguments": {}}}]}),
    "an answer without an end": reply(message={"content": "a" * 1_000_000}),
    "an end that is none": reply(finish_reason=["stop"]),
    "likelihoods that are none": reply(logprobs=[]),
    "tokens that are none": reply(logprobs={"content": ["a"]}),
    "a token without a text": token(token=None),
    "a token without a likelihood": token(logprob=None),
    "a likelihood above all": token(logprob=1e308),
    "others that are none": token(top_logprobs=[1]),
    "bytes that are none": token(bytes="a"),
    **{
        f"a redirect ({status})": http(b"", f"{status} Elsewhere", "Location: {elsewhere}")
        for status in (301, 302, 303, 307, 308)
    },
}


@asynccontextmanager
async def sending(raw: bytes, *, endless: bool = False) -> AsyncIterator[str]:
    """A server that answers every request with `raw`, over and over where it is `endless`."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(raw)
            await writer.drain()
            while endless:
                writer.write(raw.partition(b"\r\n\r\n")[2])
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def asked(*addresses: str, settings: ModelSettings = SETTINGS, seconds: float = 30.0) -> str | NLError:
    models = [ChatModel(settings, each) for each in addresses]
    try:
        deadline = Deadline(time.monotonic() + seconds)
        return (await FallbackModel(models).complete(PROMPT, deadline=deadline, max_tokens=9)).text
    except NLError as problem:
        return problem
    finally:
        for each in models:
            await each.aclose()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.llm.refusals.AGAIN_SECONDS", 0.0)


@pytest.mark.parametrize(
    "settings", [SETTINGS, ModelSettings(circuit_failures=0)], ids=["a call", "found out"]
)
@pytest.mark.parametrize("case", BAD)
async def test_a_bad_reply_is_the_services_failure_and_the_next_one_is_asked(
    case: str, settings: ModelSettings
) -> None:
    followed = list[str]()

    async def chat(request: Any) -> Any:
        followed.append(request.path)
        return completion("SELECT 2")

    async with chat_server(chat) as good:
        raw = BAD[case].replace(b"{elsewhere}", f"{good}/v1/chat/completions".encode())
        async with sending(raw, endless=case == "chunks without an end") as bad:
            problem = await asked(bad, settings=settings)
            assert not followed
            assert isinstance(problem, ModelAwayError), problem
            assert await asked(bad, f"{good}/v1", settings=settings) == "SELECT 2"
    detail = problem.detail or ""
    assert detail.startswith(f"{bad.split('/')[2]}: ")
    words = detail.partition(": ")[2]
    assert 0 < len(words) <= 200
    assert words.isprintable()


async def test_a_reply_that_drips_ends_with_the_questions_time() -> None:
    dripping = http(b"", length=1_000)
    over = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(dripping + b" ")
        await over.wait()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        assert isinstance(await asked(address, seconds=0.3), CancelledError)
        over.set()


async def test_a_packed_reply_is_never_unpacked() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with sending(BAD["packed"]) as bad:
        assert isinstance(await asked(bad), ModelAwayError)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000, "KiB"


async def test_a_service_gets_no_cookie_back() -> None:
    got = list[str | None]()

    async def chat(request: Any) -> Any:
        got.append(request.headers.get("Cookie"))
        answer = completion("SELECT 1")
        answer.set_cookie("tracked", "ana")
        return answer

    async with chat_server(chat) as address:
        model = ChatModel(SETTINGS, f"{address}/v1")
        for _ in range(2):
            await model.complete(PROMPT, deadline=Deadline(time.monotonic() + 30), max_tokens=9)
        await model.aclose()
    assert got == [None, None]


@pytest.mark.parametrize(
    "body",
    [b"[]", b'{"data": 1}', b'{"data": [1, null]}', b"<html>", b"[" * 100_000],
    ids=["list", "number", "numbers", "page", "brackets"],
)
async def test_a_list_of_models_that_is_none_lists_none(body: bytes) -> None:
    async with sending(http(body)) as bad:
        model = ChatModel(SETTINGS, bad)
        assert await model.models() == ()
        await model.aclose()


@pytest.mark.parametrize("sign", ["/*", "{", '{"', "+"])
async def test_the_loop_goes_on_while_a_reply_is_read(sign: str) -> None:
    async with sending(reply(message={"content": "SELECT " + sign * (200_000 // len(sign) - 7)})) as good:
        longest, before, over = 0.0, time.perf_counter(), False

        async def tick() -> None:
            nonlocal longest, before
            while not over:
                await asyncio.sleep(0)
                longest, before = max(longest, time.perf_counter() - before), time.perf_counter()

        ticking = asyncio.create_task(tick(), name="tick")
        text = await asked(good)
        assert isinstance(text, str)
        await asyncio.to_thread(readings, text)
        over = True
        await ticking
    assert longest < 1.0, "seconds; two quadratic readers took 6.5 and 17.8"
