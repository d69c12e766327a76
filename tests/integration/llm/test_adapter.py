"""The adapter that comes along, on the real embedded model: it acts where it is asked for, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.llm.embedded.chat import chat_tokens, plain_tokens
from engine.llm.embedded.runtime import Runtime
from engine.llm.embedded.scheduler import Generated, Request, Scheduler
from engine.llm.model_file import QWEN_CODER_1_5B
from engine.llm.settings import EmbeddedModelSettings
from engine.prompting.prompts import prompt
from pgparley.config import cache_dir, load

pytestmark = [
    pytest.mark.llm,
    pytest.mark.timeout(300),
    pytest.mark.skipif(load(None, {}).embedded_model.adapter is None, reason="no adapter was trained"),
]

SCHEMA = "singer(singer_id int PK, name text, country text, age int)\nconcert(concert_id int PK, title text, year int)"
SETTINGS = EmbeddedModelSettings(
    cache_dir() / "models" / QWEN_CODER_1_5B.name, context=2048, adapter=load(None, {}).embedded_model.adapter
)


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    loaded = await asyncio.to_thread(Runtime, SETTINGS)
    yield loaded
    loaded.close()


@pytest.fixture
async def scheduler(runtime: Runtime) -> AsyncIterator[Scheduler]:
    made = Scheduler(runtime)
    yield made
    made.close()


def asked(runtime: Runtime, question: str, *, adapted: bool) -> Request:
    user = prompt("generate_user", schema=SCHEMA, values="", question=question)
    tokens = chat_tokens(runtime, prompt("generate_system"), user, "```sql\n")
    return Request(tuple(tokens), max_tokens=24, top=5, adapted=adapted)


async def test_it_acts_from_the_question_on(runtime: Runtime, scheduler: Scheduler) -> None:
    question = "What are the names of the singers from France?"
    with_it, without = (asked(runtime, question, adapted=each) for each in (True, False))
    schema = plain_tokens(with_it.prompt, runtime.invocation)
    assert runtime.tokenize("### Question\n") == list(runtime.invocation)
    assert len(with_it.prompt) - 40 < schema < len(with_it.prompt)
    adapted = await scheduler.submit(with_it)
    plain = await scheduler.submit(without)
    assert plain.cached == schema, "what stands before the question is computed once"
    assert adapted.logprobs != plain.logprobs
    again = [await scheduler.submit(each) for each in (with_it, without)]
    assert [each.cached for each in again] == [len(with_it.prompt) - 1] * 2
    for first, second in zip((adapted, plain), again, strict=True):
        assert first.logprobs[:4] == pytest.approx(second.logprobs[:4], abs=0.1)


async def test_both_at_once_answer_as_alone(runtime: Runtime, scheduler: Scheduler) -> None:
    question = "How many concerts were there in 2014?"
    requests = [asked(runtime, question, adapted=each) for each in (True, False)]
    alone = [await scheduler.submit(each) for each in requests]
    fresh = [asked(runtime, f"{question} And why?", adapted=each) for each in (True, False)]
    together: list[Generated] = await asyncio.gather(*map(scheduler.submit, [*requests, *fresh]))
    for one, other in zip(alone, together, strict=False):
        assert one.logprobs[:4] == pytest.approx(other.logprobs[:4], abs=0.1)
    assert all(each.tokens for each in together)


async def test_a_file_that_is_no_adapter_of_the_model(tmp_path: Path) -> None:
    file = tmp_path / "adapter.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(OSError, match="leave \\[embedded_model\\] adapter out"):
        await asyncio.to_thread(Runtime, replace(SETTINGS, adapter=file))
