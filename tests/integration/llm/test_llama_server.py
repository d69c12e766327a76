"""The client against llama.cpp's own server, which comes in the wheel of the embedded model's runtime."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from engine.llm.client import ChatModel
from engine.values.deadline import Deadline
from engine.values.errors import ContextLengthError
from engine.values.model_profile import ModelProfile
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.ports import Prompt
from pgparley.config import cache_dir
from pgparley_local.model_file import QWEN_CODER_1_5B

pytestmark = [pytest.mark.llm, pytest.mark.slow, pytest.mark.timeout(300)]

SERVER = """
import sys, time, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.n_ctx = sys.argv[1], 2048
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
time.sleep(600)
"""

PROMPT = Prompt("You write PostgreSQL.", "singer(name, country)\n\nHow many singers are there?", "```sql\n")


@pytest.fixture
def address() -> Iterator[str]:
    command = [sys.executable, "-c", SERVER, str(cache_dir() / "models" / QWEN_CODER_1_5B.name)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.fixture
async def model(address: str) -> AsyncIterator[ChatModel]:
    chat = ChatModel(ModelSettings(), f"{address}/v1")
    yield chat
    await chat.aclose()


async def test_a_grammar_is_obeyed_and_the_answer_is_the_continuation_alone(model: ChatModel) -> None:
    grammar = 'start: "SELECT 4" /[0-9]/ " FROM singer"'
    deadline = Deadline(time.monotonic() + 200)
    assert await model.find_out(deadline) == ModelProfile(
        logprobs=True,
        top_logprobs=True,
        grammar=GrammarSupport.LLGUIDANCE,
        continuation=True,
        schema=True,
        context=2_048,
    )
    written = await model.complete(PROMPT, deadline=deadline, max_tokens=60, grammar=grammar, others=3)
    assert written.text.startswith("SELECT 4")
    assert written.text.endswith(" FROM singer")
    assert written.finished
    assert "".join(token.text for token in written.tokens) == written.text
    assert all(len(token.others) == 3 for token in written.tokens)
    again = await model.complete(PROMPT, deadline=deadline, max_tokens=60, grammar=grammar)
    assert again.cached > again.prefilled


async def test__schema_is_kept_to_and_a_long_prompt_is_told(model: ChatModel) -> None:
    deadline = Deadline(time.monotonic() + 200)
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    asked = Prompt("You count.", "Which number follows two?")
    written = await model.complete(asked, deadline=deadline, max_tokens=40, schema=number)
    assert isinstance(json.loads(written.text)["n"], int)
    with pytest.raises(ContextLengthError):
        await model.complete(Prompt("Count.", "word " * 5_000), deadline=deadline, max_tokens=9)
    assert model.profile.refused == frozenset()
