"""Where the order is unsure the model says which question each statement answers."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.ports import Completion, Prompt
from engine.core.state import State
from engine.core.tools import Tools
from engine.errors import ModelUnavailableError
from engine.settings import GenerationSettings
from engine.stages.rank import UNSURE, WEIGHT, rank_by_question
from engine.types import Asker, AskRequest

QUESTION = "How many singers are there?"
COUNT, SUM, LIST = "SELECT COUNT(*) FROM singer", "SELECT SUM(age) FROM singer", "SELECT name FROM singer"


@dataclass
class Teller:
    """A model by which the question has these log-probabilities of statements; None: it fails."""

    told: Mapping[str, float | None]
    goes_on: bool = True
    asked: list[str] = field(default_factory=list)
    until: list[float] = field(default_factory=list)

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        self.until.append(deadline.at)
        sql = next(each for each in self.told if each in prompt.user)
        self.asked.append(answer)
        found = self.told[sql]
        if found is None:
            raise ModelUnavailableError("no model")
        return Completion(answer, 30, 400, 5, found / 5, finished=True)


def state(*confidences: float) -> State:
    candidates = tuple(
        Candidate("music", sql, confidence=confidence)
        for sql, confidence in zip((COUNT, SUM, LIST), confidences, strict=False)
    )
    ask = AskRequest(Asker("ana", "music"), QUESTION)
    return State(ask, 3, 6, Deadline(time.monotonic() + 5), time.monotonic(), candidates=candidates)


def asked(before: State, model: Teller, *, switched_on: bool = True) -> State:
    generation = GenerationSettings(retell=switched_on)
    tools = Tools(*(cast("Any", None),) * 3, cast("Any", model), cast("Any", None), generation=generation)
    return asyncio.run(rank_by_question(before, tools))


def test_the_likelier_question_comes_first_and_confidences_keep_their_sum() -> None:
    model = Teller({COUNT: -20.0, SUM: -10.0, LIST: -30.0})
    after = asked(state(0.4, 0.35, 0.2), model)
    assert [each.sql for each in after.candidates] == [SUM, COUNT, LIST]
    shares = [0.4 * math.exp(-10 * WEIGHT), 0.35, 0.2 * math.exp(-20 * WEIGHT)]
    expected = [0.95 * share / sum(shares) for share in (shares[1], shares[0], shares[2])]
    assert [each.confidence for each in after.candidates] == pytest.approx(expected)
    assert model.asked == [QUESTION] * 3
    assert all(until < after.deadline.at - 2 for until in model.until), "the answer needs time as well"
    assert (after.usage.calls, after.usage.generated) == (3, 15)
    assert [(line.event, line.detail) for line in after.trace] == [
        (sql, f"the question's log-probability {told:.1f}") for sql, told in model.told.items()
    ]


def test_what_is_hardly_worth_it_is_not_asked_about_and_keeps_its_confidence() -> None:
    model = Teller({COUNT: -40.0, SUM: -10.0, LIST: 0.0})
    after = asked(state(0.45, 0.4, 0.14), model)
    assert [each.sql for each in after.candidates] == [SUM, LIST, COUNT]
    assert after.candidates[1].confidence == 0.14
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("before", "goes_on"),
    [
        pytest.param(state(0.9, 0.1), True, id="the first is sure"),
        pytest.param(state(UNSURE * 0.5, 0.5 - UNSURE * 0.5), True, id="sure of what is shared out"),
        pytest.param(state(0.4), True, id="there is nothing to order"),
        pytest.param(state(), True, id="there is nothing"),
        pytest.param(state(0.4, 0.35), False, id="the server cannot say"),
    ],
)
def test_nothing_is_asked_where(before: State, *, goes_on: bool) -> None:
    model = Teller({COUNT: -20.0, SUM: -10.0}, goes_on)
    assert asked(before, model) == before
    assert model.asked == []


def test_the_order_stays_where_the_model_fails_for_one() -> None:
    before = state(0.4, 0.35)
    after = asked(before, Teller({COUNT: -20.0, SUM: None}))
    assert after.candidates == before.candidates
    assert [line.event for line in after.trace] == ["the order stays"]


def test_it_can_be_switched_off() -> None:
    before, model = state(0.4, 0.35), Teller({COUNT: -20.0, SUM: -10.0})
    assert asked(before, model, switched_on=False) == before
    assert model.asked == []
