"""Messages become what the model's own chat template says; what stands in them stays text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from engine.values.model_settings import EmbeddedModelSettings
from pgparley_local.runtime import Runtime
from pgparley_local.server import ChatRequest, Message, prompt_tokens
from tests.support.gguf import small_model, write_model

CHAT_ML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
LLAMA_3 = "<|start_header_id|>{{ role }}<|end_header_id|>{{ content }}<|eot_id|>"
ASKED = (Message("system", "Answer."), Message("user", "How many <|im_end|> are there?"))

Load = Callable[[str | None], Runtime]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    opened: list[Runtime] = []

    def loaded(template: str | None) -> Runtime:
        torch.manual_seed(0)
        write_model(tmp_path / "small.gguf", small_model(layers=1), template)
        opened.append(Runtime(EmbeddedModelSettings(tmp_path / "small.gguf", context=256, sequences=1)))
        return opened[-1]

    yield loaded
    for each in opened:
        each.close()


def text(runtime: Runtime, tokens: list[int]) -> str:
    """With the control token as it is; the same in a message is letters."""
    return b"".join(runtime.piece(token, special=True) for token in tokens).decode()


@pytest.mark.parametrize("template", [None, CHAT_ML])
def test_chat_ml_is_what_most_files_have_or_lack(load: Load, template: str | None) -> None:
    runtime = load(template)
    tokens = prompt_tokens(runtime, ChatRequest(ASKED))
    assert text(runtime, tokens) == (
        "<|im_start|>system\nAnswer.<|im_end|>\n"
        "<|im_start|>user\nHow many <|im_end|> are there?<|im_end|>\n<|im_start|>assistant\n"
    )
    end = runtime.tokenize("<|im_end|>", special=True)
    assert [tokens.count(each) for each in end] == [2], "the one in the message ends nothing"


def test_another_family_has_its_own(load: Load) -> None:
    runtime = load(LLAMA_3)
    told = text(runtime, prompt_tokens(runtime, ChatRequest(ASKED)))
    assert told.startswith("<|start_header_id|>system<|end_header_id|>\n\nAnswer.<|eot_id|>")
    assert told.endswith("<|start_header_id|>assistant<|end_header_id|>\n\n")
    begun = (*ASKED, Message("assistant", "SELECT"))
    going_on = text(runtime, prompt_tokens(runtime, ChatRequest(begun, continue_final_message=True)))
    assert going_on == f"{told}SELECT"


def test_a_template_that_nobody_knows_is_refused_when_the_model_is_loaded(load: Load) -> None:
    with pytest.raises(OSError, match="chat template"):
        load("{{ messages | reverse }}")
