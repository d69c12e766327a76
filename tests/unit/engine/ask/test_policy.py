"""The cheapest of showing, asking and not answering."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from engine.ask.policy import Action, Worth, cheapest
from engine.values.settings import DialogueSettings

COSTS = DialogueSettings(wrong=1.0, question=0.15, row=0.25, abstention=0.6)


def apart(*chances: float) -> Worth:
    """Of a question that tells all of them apart, and is never misread."""
    return Worth(sum(chances[1:]))


@pytest.mark.parametrize(
    ("chances", "worth", "action"),
    [
        ((0.95, 0.03), apart(0.95, 0.03), Action.SHOW),
        ((0.5, 0.45), None, Action.SHOW),
        # What an answer turns is worth its question, unless it is easily misread.
        *(((0.6, 0.1), Worth(turns), Action.ASK) for turns in (0.25, 0.35)),
        *(((0.6, 0.1), each, Action.SHOW) for each in (Worth(0.05), Worth(0.25, misread=0.3))),
        ((0.1, 0.05), apart(0.1, 0.05), Action.ABSTAIN),
        ((), None, Action.ABSTAIN),
    ],
)
def test_what_is_cheapest(chances: tuple[float, ...], worth: Worth | None, action: Action) -> None:
    decision = cheapest(chances, worth, COSTS)
    assert decision.action is action
    assert (decision.ask is None) is (worth is None)


def test_a_toss_up_is_asked_about_and_what_runs_unread_sooner() -> None:
    decision = cheapest((0.5, 0.45), apart(0.5, 0.45), COSTS)
    assert decision.action is Action.ASK
    assert decision.ask == pytest.approx(0.15 + 0.05)
    assert decision.show == pytest.approx(0.25 + 0.05)
    chances, worth = (0.7, 0.25), apart(0.7, 0.25)
    dear = replace(COSTS, question=0.22, row=0.2)
    assert cheapest(chances, worth, dear).action is Action.SHOW
    assert cheapest(chances, worth, dear, run=True).action is Action.ASK


def test_a_question_that_turns_nothing_never_pays_and_dearer_ones_are_asked_no_more_often() -> None:
    for chances in product((0.1, 0.2, 0.4), repeat=3):
        if sum(chances) <= 1:
            assert cheapest(chances, Worth(0.0), COSTS).action is not Action.ASK
    for first in range(5, 100, 5):
        pair = (first / 100, (100 - first) / 200)
        prices = [cheapest(pair, apart(*pair), replace(COSTS, question=q / 20)).action for q in range(20)]
        asked = [action is Action.ASK for action in prices]
        assert asked == sorted(asked, reverse=True)


@pytest.mark.parametrize("name", ["wrong", "question", "row", "abstention", "questions"])
def test_a_negative_cost_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        replace(COSTS, **{name: -1})
