"""What a part of a name is short for."""

from __future__ import annotations

import pytest

from schema_catalog.words import shortness


@pytest.mark.parametrize(
    ("short", "word"),
    [
        ("gnr", "genre"),
        ("grd", "grade"),
        ("phs", "phase"),
        ("cust", "customer"),
        ("sz", "size"),
        ("year", "year"),
    ],
)
def test_all_consonants_or_the_beginning_are_sure(short: str, word: str) -> None:
    assert shortness(short, word) == 1.0


def test_the_more_consonants_the_surer() -> None:
    assert 0 < shortness("st", "state") < shortness("arpt", "airport") < 1
    assert shortness("art", "airport") < shortness("arpt", "airport")


@pytest.mark.parametrize(
    ("short", "word"),
    [("g", "genre"), ("ngr", "genre"), ("gnrx", "genre"), ("genres", "genre"), ("enr", "genre")],
)
def test_other_letters_another_order_and_another_beginning_are_not(short: str, word: str) -> None:
    assert shortness(short, word) == 0.0
