"""Rows that do not count: where the schema says so, and what a statement does with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.link.exclusions import excluded, exclusions
from engine.statement.scope import Scopes
from engine.statement.tree import parsed
from engine.write.known_text import exclusion_text
from schema_catalog.types import Column, Snapshot
from tests.support.schemas import table


def of(*columns: Column) -> Snapshot:
    made = replace(table("orders", "id"), columns=(Column("id", "integer", nullable=False), *columns))
    return Snapshot("shop", ("public",), (made, table("item", "item_id id")))


GONE = Column("deleted_at", "timestamp with time zone")
FLAG = Column("is_deleted", "boolean")
NUMBER = Column("deleted", "smallint")
ACTIVE = Column("isActive", "boolean")
TESTS = Column("trial", "boolean", description="made by us; such orders do not count")
CODES = Column("state", "integer", description="10 new, 90 cancelled (such orders do not count)")


@pytest.mark.parametrize(
    ("column", "tests"),
    [
        (GONE, ["deleted_at IS NULL"]),
        (FLAG, ["NOT is_deleted"]),
        (NUMBER, ["deleted = 0"]),
        (TESTS, ["NOT trial"]),
        (CODES, ["state <> 90"]),
        (ACTIVE, ['"isActive"']),
        (Column("deleted_at", "timestamp with time zone", nullable=False), []),
        (Column("deleted_by_user", "integer"), []),
        (Column("net", "boolean", description="tax is paid on top"), []),
    ],
)
def test_columns_that_tell(column: Column, tests: list[str]) -> None:
    assert [each.tests[0] for each in exclusions(of(column))] == tests


@pytest.mark.parametrize(
    ("column", "condition", "said"),
    [
        (GONE, "WHERE o.deleted_at IS NULL", ["leaves out deleted orders"]),
        (GONE, "", ["includes deleted orders, if there are any"]),
        (FLAG, "WHERE NOT o.is_deleted AND o.id > 1", ["leaves out deleted orders"]),
        (FLAG, "JOIN item ON item.id = o.id AND is_deleted = false", ["leaves out deleted orders"]),
        (CODES, "WHERE o.state <> 90", ["leaves out cancelled orders"]),
        (CODES, "WHERE o.state = 90", []),
        (ACTIVE, 'WHERE o."isActive"', ["leaves out orders that are not active"]),
    ],
)
def test_the_asker_is_told_what_a_statement_does(column: Column, condition: str, said: list[str]) -> None:
    tree = parsed(f"SELECT count(*) FROM orders AS o {condition}")
    assert tree is not None
    assert list(excluded(tree, Scopes(tree, of(column)))) == said


def test_nothing_is_said_of_a_table_that_is_not_read_and_to_the_model_not_what_is_in_use() -> None:
    tree = parsed("SELECT count(*) FROM item")
    assert tree is not None
    assert list(excluded(tree, Scopes(tree, of(GONE)))) == []
    assert "orders: deleted_at IS NULL" in exclusion_text(of(GONE))
    assert exclusion_text(of(ACTIVE)) == ""
