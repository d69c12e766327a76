"""The index: exact, near, holding, and what may not be seen."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.link.value_index import ValueIndex
from engine.question.normalise import key
from schema_catalog.values import ColumnValues

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


def test_exact_values() -> None:
    found = INDEX.exact([key("new-york"), key("Sao Paulo"), key("nowhere"), key("boston")], ALL)
    assert [texts(numbers) for numbers in found] == [["New York"], ["São Paulo"], [], ["Boston", "Boston"]]


def test_near_values() -> None:
    assert [INDEX.text(number) for number, _ in INDEX.similar(key("New Yrok"), 0.8, ALL)] == ["New York"]
    assert [INDEX.text(number) for number, _ in INDEX.similar(key("Bosten"), 0.8, ALL)] == [
        "Boston",
        "Boston",
    ]
    assert INDEX.similar(key("Zanzibar"), 0.8, ALL) == []
    assert INDEX.similar("", 0.8, ALL) == []


def test_held_values() -> None:
    assert texts(INDEX.containing(key("Smith"), ALL)) == ["John Smith", "Jane Smithson"]
    assert INDEX.containing(key("Boston"), ALL) == []


def test_hidden_columns_are_not_found() -> None:
    seen = INDEX.visible([PEOPLE])
    assert [INDEX.column(number) for number in INDEX.exact([key("Boston")], seen)[0]] == [PEOPLE]
    assert {INDEX.column(number) for number, _ in INDEX.similar(key("Bosten"), 0.8, seen)} == {PEOPLE}
    nothing = INDEX.visible([])
    assert INDEX.exact([key("Boston")], nothing) == [[]]
    assert INDEX.containing(key("Smith"), nothing) == []


@given(st.lists(st.text(max_size=12), max_size=30))
def test_every_value_is_found_by_its_key(values: list[str]) -> None:
    kept = tuple(value for value in values if value.isprintable())
    index = ValueIndex([ColumnValues(CITIES, kept)])
    seen = np.ones(1, dtype=bool)
    for number, value in enumerate(kept):
        if key(value):
            assert number in index.exact([key(value)], seen)[0]
        assert index.text(number) == value
