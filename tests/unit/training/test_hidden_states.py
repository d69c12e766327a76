"""Hidden states as llama.cpp computes them are those of the same model computed by transformers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import Qwen2ForCausalLM

from engine.values.model_settings import EmbeddedModelSettings
from pgparley_local.runtime import BATCH_TOKENS
from tests.support.gguf import small_model, write_model
from training.hidden_states import StateRuntime

LAYERS = (0, 2)


@pytest.fixture(scope="module")
def model() -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    return small_model(layers=4)


@pytest.fixture
def runtime(model: Qwen2ForCausalLM, tmp_path: Path) -> Iterator[StateRuntime]:
    write_model(tmp_path / "small.gguf", model)
    made = StateRuntime(EmbeddedModelSettings(tmp_path / "small.gguf", context=1024, sequences=1), LAYERS)
    yield made
    made.close()


def truth(model: Qwen2ForCausalLM, tokens: list[int], rows: int) -> NDArray[np.float32]:
    """The states of the last `rows` tokens, (rows, layers, width)."""
    with torch.no_grad():
        found = model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    # The first are the embeddings.
    return np.stack([found[layer + 1][0, -rows:].numpy() for layer in LAYERS], axis=1)


def test_states_are_those_of_the_last_tokens(model: Qwen2ForCausalLM, runtime: StateRuntime) -> None:
    first, other = list(b"SELECT name FROM singer"), list(b"SELECT name FROM concert WHERE year = 2014")
    # What is computed already changes nothing.
    for tokens, rows in ((first, 5), (other, 2), (other, len(other)), (other[:20], 3)):
        wanted = truth(model, tokens, rows)
        assert runtime.states(tokens, rows) == pytest.approx(wanted, abs=5e-4)
        assert wanted.std() > 0.01


def test_long_texts_are_read_in_several_batches(model: Qwen2ForCausalLM, runtime: StateRuntime) -> None:
    tokens = list(b"SELECT name FROM singer UNION ALL " * 18)
    assert len(tokens) > BATCH_TOKENS
    assert runtime.states(tokens, 150) == pytest.approx(truth(model, tokens, 150), abs=5e-4)


def test_a_layer_that_is_not_there_is_refused(model: Qwen2ForCausalLM, tmp_path: Path) -> None:
    write_model(tmp_path / "small.gguf", model)
    with pytest.raises(ValueError, match="no states"):
        StateRuntime(EmbeddedModelSettings(tmp_path / "small.gguf", context=256, sequences=1), (3,))
