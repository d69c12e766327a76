"""Where the order is unsure the model says which question each statement answers."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from engine.judge.judge import UNSURE, judge
from engine.judge.model import Judgement, Weights
from engine.values.candidate import Candidate, Origin
from engine.values.deadline import Deadline
from engine.values.errors import ModelUnavailableError
from engine.values.model_profile import EMBEDDED, UNKNOWN, ModelProfile
from engine.values.ports import Completion, Prompt
from engine.values.settings import GenerationSettings
from engine.values.state import State
from tests.support.asking import asked as given
from tests.support.asking import route
from tests.support.tools import bare_tools

QUESTION = "How many singers are there?"
COUNT, SUM, LIST = "SELECT COUNT(*) FROM singer", "SELECT SUM(age) FROM singer", "SELECT name FROM singer"


@dataclass
class Teller:
    """A model by which the question has these log-probabilities of statements; None: it fails."""

    told: Mapping[str, float | None]
    profile: ModelProfile = EMBEDDED
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


NAT = 0.2
WEIGHTS = Weights({"constant": 3.0}, {"likelihood": 1.0, "question": NAT}, {})


def state(*shares: float) -> State:
    """Statements with such shares, as far as `WEIGHTS` know."""
    candidates = tuple(
        Candidate("music", sql, origin=Origin(logprob=math.log(share)))
        for sql, share in zip((COUNT, SUM, LIST), shares, strict=False)
    )
    known = given(QUESTION, replace(route(QUESTION), entities=()))
    now = time.monotonic()
    return replace(known, deadline=Deadline(now + 5), started=now, candidates=candidates)


def asked(before: State, model: Teller, *, switched_on: bool = True) -> State:
    generation, judgement = GenerationSettings(retell=switched_on), Judgement(WEIGHTS, WEIGHTS)
    tools = bare_tools(model=cast("Any", model), generation=generation, judgement=judgement)
    return asyncio.run(judge(before, tools))


def test_the_likelier_question_comes_first_and_confidences_keep_their_sum() -> None:
    model = Teller({COUNT: -20.0, SUM: -10.0, LIST: -30.0})
    after = asked(state(0.4, 0.35, 0.25), model)
    assert [each.sql for each in after.candidates] == [SUM, COUNT, LIST]
    shares = [0.35, 0.4 * math.exp(-10 * NAT), 0.25 * math.exp(-20 * NAT)]
    some = sum(each.confidence for each in asked(state(0.4, 0.35, 0.25), Teller({}, UNKNOWN)).candidates)
    expected = [some * share / sum(shares) for share in shares]
    assert [each.confidence for each in after.candidates] == pytest.approx(expected)
    assert model.asked == [QUESTION] * 3
    assert all(until < after.deadline.at - 2 for until in model.until), "the answer needs time as well"
    assert (after.usage.calls, after.usage.generated) == (3, 15)
    assert "question 10" in after.trace[0].detail


def test_what_is_hardly_worth_it_is_not_asked_about() -> None:
    model = Teller({COUNT: -40.0, SUM: -10.0, LIST: 0.0})
    after = asked(state(0.46, 0.4, 0.14), model)
    assert after.candidates[0].sql == SUM
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("before", "profile"),
    [
        pytest.param(state(0.9, 0.1), EMBEDDED, id="the first is sure"),
        pytest.param(state(UNSURE + 1e-9, 1 - UNSURE - 1e-9), EMBEDDED, id="just sure"),
        pytest.param(state(0.4), EMBEDDED, id="there is nothing to order"),
        pytest.param(state(), EMBEDDED, id="there is nothing"),
        pytest.param(state(0.5, 0.5), UNKNOWN, id="the server cannot say"),
    ],
)
def test_nothing_is_asked_where(before: State, profile: ModelProfile) -> None:
    model = Teller({COUNT: -20.0, SUM: -10.0}, profile)
    after = asked(before, model)
    assert [each.sql for each in after.candidates] == [each.sql for each in before.candidates]
    assert model.asked == []


def test_the_order_stays_where_the_model_fails_for_one() -> None:
    after = asked(state(0.52, 0.48), Teller({COUNT: -20.0, SUM: None}))
    assert [each.sql for each in after.candidates] == [COUNT, SUM]
    assert after.trace[0].event == "the order stays"
