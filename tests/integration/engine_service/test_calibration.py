"""Calibration over a real store and real databases: points from pairs and choices, and what selection makes of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from engine.app.console_views import ConsoleViews
from engine.app.evaluating import Evaluating, Trials
from engine.app.service import Service
from engine.judge.calibrating import Calibrating
from engine.judge.packaged_scores import Base
from engine.judge.point_store import CalibrationStore, StoredPoint, question_identity
from engine.judge.records import Judged, Point
from engine.judge.splits import Split, id_hash, split_of
from engine.values.calibration import BaseStatus, KnownQuestion, Source, StatusRequest
from engine.values.conformal import Threshold, Uncalibrated
from engine.values.errors import InvalidSettingError, UnsupportedError
from engine.values.evaluation import EvaluateRequest, KnownRequest, Verdict
from engine.values.messages import (
    Asker,
    AskRequest,
    ChooseRequest,
    CorrectRequest,
    MoreRequest,
    Topic,
    TopicRequest,
    ViewRequest,
)
from engine.values.model_settings import ModelSettings
from engine.values.proportion import Share
from engine.values.settings import SelectionSettings
from engine.values.tools import Tools
from pgparley.evaluation.calibration import show_calibration
from proxy.console import views
from proxy.console.tables import row
from tests.integration.engine_service.conftest import LIMITS, serving
from tests.support.allowed_values import allow, changed, deny, keep

ANA = Asker("ana", "music")
QUESTION = "name of each singer"
RIGHT = "SELECT name FROM singer"


@pytest.fixture
def evaluating(selecting: Tools, points: CalibrationStore, pool: Any) -> Evaluating:
    return Evaluating(selecting, LIMITS, Trials(pool, selecting.upstream), points)


def pair(sql: str = RIGHT, **more: Any) -> EvaluateRequest:
    request = EvaluateRequest(Asker("ana", ""), QUESTION, "music", sql, source=Source.FILE)
    return replace(request, **more)


async def fill(store: CalibrationStore, score: float, *, count: int = 40, k: int = 2) -> None:
    """Points that calibrate, each with a right candidate of `score`, and as many that test, each with one of 9."""
    for split, value in ((Split.CALIBRATION, score), (Split.TEST, 9.0)):
        ids = (id_hash(f"{split}-{number}") for number in range(100 * count))
        for question in [each for each in ids if split_of(each) is split][:count]:
            judged = (Judged(True, value), Judged(False, 8.0))  # noqa: FBT003 - right or not
            await store.keep("music", StoredPoint(Source.FILE, k, Point(question, "music", judged)))


async def count(pool: Any) -> int:
    return int(await pool.fetchval("SELECT count(*) FROM pgparley.calibration_point"))


# -- pairs


async def test_a_pair_is_judged_by_its_result(evaluating: Evaluating, points: CalibrationStore) -> None:
    reply = await evaluating.evaluate(pair("SELECT s.name AS who FROM singer s"))
    assert reply.verdict in {Verdict.FIRST, Verdict.IN_SET}
    (kept,) = await points.points()
    identity = id_hash(question_identity("music", QUESTION))
    assert (kept.source, kept.width, kept.point.question) == (Source.FILE, 2, identity)
    assert [each.right for each in kept.point.candidates].count(True) == 1
    assert len(kept.point.candidates) == 2
    assert kept.point.group == "music"
    assert kept.point.right_score is not None


async def test_a_question_without_a_right_candidate_counts_as_well(
    evaluating: Evaluating, points: CalibrationStore
) -> None:
    assert (await evaluating.evaluate(pair("SELECT max(age) FROM singer"))).verdict is Verdict.WRONG
    (kept,) = await points.points()
    assert not kept.point.answerable
    assert (await points.find(2)).scores.size == 0


async def test_what_selection_left_out_is_judged_as_well(
    evaluating: Evaluating, points: CalibrationStore
) -> None:
    await fill(points, score=-1.0)
    assert (await evaluating.evaluate(pair())).shown == 1
    identity = id_hash(question_identity("music", QUESTION))
    (kept,) = (each for each in await points.points() if each.point.question == identity)
    assert len(kept.point.candidates) == 2


async def test_what_cannot_be_judged_is_no_point(evaluating: Evaluating, pool: Any) -> None:
    for request in (pair("SELECT name FROM singer WHERE age > 99"), pair(asker=Asker("bob", ""))):
        assert (await evaluating.evaluate(request)).verdict is Verdict.UNJUDGED
    off = replace(evaluating.tools, selection=SelectionSettings(enabled=False))
    with pytest.raises(UnsupportedError):
        await replace(evaluating, tools=off).evaluate(pair())
    assert await count(pool) == 0


# -- what selection makes of points


async def test_a_calibrated_answer_leaves_out_what_does_not_conform(
    learning: Service, points: CalibrationStore, pool: Any, model: Any
) -> None:
    whole = await learning.ask(AskRequest(ANA, QUESTION))
    assert len(whole.rows) == 2
    why = (await learning.topic(TopicRequest(ANA, Topic.WHY, whole.qid))).rows
    assert next(line[2] for line in why if line[:2] == ("select", "uncalibrated")).startswith(
        "0 of 19 points"
    )
    await fill(points, score=-1.0)
    assert (await points.find(2)).at(0.95, "music") == Threshold(-1.0, 40, 0.95)
    model.prompts.clear()
    narrowed = await learning.ask(AskRequest(ANA, QUESTION))
    assert len(narrowed.rows) == narrowed.members == 1
    events = [line.event for line in narrowed.trace if line.stage == "select"]
    assert events[0] == "calibrated"
    assert any(event.startswith("left out by selection") for event in events)
    assert len((await learning.ask(AskRequest(ANA, QUESTION, k=1))).rows) == 1
    assert [
        t.event for t in (await learning.ask(AskRequest(ANA, QUESTION, k=3))).trace if t.stage == "select"
    ] == ["uncalibrated"]
    more = await learning.more(MoreRequest(ANA, narrowed.qid))
    assert more.rows[0].sql not in {each.sql for each in narrowed.rows}
    before = await count(pool)
    for reply in (narrowed, more):
        await learning.choose(ChooseRequest(ANA, reply.qid, 1))
    assert await count(pool) == before, "a choice among what a threshold left is no point"


async def test_until_there_is_enough_what_came_with_the_program_selects(
    selecting: Tools, pool: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Base("a model", "a command", {2: (-1.0,) * 30})
    points = CalibrationStore(pool, "recipe", base=made)
    lent = Calibrating(points, selecting.selection, LIMITS)
    service = serving(replace(selecting, calibration=points), pool, points=points)
    reply = await service.ask(AskRequest(ANA, QUESTION))
    assert next(line.event for line in reply.trace if line.stage == "select") == "calibrated elsewhere"
    assert (await lent.status(StatusRequest())).base == BaseStatus(30, 0, 0, counts=True)
    await fill(points, score=9.0, count=2)
    assert (await points.find(2)).at(0.95, "music") == Uncalibrated(2, 19, 0.95, Share(0, 4))
    found = await lent.status(StatusRequest())
    assert found.base == BaseStatus(30, 4, 0, counts=False)
    show_calibration(found, Console(width=200))
    assert (
        "The calibration by 30 questions on other databases does not count; of 4 right"
        in capsys.readouterr().out
    )
    await fill(points, score=-2.0)
    assert (await points.find(2)).at(0.9, "music") == Threshold(-2.0, 40, 0.9)


async def test_points_of_another_recipe_or_schema_do_not_count(points: CalibrationStore, pool: Any) -> None:
    await fill(points, score=-1.0, count=5)
    assert len(await points.points()) == 10
    assert await CalibrationStore(pool, "another").points() == ()
    assert (await points.stale(), await CalibrationStore(pool, "another").stale()) == (0, 10)
    await changed(pool, "music", "ALTER TABLE singer ADD COLUMN country text")
    assert await points.points() == ()
    assert (await points.find(2)).scores.size == 0
    assert await points.stale() == 10
    await changed(pool, "music", "ALTER TABLE singer DROP COLUMN country")
    assert len(await points.points()) == 10, "the schema is what it was"


async def test_points_belong_to_the_columns_whose_values_may_be_used(
    points: CalibrationStore, pool: Any, learning: Service
) -> None:
    reply = await learning.ask(AskRequest(ANA, QUESTION))
    await fill(points, score=-1.0, count=5)
    await allow(pool, "copy", [("public", "pets", "id")])
    assert len(await points.points()) == 10, "another database's"
    await allow(pool, "music", [("public", "singer", "name")])
    assert (await points.points(), await points.stale()) == ((), 10)
    await learning.choose(ChooseRequest(ANA, reply.qid, 1))
    assert await points.points() == (), "what was answered without values is no point of answers with them"
    again = await learning.ask(AskRequest(ANA, QUESTION))
    await learning.choose(ChooseRequest(ANA, again.qid, 1))
    assert len(await points.points()) == 1
    await keep(pool, "music", ("public", "singer", "name"), "Joe")
    assert len(await points.points()) == 1, "the same column, read again"
    await deny(pool, "music", ("public", "singer", "name"))
    assert len(await points.points()) == 10


# -- choices


async def test_a_choice_from_a_whole_answer_becomes_a_point_and_is_forgotten_with_it(
    learning: Service, points: CalibrationStore, pool: Any
) -> None:
    reply = await learning.ask(AskRequest(ANA, QUESTION))
    await learning.choose(ChooseRequest(ANA, reply.qid, 2, learn=False))
    assert await points.points() == ()
    await learning.choose(ChooseRequest(ANA, reply.qid, 1))
    await learning.choose(ChooseRequest(ANA, reply.qid, 2))
    (kept,) = await points.points()
    assert (kept.source, [each.right for each in kept.point.candidates]) == (Source.CHOICE, [False, True])
    stored = str([tuple(line) for line in await pool.fetch("SELECT * FROM pgparley.calibration_point")])
    assert "singer" not in stored
    await learning.topic(TopicRequest(ANA, Topic.FORGET, reply.qid))
    assert await points.points() == ()


async def test_a_choice_never_replaces_a_judged_pair(
    learning: Service, evaluating: Evaluating, points: CalibrationStore
) -> None:
    reply = await learning.ask(AskRequest(ANA, QUESTION))
    await learning.choose(ChooseRequest(ANA, reply.qid, 2))
    (chosen,) = (await evaluating.known(KnownRequest(feedback=True))).questions
    assert chosen == KnownQuestion(QUESTION, "music", str(reply.rows[1].sql), "ana", Source.CHOICE)
    await evaluating.evaluate(pair(chosen.sql, source=Source.VERIFIED))
    await learning.choose(ChooseRequest(ANA, reply.qid, 1))
    (kept,) = await points.points()
    assert kept.source is Source.VERIFIED


async def test_a_correction_goes_before_a_choice(learning: Service, evaluating: Evaluating) -> None:
    reply = await learning.ask(AskRequest(ANA, QUESTION))
    for sql in ("SELECT max(age) FROM singer", RIGHT):
        await learning.correct(CorrectRequest(ANA, reply.qid, sql))
    # The correction is the answer's last row. It was not generated, so choosing it judges no candidate.
    await learning.choose(ChooseRequest(ANA, reply.qid, 4))
    assert await evaluating.points.points() == ()
    await learning.choose(ChooseRequest(ANA, reply.qid, 2))
    (corrected,) = (await evaluating.known(KnownRequest(feedback=True))).questions
    assert corrected == KnownQuestion(QUESTION, "music", RIGHT, "ana", Source.VERIFIED)


# -- how things stand


async def test_status_and_console(calibrating: Calibrating, points: CalibrationStore, pool: Any) -> None:
    engine = ConsoleViews(pool, ModelSettings(), asyncio.Event(), calibrating, lambda: 0)
    empty = await calibrating.status(StatusRequest())
    assert [(line.points, line.needed, line.threshold) for line in empty.lines] == [(0, 19, None)]
    await fill(points, score=-1.0)
    found = await calibrating.status(StatusRequest((0.9, 0.99)))
    assert (found.enabled, found.k, found.sources) == (True, 2, (("file", 80),))
    assert [(li.group, li.coverage, li.points, li.threshold, li.kept, li.possible) for li in found.lines] == [
        (None, 0.9, 40, -1.0, 0, 40),
        ("music", 0.9, 40, -1.0, 0, 40),
        (None, 0.99, 40, None, 40, 40),
    ]
    with pytest.raises(InvalidSettingError):
        await calibrating.status(StatusRequest((1.0,)))
    rows = (await engine.view(ViewRequest("nl_calibration"))).rows
    shape = views.columns_of("nl_calibration")
    assert shape is not None
    assert all(row(values, shape, ()) and row(values, shape, (1,)) for values in rows)
    assert rows[0] == (2, None, 40, 19, 0.95, 0.0, 40, 40, 1.0, 1.0, 2.0)
    chosen = [Judged(True, value) for value in (-2.0, 9.0)]  # noqa: FBT003 - right
    ids = [each for each in (id_hash(f"c{n}") for n in range(50)) if split_of(each) is Split.TEST]
    for question, candidate in zip(ids, chosen, strict=False):
        await points.keep("music", StoredPoint(Source.CHOICE, 2, Point(question, "music", (candidate,))))
    stats = {name: value for name, _, value in (await engine.view(ViewRequest("nl_stats"))).rows}
    assert stats["pgparley_nl_selection_promised"] == 0.95
    assert stats["pgparley_nl_selection_observed"] == pytest.approx(1 / 42)
    assert stats["pgparley_nl_selection_observed_of_all"] == 1.0
    assert stats["pgparley_nl_selection_chosen_inside"] == 0.5
