"""The index of values: exact, near, holding, what may not be seen; and what a text may mean that is none of them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.link.near_values import ENCODED, near_values
from engine.link.value_index import ValueIndex
from engine.question.normalise import key
from engine.values.elements import NearValues
from schema_catalog.values import ColumnValues
from tests.support.scripted import WordEncoder

CITIES = ("public", "city", "name")
PEOPLE = ("public", "person", "name")
INDEX = ValueIndex(
    [
        ColumnValues(CITIES, ("New York", "Newark", "Boston", "São Paulo"), more=True),
        ColumnValues(PEOPLE, ("John Smith", "Boston", "Jane Smithson")),
    ]
)
ALL = INDEX.visible([CITIES, PEOPLE])


def texts(numbers: list[int]) -> list[str]:
    return [INDEX.text(number) for number in numbers]


def test_what_names_hold_and_what_may_not_be_seen() -> None:
    assert [INDEX.text(number) for number, _ in INDEX.similar(key("New Yrok"), 0.8, ALL)] == ["New York"]
    assert INDEX.similar(key("Zanzibar"), 0.8, ALL) == INDEX.similar("", 0.8, ALL) == []
    assert texts(INDEX.containing(key("Smith"), ALL)) == ["John Smith", "Jane Smithson"]
    assert INDEX.containing(key("Boston"), ALL) == []
    seen, nothing = INDEX.visible([PEOPLE]), INDEX.visible([])
    assert [INDEX.column(number) for number in INDEX.exact([key("Boston")], seen)[0]] == [PEOPLE]
    assert {INDEX.column(number) for number, _ in INDEX.similar(key("Bosten"), 0.8, seen)} == {PEOPLE}
    assert (INDEX.exact([key("Boston")], nothing), INDEX.containing(key("Smith"), nothing)) == ([[]], [])


@given(st.lists(st.text(max_size=12), max_size=30))
def test_every_value_is_found_by_its_key(values: list[str]) -> None:
    kept = tuple(value for value in values if value.isprintable())
    index = ValueIndex([ColumnValues(CITIES, kept)])
    seen = np.ones(1, dtype=bool)
    for number, value in enumerate(kept):
        if key(value):
            assert number in index.exact([key(value)], seen)[0]
        assert index.text(number) == value


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
        return np.array([[0.0, 1.0] if "un" in text else [1.0, 0.0] for text in texts], dtype=np.float32)


def test_what_means_the_same_is_near_and_not_sure() -> None:
    encoder = cast("Any", OneMeaning())
    assert near_values("physician", ("Doctor", "Unknown"), encoder) == NearValues(("Doctor",))
    assert near_values("room 12", ("Doctor", "Room 13"), encoder) == NearValues()
    many = ("Doctor", *(f"Un {number}" for number in range(ENCODED)))
    assert near_values("physician", many, encoder) == NearValues()
