"""The select stage: which candidates are shown under which threshold, and what is told."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from engine.judge.select import select
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.conformal import Calibrated, Threshold, Uncalibrated
from engine.values.deadline import Deadline
from engine.values.elements import Entity
from engine.values.messages import Asker, AskRequest
from engine.values.settings import SelectionSettings
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Column, Database, Snapshot, Table, TableKind
from tests.support.tools import bare_tools

COLUMNS = ("name", "stage_name", "age")
SIMILARITIES = (0.9, 0.6, 0.1)
SINGER = Table("public", "singer", TableKind.TABLE, tuple(Column(name, "text") for name in COLUMNS))


def state(**more: Any) -> State:
    """Three candidates, scored 0.1, 0.4 and 0.9."""
    keys = [("public", "singer", name) for name in COLUMNS]
    entity = Entity("name", dict(zip(keys, SIMILARITIES, strict=True)))
    database = Database("music", "", "music", ("public",))
    route = Route(database, Snapshot("music", ("public",), (SINGER,)), 1.0, (), (entity,))
    candidates = tuple(
        Candidate("music", f"SELECT {key[2]}", frozenset({SINGER.key}), frozenset({key}), confidence=share)
        for key, share in zip(keys, (0.9, 0.6, 0.1), strict=True)
    )
    ask = AskRequest(Asker("ana", "music"), "name of singers", **more)
    now = time.monotonic()
    return State(
        ask, Question(ask.question), 3, 6, Deadline(now + 60), now, routes=(route,), candidates=candidates
    )


@dataclass
class AskerFeedback:
    """A calibration in which every right candidate had one score."""

    score: float
    points: int = 40
    group: str = "music"

    async def find(self, _width: int) -> Calibrated:
        return Calibrated.of([(self.group, self.score)] * self.points)


class Gone:
    """A store that does not answer."""

    async def find(self, _width: int) -> Calibrated:
        raise StoreUnavailableError("gone")


def tools(calibration: Any, **settings: Any) -> Tools:
    return bare_tools(calibration=calibration, selection=SelectionSettings(**{"audit": 0.0, **settings}))


def told(found: State) -> list[tuple[str, str, float | None]]:
    return [(line.event, line.detail, line.score) for line in found.trace]


async def test_what_does_not_conform_is_left_out_and_told() -> None:
    found = await select(state(), tools(AskerFeedback(0.4)))
    assert [each.sql for each in found.candidates] == ["SELECT name", "SELECT stage_name"]
    assert found.selection is not None
    assert found.selection.threshold == Threshold(0.4, 40, 0.95)
    assert (found.selection.whole, found.selection.group) == (False, "music")
    events = told(found)
    assert events[0][0] == "calibrated"
    assert "40 points" in events[0][1]
    assert "1 - alpha = 0.95" in events[0][1]
    assert events[1] == ("left out by selection: its score is above 0.4000", "SELECT age", 0.9)
    assert len(events) == 2


async def test_without_enough_points_everything_is_shown() -> None:
    found = await select(state(), tools(AskerFeedback(0.1, points=18)))
    assert len(found.candidates) == 3
    assert found.selection is not None
    assert found.selection.threshold == Uncalibrated(18, 19, 0.95)
    assert found.selection.whole
    ((event, detail, _),) = told(found)
    assert event == "uncalibrated"
    assert detail.startswith("18 of 19 points")


@pytest.mark.parametrize(("coverage", "shown"), [(0.5, 1), (0.99, 3)])
async def test_the_asker_says_how_much_coverage(coverage: float, shown: int) -> None:
    calibration = AskerFeedback(0.1, points=40)
    assert len((await select(state(coverage=coverage), tools(calibration))).candidates) == shown
    by_default = tools(calibration, coverage=coverage)
    assert len((await select(state(), by_default)).candidates) == shown


async def test_the_set_is_never_empty_and_what_does_not_conform_never_runs_unseen() -> None:
    found = await select(state(), tools(AskerFeedback(0.0)))
    assert [each.sql for each in found.candidates] == ["SELECT name"]
    assert found.selection is not None
    assert ("nothing conforms; the best ranked stays", "SELECT name", 0.1) in told(found)
    assert sum(event.startswith("left out") for event, _, _ in told(found)) == 2
    nothing = replace(state(), candidates=())
    assert await select(nothing, tools(AskerFeedback(0.0))) == nothing
    found = await select(state(run=True), tools(AskerFeedback(0.0)))
    assert len(found.candidates) == 3
    assert found.selection is not None
    assert not found.selection.whole
    assert told(found)[-1][0] == "nothing conforms"
    assert len((await select(state(run=True), tools(AskerFeedback(0.1)))).candidates) == 1


async def test_what_is_asked_for_again_or_audited_is_answered_whole_unless_it_runs() -> None:
    found = await select(state(exclude=("SELECT 1",)), tools(AskerFeedback(0.1)))
    assert len(found.candidates) == 3
    assert found.selection is not None
    assert not found.selection.whole, "a choice from it is no point either"
    assert "everything is shown" in {event for event, _, _ in told(found)}
    found = await select(state(), tools(AskerFeedback(0.1), audit=1.0))
    assert len(found.candidates) == 3
    assert found.selection is not None
    assert found.selection.whole
    assert isinstance(found.selection.threshold, Threshold)
    assert len((await select(state(run=True), tools(AskerFeedback(0.1), audit=1.0))).candidates) == 1


@dataclass
class Elsewhere:
    """Points of other databases alone, on which every right candidate had one score."""

    score: float
    known: tuple[float, ...] = ()

    async def find(self, _width: int) -> Calibrated:
        return replace(Calibrated(), base=np.full(40, self.score), known=np.array(self.known))


async def test_what_came_with_the_program_is_told_apart() -> None:
    found = await select(state(), tools(Elsewhere(0.4)))
    assert [each.sql for each in found.candidates] == ["SELECT name", "SELECT stage_name"]
    event, detail, value = told(found)[0]
    assert (event, value) == ("calibrated elsewhere", 0.4)
    assert detail.startswith("40 points of other databases")
    failing = await select(state(), tools(Elsewhere(0.4, (0.9,) * 5)))
    assert len(failing.candidates) == 3
    assert told(failing)[0][1].endswith("what came with the program keeps 0 of 5 here")


async def test_beside_it_a_quarter_is_answered_whole_so_that_ones_own_comes_about() -> None:
    whole = 0
    for number in range(200):
        asked = state()
        question = Question(f"name of singer {number}")
        found = await select(replace(asked, question=question), tools(Elsewhere(0.1)))
        assert found.selection is not None
        assert found.selection.whole == (len(found.candidates) == 3)
        whole += found.selection.whole
    assert 30 < whole < 70


async def test_a_store_that_does_not_answer_costs_no_answer_and_selection_can_be_turned_off() -> None:
    found = await select(state(), tools(Gone()))
    assert len(found.candidates) == 3
    assert told(found) == [("uncalibrated", "the calibration's store does not answer", None)]
    before = state()
    after = await select(before, tools(AskerFeedback(0.0), enabled=False))
    assert after == replace(before, considered=before.candidates)
