"""A first statement that joins one table again and again is written again without that table."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

from engine.core.ports import Completion, Prompt, Token
from engine.core.state import State
from engine.settings import GenerationSettings
from engine.stages.generate import generate
from tests.support.asking import asked, route, tools

QUESTION = "Which songs do singers sing?"


@dataclass
class Circling:
    """Joins `concert` without an end as long as its grammar names it."""

    times: int
    grammars: bool = True
    goes_on: bool = True
    prompts: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt, grammar: str | None = None, **_: object) -> Completion:
        self.prompts.append(prompt)
        if grammar is not None and "title" in grammar:
            text = "SELECT title FROM concert" + " JOIN concert" * (self.times - 1)
            tokens = tuple(Token(word, ((word, 0.5), ("other", 0.4))) for word in text.split())
            return Completion(text, 1, 0, 200, -0.1, finished=False, tokens=tokens)
        return Completion("SELECT artist_name FROM singer\n```", 1, 0, 9, -0.1, finished=True)


def written(model: Circling, *, further_calls: bool = True) -> State:
    settings = GenerationSettings(exchanges=False, masks=False, further_calls=further_calls)
    given = replace(tools("", settings=settings), model=cast("Any", model))
    state = replace(asked(QUESTION, route(QUESTION)), calls=4)
    return asyncio.run(generate(state, given))


def test_it_is_written_without_the_table_and_not_gone_on_with() -> None:
    model = Circling(5)
    state = written(model)
    assert [each.sql for each in state.candidates] == ["SELECT artist_name FROM singer"]
    assert ("public", "concert", "*") in state.candidates[0].masked
    assert all(prompt.begun == "" for prompt in model.prompts)
    assert len(model.prompts) == 2


def test_one_that_lists_without_an_end_is_gone_on_with_from_its_beginning() -> None:
    model = Circling(2)
    state = written(model)
    assert {prompt.begun for prompt in model.prompts if prompt.begun} == {"other", "SELECTother"}
    assert state.candidates


def test_one_that_ends_late_for_another_reason_is_written_freely() -> None:
    model = Circling(2)
    assert [each.masked for each in written(model).candidates] == [frozenset()]


def test_without_further_calls_it_is_not_written_again() -> None:
    for model in (Circling(5), Circling(2, goes_on=False)):
        assert not written(model, further_calls=False).candidates
        assert all(not prompt.begun for prompt in model.prompts)
