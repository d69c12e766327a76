"""The second call of a thorough answer: when it is made, what it is told, and what is said where it finds nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.findings.admit import accept
from engine.judge.run import run
from engine.values.elements import Entity
from engine.values.errors import CancelledError
from engine.values.model_settings import Effort
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import Route
from tests.support.asking import asked, route, tools
from tests.support.instructed import QUESTION, TITLE, YEAR, Instructed, answered, readings, reply

ONLY = reply(("the titles", "SELECT title FROM concert"))


def doubting() -> Route:
    """Readings all of which use the title for a phrase to which the year is near."""
    return replace(route(QUESTION), entities=(Entity("concerts", {TITLE: 0.6, YEAR: 0.5}),))


def test_a_thorough_answer_asks_once_more_for_what_the_first_did_not_do() -> None:
    model = Instructed([ONLY, reply(("the years", "SELECT year FROM concert"))])
    state = answered(model, to=doubting(), effort=Effort.THOROUGH)
    assert [(each.meaning.place, each.meaning.says) for each in state.candidates] == [
        (0, "the titles"),
        (1, "the years"),
    ]
    one, two = (each.user for each in model.prompts)
    told = two.removeprefix(one)
    assert "- the titles: SELECT title FROM concert\n" in told
    assert "- reads concert.year instead of concert.title\n" in told
    assert state.usage.calls == 2


@pytest.mark.parametrize("effort", [Effort.FAST, Effort.NORMAL])
def test_no_other_answer_does(effort: Effort) -> None:
    model = Instructed([ONLY])
    assert len(answered(model, to=doubting(), effort=effort).candidates) == len(model.prompts) == 1


def test_nothing_is_asked_where_nothing_is_left_or_it_is_switched_off() -> None:
    model = Instructed([ONLY])
    state = answered(model, to=replace(doubting(), entities=()), effort=Effort.THOROUGH)
    assert "asked once more" not in state.candidates[0].explanation
    built = replace(
        tools(""),
        model=cast("Any", model := Instructed([ONLY])),
        effort=Effort.THOROUGH,
        generation=GenerationSettings(undone=False),
    )
    assert (
        len(asyncio.run(readings(asked(QUESTION, doubting()), built)).candidates) == len(model.prompts) == 1
    )


@pytest.mark.parametrize(
    "again",
    [reply(), reply(("titles of concerts", "SELECT c.title FROM concert AS c")), "I would rather not."],
    ids=["nothing", "the same", "no readings"],
)
def test_nothing_new_is_told_and_not_shown_twice(again: str) -> None:
    state = answered(Instructed([ONLY, again]), to=doubting(), effort=Effort.THOROUGH)
    merged = asyncio.run(accept(state, tools("")))
    assert len(merged.candidates) == 1
    assert state.candidates[0].explanation == "the titles; asked once more: nothing else is meant"
    assert any(line.event == "asked once more" and "0 new" in line.detail for line in state.trace)


def test_one_call_more_is_all_and_it_stays_within_the_effort() -> None:
    bad = reply(("the prices", "SELECT price FROM concert"))
    model = Instructed([bad, ONLY, reply(("the years", "SELECT year FROM concert"))])
    assert len(answered(model, to=doubting(), effort=Effort.THOROUGH).candidates) == 2
    assert len(model.prompts) == 3
    # What was cut, its repetition, what is mended: four with it.
    cut = reply(("the prices", "SELECT price FROM concert")) + "…"
    model = Instructed([cut, bad, ONLY, reply(("the prices", "SELECT price FROM concert"))])
    state = answered(model, to=doubting(), effort=Effort.THOROUGH)
    assert [each.meaning.says for each in state.candidates] == ["the titles"]
    assert len(model.prompts) == Effort.THOROUGH.calls
    failing = Instructed([ONLY, CancelledError("out of time")])
    state = answered(failing, to=doubting(), effort=Effort.THOROUGH)
    assert (len(state.candidates), state.late) == (1, True)


def test_who_wants_more_is_not_told_the_same() -> None:
    shown = "SELECT title FROM concert"
    for effort in (Effort.NORMAL, Effort.THOROUGH):
        model = Instructed([reply(("the years", "SELECT year FROM concert"))])
        state = asked(QUESTION, doubting())
        state = replace(state, ask=replace(state.ask, exclude=(shown,)), strategy=Strategy.READINGS)
        built = replace(tools(""), model=cast("Any", model), effort=effort)
        state = asyncio.run(run(asyncio.run(readings(state, built)), built))
        assert [each.meaning.says for each in state.candidates] == ["the years"]
        assert len(model.prompts) == 1
        user = model.prompts[0].user
        assert f"- {shown}\n" in user
        assert "means none of them" in user
        assert "- reads concert.year instead of concert.title\n" in user
