"""Hidden states as llama.cpp computes them are those of the same model computed by transformers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import Qwen2ForCausalLM

from engine.llm.embedded.runtime import Runtime, Slice
from engine.llm.embedded.scheduler import Request, Scheduler
from engine.llm.settings import EmbeddedModelSettings
from tests.support.gguf import small_model, write_model

LAYERS = (0, 2)


@pytest.fixture(scope="module")
def model() -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    return small_model(layers=4)


@pytest.fixture
def runtime(model: Qwen2ForCausalLM, tmp_path: Path) -> Iterator[Runtime]:
    write_model(tmp_path / "small.gguf", model)
    made = Runtime(EmbeddedModelSettings(tmp_path / "small.gguf", context=256, sequences=2), LAYERS)
    yield made
    made.close()


def truth(model: Qwen2ForCausalLM, tokens: list[int], rows: int) -> NDArray[np.float32]:
    """The states of the last `rows` tokens, (rows, layers, width)."""
    with torch.no_grad():
        found = model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    # The first are the embeddings.
    return np.stack([found[layer + 1][0, -rows:].numpy() for layer in LAYERS], axis=1)


def test_states_of_a_batch(model: Qwen2ForCausalLM, runtime: Runtime) -> None:
    first, other = list(b"SELECT name FROM singer"), list(b"How many?")
    # What is cached of a sequence, and what else is in the batch, changes nothing.
    runtime.decode([Slice(0, 0, first[:9], 1)])
    assert runtime.states().shape == (0, len(LAYERS), 64)
    runtime.decode([Slice(1, 0, other, 1, states=2), Slice(0, 9, first[9:], 1, states=5)])
    wanted = np.concatenate([truth(model, other, 2), truth(model, first, 5)])
    assert runtime.states() == pytest.approx(wanted, abs=5e-4)
    assert wanted.std() > 0.01


async def test_states_of_an_answer(model: Qwen2ForCausalLM, runtime: Runtime) -> None:
    scheduler = Scheduler(runtime)
    prompt = list(b"SELECT name FROM")
    try:
        # The second time the answer is drafted; circles are left both times.
        for _ in range(2):
            done = await scheduler.submit(Request(tuple(prompt), max_tokens=30, states=True))
            assert done.states is not None
            rows = len(done.states)
            assert rows >= len(done.tokens) > 10
            whole = [*prompt, *done.tokens][: len(prompt) + rows - 1]
            assert done.states == pytest.approx(truth(model, whole, rows), abs=5e-4)
        given = await scheduler.submit(
            Request(tuple(prompt), max_tokens=len(done.tokens), given=done.tokens, states=True)
        )
        assert given.states == pytest.approx(done.states[: len(done.tokens)], abs=5e-4)
        assert (await scheduler.submit(Request(tuple(prompt), max_tokens=3))).states is None
    finally:
        scheduler.close()
