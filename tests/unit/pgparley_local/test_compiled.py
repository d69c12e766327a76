"""A grammar is compiled once for all calls that write under it; each has a place of its own in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from llguidance import LLMatcher, LLTokenizer

from engine.values.model_settings import EmbeddedModelSettings
from pgparley_local import scheduler as scheduler_module
from pgparley_local.runtime import Runtime
from pgparley_local.scheduler import Generated, GrammarProblemError, Request, Scheduler
from tests.support.gguf import small_model, write_model

NUMBERS = 'start: "SELECT " /[0-9]/ " FROM " ("singer" | "concert")'
BROKEN = "start: nobody"


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    torch.manual_seed(0)
    write_model(tmp_path / "small.gguf", small_model(layers=1))
    opened = Runtime(EmbeddedModelSettings(tmp_path / "small.gguf", context=256, sequences=4))
    yield opened
    opened.close()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    once = scheduler_module.compiled

    def counted(tokenizer: LLTokenizer, grammar: str) -> LLMatcher:
        seen.append(grammar)
        return once(tokenizer, grammar)

    monkeypatch.setattr(scheduler_module, "compiled", counted)
    return seen


async def written(scheduler: Scheduler, requests: list[Request]) -> list[Generated]:
    try:
        return await asyncio.gather(*map(scheduler.submit, requests))
    finally:
        await asyncio.to_thread(scheduler.close)


def requests(runtime: Runtime) -> list[Request]:
    """An answer, the same again, and two that have begun."""
    asked = tuple(runtime.tokenize("How many?"))
    begun = [tuple(runtime.tokenize(text)) for text in ("", "", "SELECT 7", "SELECT 3 FROM c")]
    return [Request((*asked, *each), 40, NUMBERS, begun=len(each)) for each in begun]


async def test_calls_under_one_grammar_share_its_compilation_and_nothing_else(
    runtime: Runtime, compiled: list[str]
) -> None:
    together = await written(Scheduler(runtime), requests(runtime))
    assert compiled == [NUMBERS]
    texts = [b"".join(map(runtime.piece, each.tokens)).decode() for each in together]
    assert texts[0] == texts[1]
    assert texts[2] in {" FROM singer", " FROM concert"}
    assert texts[3] == "oncert"
    alone = [await written(Scheduler(runtime), [each]) for each in requests(runtime)]
    assert [one.tokens for (one,) in alone] == [each.tokens for each in together]


async def test_a_broken_grammar_is_refused_whenever_it_comes(runtime: Runtime) -> None:
    scheduler = Scheduler(runtime)
    prompt = tuple(runtime.tokenize("How many?"))
    for _ in range(2):
        with pytest.raises(GrammarProblemError):
            await scheduler.submit(Request(prompt, 40, BROKEN))
    (one,) = await written(scheduler, [Request(prompt, 40, NUMBERS)])
    assert one.finished
