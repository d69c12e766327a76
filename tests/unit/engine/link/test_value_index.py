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
