"""Where an answer runs in circles, and where it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgparley_local.circles import LEAST, LONGEST, ROUNDS, second_round

ROUND = [7, 8, 9, 10, 11, 12]


def test_the_second_round_is_found_wherever_the_circle_closed() -> None:
    assert second_round([1, 2, 3, *ROUND * 3]) == range(9, 15)
    assert second_round([1, 2, 3, *ROUND * 3, 7, 8]) == range(9, 15), "in the middle of a fourth one"
    assert second_round([9, 10, 11, 12, *ROUND * 3]) == range(6, 12), "the first round began in its middle"


@pytest.mark.parametrize(
    "tokens",
    [[], [1, *ROUND * 2], [*ROUND * 3, 1], [1, *[0] * (LEAST - 1)], list(range(LONGEST + 1)) * ROUNDS],
    ids=["nothing", "two rounds", "gone on otherwise", "a number's digits", "rounds too long"],
)
def test_what_is_no_circle(tokens: list[int]) -> None:
    assert not second_round(tokens)


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), min_size=1, max_size=LONGEST))
def test_whatever_goes_round_often_enough_is_a_circle(before: list[int], once: list[int]) -> None:
    tokens = before + once * max(ROUNDS, -(-LEAST // len(once)))
    places = second_round(tokens)
    assert 0 < len(places) <= len(once)
    assert all(tokens[place] == tokens[place - len(places)] for place in range(places.start, len(tokens)))
