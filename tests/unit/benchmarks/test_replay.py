"""A replayed model answers as the one that was asked, and costs what it cost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from benchmarks.harness.replay import Completions, Replay, file_for
from engine.values.deadline import Deadline
from engine.values.ports import Completion, LanguageModel, Prompt, Token

DEADLINE = Deadline(60.0, lambda: 0.0)
PROMPT = Prompt("system", "user", "```sql\n")
TOKENS = (Token("SELECT", (("select", 0.25), ("WITH", 0.125))),)


@dataclass
class Counting:
    """A model that numbers its answers and notices calls at once."""

    asked: list[tuple[str, object]] = field(default_factory=list)
    running: int = 0

    async def complete(self, prompt: Prompt, **options: object) -> Completion:
        assert self.running == 0
        self.running += 1
        await asyncio.sleep(0)
        self.running -= 1
        self.asked.append((prompt.user, options.get("grammar")))
        return Completion(f"SELECT {len(self.asked)}", 7, 5, 3, -0.5, finished=True, tokens=TOKENS)

    async def likelihood(self, prompt: Prompt, answer: str, **_: object) -> Completion:
        self.asked.append((prompt.user, answer))
        return Completion(answer, 3, 4, 5, -0.5, finished=True)


def replay(model: Counting, path: Path) -> Replay:
    return Replay(cast("LanguageModel", model), Completions(path))


async def ask(
    model: Replay, prompt: Prompt = PROMPT, grammar: str | None = None, tokens: int = 9
) -> Completion:
    return await model.complete(prompt, deadline=DEADLINE, max_tokens=tokens, grammar=grammar, others=20)


async def test_the_same_call_is_made_once_and_another_run_has_its_answer(tmp_path: Path) -> None:
    model = Counting()
    first = await ask(replay(model, tmp_path / "kept"))
    again = replay(model, tmp_path / "kept")
    assert await ask(again) == first
    assert first.tokens == TOKENS
    assert len(model.asked) == 1
    told = await again.likelihood(PROMPT, "How many?", deadline=DEADLINE)
    assert await again.likelihood(PROMPT, "How many?", deadline=DEADLINE) == told
    await again.likelihood(PROMPT, "Which?", deadline=DEADLINE)
    assert [answer for _, answer in model.asked[1:]] == ["How many?", "Which?"]


async def test_every_argument_makes_another_call(tmp_path: Path) -> None:
    model = Counting()
    kept = replay(model, tmp_path / "kept")
    calls = [
        await ask(kept),
        await ask(kept, grammar="start: /x/"),
        await ask(kept, tokens=8),
        *[await ask(kept, prompt) for prompt in (Prompt("s", "u"), Prompt("system", "user", "-- x"))],
    ]
    assert len({each.text for each in calls}) == len(calls) == len(model.asked)


async def test_a_replayed_call_costs_what_it_cost(tmp_path: Path) -> None:
    kept = replay(Counting(), tmp_path / "kept")
    kept.take(0.0)
    await ask(kept)
    asked = kept.take(1.0)
    await ask(kept)
    replayed = kept.take(1.0)
    assert asked.model_seconds == replayed.model_seconds > 0
    assert (replayed.calls, replayed.prefilled, replayed.cached, replayed.generated) == (1, 7, 5, 3)
    assert replayed.seconds >= replayed.model_seconds
    assert kept.take(1.0).calls == 0


async def test_the_schema_is_read_once_before_what_is_not_replayed_and_not_counted(tmp_path: Path) -> None:
    model = Counting()
    kept = replay(model, tmp_path / "kept")
    kept.about(Prompt("system", "schema"))
    for tokens in (1, 2, 1):
        await ask(kept, tokens=tokens)
    assert [user for user, _ in model.asked] == ["schema", "user", "user"]
    assert kept.take(0.0).calls == 3
    again = replay(model, tmp_path / "kept")
    again.about(Prompt("system", "schema"))
    await ask(again, tokens=1)
    assert len(model.asked) == 3


async def test_what_fails_is_not_kept(tmp_path: Path) -> None:
    class Failing(Counting):
        async def complete(self, prompt: Prompt, **options: object) -> Completion:
            if not self.asked:
                self.asked.append((prompt.user, None))
                raise TimeoutError
            return await super().complete(prompt, **options)

    kept = replay(Failing(), tmp_path / "kept")
    with pytest.raises(TimeoutError):
        await ask(kept)
    assert (await ask(kept)).text == "SELECT 2"


def test_other_weights_have_a_file_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    model = tmp_path / "model.gguf"
    model.write_bytes(b"a")
    first = file_for(tmp_path, model)
    assert file_for(tmp_path, model) == first
    model.write_bytes(b"b")
    assert file_for(tmp_path, model) != first
