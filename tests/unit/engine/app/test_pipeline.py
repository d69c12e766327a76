"""The pipeline over its time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from engine.app import pipeline
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError
from engine.values.messages import Asker, AskRequest
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import State
from engine.values.tools import Tools
from tests.support.tools import bare_tools

TOOLS = bare_tools(*[cast("Any", None)] * 5, generation=GenerationSettings(strategy=Strategy.SEARCH))
OVER = Deadline(1.0, clock=lambda: 2.0)
ASKED = State(AskRequest(Asker("ana", "music"), "how many?"), Question("how many?"), 3, 3, OVER, 0.0)


async def late(_state: State, _tools: Tools) -> State:
    raise CancelledError("out of time")


async def named(state: State, _tools: Tools) -> State:
    return replace(state, k=9)


async def test_out_of_time_a_question_with_candidates_goes_on_without_what_takes_more_and_others_end() -> (
    None
):
    found = (Candidate("music", "SELECT 1", cost=1.0), Candidate("music", "SELECT 2"))
    state = replace(ASKED, candidates=found)
    done = await pipeline.run(state, TOOLS, (named, late, named))
    assert (done.late, done.k) == (True, 9)
    assert done.candidates == found[:1], "what was not planned is not shown"
    with pytest.raises(CancelledError):
        await pipeline.run(replace(state, candidates=found[1:]), TOOLS, (late,))
    with pytest.raises(CancelledError):
        await pipeline.run(ASKED, TOOLS, (named,))


def test_a_little_of_the_time_is_kept() -> None:
    clock = lambda: 10.0  # noqa: E731 - as short as a clock can be
    assert Deadline(20.0, clock).sooner(0.15, 5.0).at == pytest.approx(18.5)
    assert Deadline(110.0, clock).sooner(0.15, 5.0).at == pytest.approx(105.0)
