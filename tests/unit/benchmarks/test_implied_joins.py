"""How implied references are counted against the declared ones."""

from __future__ import annotations

import pytest

from benchmarks.catalog.joins import counted, measured, references
from tests.support.schemas import MUSIC


def key(table: str, column: str) -> tuple[str, str, str]:
    return ("public", table, column)


def test_right_is_what_is_declared_or_joins_what_is_declared_to_be_equal() -> None:
    declared = {
        (key("a", "x"), key("c", "x")),
        (key("b", "x"), key("c", "x")),
        (key("d", "y"), key("c", "y")),
    }
    implied = {
        (key("a", "x"), key("c", "x")),
        (key("a", "x"), key("b", "x")),
        (key("c", "y"), key("d", "y")),
        (key("a", "z"), key("c", "z")),
    }
    assert counted(declared, implied) == (3, 4, 2)


def test_a_schema_is_read_without_its_foreign_keys() -> None:
    assert len(references(MUSIC)) == 3
    for primary in (True, False):
        assert measured([MUSIC], primary=primary) == (1, pytest.approx(1.0), pytest.approx(1.0))
