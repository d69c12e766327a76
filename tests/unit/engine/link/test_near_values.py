"""Which stored values a text may mean that is none of them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.link.near_values import ENCODED, near_values
from engine.values.elements import NearValues
from tests.support.scripted import WordEncoder

STATES = ("Canceled by customer", "In Transit", "Delivered", "Returned", "Awaiting pick-up")

SURE = {
    "in transit": "In Transit",
    "IN-TRANSIT": "In Transit",
    " In  Transit": "In Transit",
    "delivers": "Delivered",
    "Deliverd": "Delivered",
    "return": "Returned",
    "awaiting pickup": "Awaiting pick-up",
}


def near(text: str, *values: str) -> NearValues:
    return near_values(text, values or STATES, cast("Any", WordEncoder()))


@pytest.mark.parametrize("text", SURE)
def test_another_spelling_is_the_value(text: str) -> None:
    assert near(text) == NearValues((SURE[text],), sure=True)


def test_words_of_a_value_may_mean_it_and_a_stored_one_is_none_but_itself() -> None:
    assert near("In Transit", "In Transit", "in transit") == NearValues()
    assert near("cancelled") == NearValues(("Canceled by customer",))
    assert near("Smith", "Ann Smith", "Joe Smith", "Joe Ash") == NearValues(("Ann Smith", "Joe Smith"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("Unsatisfied", "Satisfied"), ("Male", "Female"), ("AA123", "AA124"), ("B", "B+"), ("A-", "A")),
        ("Trading Policy B", "Trading Policy A"),
        ("Nanjing ( Jiangsu )", "Nantong ( Jiangsu )"),
        *((each, "France") for each in ("Oz", "", "%")),
    ],
)
def test_what_is_another_thing_is_not_near(text: str, value: str) -> None:
    assert near(text, value) == NearValues()


def test_days_and_numbers_are_compared_as_such() -> None:
    assert near("14 May 2013", "2013-05-13", "2013-05-14").values == ("2013-05-14",)
    assert near("1,200", "1200", "12000").values == ("1200",)
    assert near("3.50", "3.5", "350").values == ("3.5",)


class OneMeaning:
    """Every text but those with "un" means the same."""

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Unit vectors of two dimensions."""
        return np.array([[0.0, 1.0] if "un" in text else [1.0, 0.0] for text in texts], dtype=np.float32)


def test_what_means_the_same_is_near_and_not_sure() -> None:
    encoder = cast("Any", OneMeaning())
    assert near_values("physician", ("Doctor", "Unknown"), encoder) == NearValues(("Doctor",))
    assert near_values("room 12", ("Doctor", "Room 13"), encoder) == NearValues()
    many = ("Doctor", *(f"Un {number}" for number in range(ENCODED)))
    assert near_values("physician", many, encoder) == NearValues()
