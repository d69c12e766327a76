"""Which databases may hold what a question names: found by keys, kept by version, never more than once built."""

from __future__ import annotations

import time

import pytest

from engine.link.holders import Holders
from engine.link.value_index import ValueIndex
from engine.question.question import Question
from schema_catalog.values import ColumnValues

NAME = ("public", "t", "name")
FIRST, SECOND = (1, 1, 1), (1, 2, 2)


def index(*values: str) -> ValueIndex:
    return ValueIndex([ColumnValues(NAME, values)])


@pytest.fixture
def holders() -> Holders:
    made = Holders()
    made.put("helpers", FIRST, index("Petra Quist", "first aid", "Neudorf", "2024", "2026-05-01").hashes)
    made.put("shop", FIRST, index("Neudorf", "Café Zentral").hashes)
    return made


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When did Petra Quist start?", {"helpers"}),
        ("Who knows first aid?", {"helpers"}),
        ("What is the cheapest in Neudorf?", {"helpers", "shop"}),
        ("who was at cafe zentral", {"shop"}),
        ("How many are there?", set()),
        ("What happened in 2024, and on 1 May 2026?", set()),
        ("", set()),
    ],
)
def test_the_databases_of_what_is_named(holders: Holders, question: str, names: set[str]) -> None:
    assert holders.of(Question(question)) == names


def test_what_is_new_or_gone(holders: Holders) -> None:
    asked = frozenset({"helpers", "shop", "zoo"})
    assert holders.keep({"helpers": FIRST, "shop": SECOND, "zoo": FIRST}, asked) == ["shop", "zoo"]
    holders.put("shop", SECOND, index("Altdorf").hashes)
    assert holders.of(Question("What is the cheapest in Neudorf?")) == {"helpers"}
    assert holders.of(Question("What is the cheapest in Altdorf?")) == {"shop"}
    assert holders.keep({"helpers": FIRST}, asked) == []
    assert holders.of(Question("What is the cheapest in Altdorf?")) == frozenset()
    assert holders.keep({}, frozenset({"others"})) == []
    assert holders.of(Question("Who knows first aid?")) == {"helpers"}, "others were asked for"


@pytest.mark.usefixtures("uncollected")
def test_a_large_catalog_is_searched_in_a_moment() -> None:
    made = Holders()
    for number in range(1_000):
        made.put(f"d{number}", FIRST, index(*(f"Ort{number}x{n}" for n in range(100))).hashes)
    made.of(Question("warm"))
    began = time.thread_time()
    assert made.of(Question("Who lives in Ort999x99 and who in Ort3x4?")) == {"d999", "d3"}
    assert time.thread_time() - began < 0.05
