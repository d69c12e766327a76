"""How proposed joins are counted against the declared ones."""

from __future__ import annotations

from benchmarks.catalog.joins import counted, references, without_keys
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
    found = counted(declared, implied)
    assert (found.proposed, found.right, found.declared, found.found) == (4, 3, 3, 3)


def test_a_schema_is_read_without_its_foreign_keys() -> None:
    assert len(references(MUSIC)) == 3
    for primary in (True, False):
        bare = without_keys(MUSIC, primary=primary)
        assert not references(bare)
        assert any(table.primary_key for table in bare.tables) is primary
