"""When an answer of the demo counts as right."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pgparley.demo.questions import Rows, answers

GOLD: Rows = [("East", Decimal("10.50")), ("West", Decimal("7.25"))]


@pytest.mark.parametrize(
    "got",
    [
        pytest.param([("East", 10.5), ("West", 7.25)], id="floats"),
        pytest.param([("West", "7.25"), ("East", "10.50")], id="text of a server, other order"),
        pytest.param([(10.5, "East"), (7.25, "West")], id="columns swapped"),
        pytest.param([(1, "East", 10.5000004), (2, "West", 7.25)], id="a further column, within 1e-6"),
    ],
)
def test_right(got: Rows) -> None:
    assert answers(got, GOLD)


@pytest.mark.parametrize(
    "got",
    [
        pytest.param([("East", 10.5)], id="a row is missing"),
        pytest.param([*GOLD, ("South", 1)], id="a row too many"),
        pytest.param([("East", 10.5), ("East", 10.5)], id="the same row twice"),
        pytest.param([("East", 10.5), ("West", 7.2501)], id="another number"),
        pytest.param([("East",), ("West",)], id="a column is missing"),
        pytest.param([("East", 7.25), ("West", 10.5)], id="values of other rows"),
        pytest.param([("East", 10.5), ("West", None)], id="NULL"),
        pytest.param([], id="nothing"),
    ],
)
def test_wrong(got: Rows) -> None:
    assert not answers(got, GOLD)
