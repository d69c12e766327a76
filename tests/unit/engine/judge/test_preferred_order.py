"""The score of a candidate, and what preferences do to order and confidence: a little, each to its own statement."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.judge.judge import MOST, judge, preferred
from engine.values.candidate import Candidate, Origin
from engine.values.conformal import UNSCORED, nonconformity, shortfall
from engine.values.elements import Entity
from engine.values.learned import Learned, Preference
from engine.values.state import State
from tests.support.asking import PlanningUpstream, asked, route, tools

NAME, AGE = (("public", "singer", each) for each in ("artist_name", "age"))
FIRST, SECOND = (
    Candidate(
        "music",
        f"SELECT {key[2]} FROM singer",
        frozenset({("public", "singer")}),
        frozenset({key}),
        cost=1.0,
        origin=Origin(logprob=likely),
    )
    for key, likely in ((NAME, -0.1), (AGE, -0.15))
)


def judged(learned: Learned, *candidates: Candidate) -> State:
    to = replace(route("names"), learned=learned)
    state = replace(asked("names", to), candidates=candidates)
    return asyncio.run(judge(state, tools("", PlanningUpstream())))


def prefers(preferred: tuple[str, str, str], rejected: tuple[str, str, str], strength: float) -> Learned:
    return Learned(
        preferences=(Preference("name", preferred, rejected, strength, strong=True, votes=1, own=True),)
    )


def test_a_confidence_is_its_own_statements() -> None:
    plain = {each.sql: each.confidence for each in judged(Learned(), FIRST, SECOND).candidates}
    assert list(plain) == [FIRST.sql, SECOND.sql]
    after = judged(prefers(AGE, NAME, 0.5), FIRST, SECOND).candidates
    assert [each.sql for each in after] == [SECOND.sql, FIRST.sql]
    found = {each.sql: each.confidence for each in after}
    assert found[SECOND.sql] > plain[SECOND.sql]
    assert found[FIRST.sql] < plain[FIRST.sql]
    assert sum(found.values()) == pytest.approx(sum(plain.values()))
    assert after[0].confidence > after[1].confidence


def test_what_was_rejected_for_this_question_comes_last() -> None:
    after = judged(Learned(refused=("SELECT s.artist_name FROM singer AS s",)), FIRST, SECOND)
    assert [each.sql for each in after.candidates] == [SECOND.sql, FIRST.sql]
    assert after.candidates[1].confidence < 0.01


def test_the_verified_one_is_not_shown_twice() -> None:
    to = route("names")
    state = replace(asked("names", to), candidates=(FIRST, SECOND), verified=replace(FIRST))
    after = asyncio.run(judge(state, tools("", PlanningUpstream())))
    assert [each.sql for each in after.candidates] == [SECOND.sql]


def test_a_clear_order_is_turned_by_no_preference() -> None:
    clear = replace(SECOND, origin=Origin(logprob=-9.0), fruitless=True)
    plain = judged(Learned(), FIRST, clear).candidates
    assert plain[0].confidence > 3 * plain[1].confidence
    after = judged(prefers(AGE, NAME, 1.0), FIRST, clear).candidates
    assert [each.sql for each in after] == [FIRST.sql, clear.sql]


LIKELY = st.floats(0.001, 1.0)
MOVED = st.floats(-MOST / 2, MOST / 2)


@given(LIKELY, LIKELY, MOVED, MOVED)
def test_three_to_one_stands(one: float, other: float, up: float, down: float) -> None:
    found = preferred([one, other], [up, down])
    assert sum(found) == pytest.approx(one + other)
    if one >= 3 * other:
        assert round(found[0], 9) >= round(found[1], 9)


TABLE = ("public", "singer")
ITS_NAME, ITS_AGE = (*TABLE, "name"), (*TABLE, "age")
WHOLE = (*TABLE, "*")
ENTITIES = (
    Entity("stage name", {ITS_NAME: 0.7, ITS_AGE: 0.1, WHOLE: 0.3}),
    Entity("singers", {ITS_NAME: 0.4, ITS_AGE: 0.2, WHOLE: 0.9}),
)


def candidate(*columns: tuple[str, str, str]) -> Candidate:
    return Candidate("music", "SELECT", tables=frozenset({TABLE}), columns=frozenset(columns))


def test_only_what_was_passed_over_counts_and_what_is_less_than_sure() -> None:
    assert shortfall(candidate(ITS_NAME), ENTITIES) == 0.0
    assert shortfall(candidate(ITS_AGE), ENTITIES) == pytest.approx(0.4)
    value = Entity("france", {ITS_NAME: 0.1, ITS_AGE: 0.05, WHOLE: 0.1})
    assert shortfall(candidate(ITS_NAME), (*ENTITIES, value)) == 0.0, "near to nothing, so nothing is missed"
    assert shortfall(candidate(ITS_NAME), ()) == 0.0
    assert shortfall(Candidate("music", "SELECT 1"), ENTITIES) == UNSCORED
    assert nonconformity(Candidate("music", "SELECT", confidence=0.8)) == pytest.approx(0.2)
    assert not math.isnan(nonconformity(Candidate("music", "SELECT")))
