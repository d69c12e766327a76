"""Hidden states as llama.cpp computes them are those of the same model computed by transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.llm.embedded.runtime import Runtime, Slice
from engine.llm.settings import EmbeddedModelSettings
from tests.support.gguf import small_model, write_model

LAYERS = (0, 2)


def test_states_are_those_of_a_full_computation(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = small_model(layers=4)
    write_model(tmp_path / "small.gguf", model)
    runtime = Runtime(EmbeddedModelSettings(tmp_path / "small.gguf", context=256, sequences=2), LAYERS)
    first, other = list(b"SELECT name FROM singer"), list(b"How many?")
    # What is cached of a sequence, and what else is in the batch, changes nothing.
    runtime.decode([Slice(0, 0, first[:9], 1)])
    assert runtime.states().shape == (0, len(LAYERS), 64)
    runtime.decode([Slice(1, 0, other, 1, states=2), Slice(0, 9, first[9:], 1, states=5)])
    found = runtime.states()
    runtime.close()
    with torch.no_grad():
        outputs = [model(torch.tensor([each]), output_hidden_states=True) for each in (other, first)]
    # Of transformers' states the first are the embeddings.
    truth = np.concatenate(
        [
            np.stack([each.hidden_states[layer + 1][0, -rows:].numpy() for layer in LAYERS], axis=1)
            for each, rows in zip(outputs, (2, 5), strict=True)
        ]
    )
    assert found == pytest.approx(truth, abs=5e-4)
    assert np.abs(truth).max() > 0.02
