"""What a name in FROM means: a table of the catalog or a query of WITH."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from engine.statement.resolution import resolve
from engine.statement.scope import Scopes
from engine.statement.tree import parsed
from schema_catalog.types import Snapshot
from tests.support.schemas import MUSIC, table

CASES = {
    "a query of WITH hides the table": ("WITH singer AS (SELECT 1) SELECT 1 FROM singer", []),
    "but not that of a schema": ("WITH singer AS (SELECT 1) SELECT 1 FROM public.singer", ["singer"]),
    "inside of itself the name is the table's": (
        "WITH singer AS (SELECT * FROM singer) SELECT 1 FROM singer",
        ["singer"],
    ),
    "unless it is recursive": (
        "WITH RECURSIVE singer AS (SELECT 1 UNION SELECT * FROM singer) SELECT 1 FROM singer",
        [],
    ),
    "a query sees those before it": (
        "WITH singer AS (SELECT 1), x AS (SELECT * FROM singer) SELECT 1 FROM x",
        [],
    ),
    "and not those after it": (
        "WITH x AS (SELECT * FROM singer), singer AS (SELECT 1) SELECT 1 FROM x",
        ["singer"],
    ),
    "of WITH RECURSIVE it sees all": (
        "WITH RECURSIVE x AS (SELECT * FROM singer), singer AS (SELECT 1) SELECT 1 FROM x",
        [],
    ),
    "a subquery sees what is around it": (
        "WITH singer AS (SELECT 1) SELECT 1 FROM stadium WHERE EXISTS (SELECT 1 FROM singer)",
        ["stadium"],
    ),
    "what a subquery has is seen in it alone": (
        "SELECT 1 FROM singer WHERE EXISTS (WITH singer AS (SELECT 1) SELECT 1 FROM singer)",
        ["singer"],
    ),
    "both sides of a set operation see it": (
        "WITH singer AS (SELECT 1) SELECT 1 FROM singer UNION SELECT 1 FROM singer",
        [],
    ),
    "a WITH inside of a WITH": (
        "WITH x AS (WITH singer AS (SELECT 1) SELECT 1 FROM singer), y AS (SELECT * FROM singer) SELECT 1 FROM y",
        ["singer"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_scope_of_with(name: str) -> None:
    sql, tables = CASES[name]
    tree = parsed(sql)
    assert tree is not None
    reads = [read for each in Scopes(tree, MUSIC).reads.values() for read in each]
    assert [read.table.name for read in reads if read.table is not None] == tables
    assert {key[1] for key in resolve(sql, MUSIC).tables} == set(tables)


def test_a_bare_name_is_the_search_paths() -> None:
    away = replace(table("singer", "singer_id"), schema="archive")
    scopes = Scopes(exp.select("1"), Snapshot("music", ("public",), (away, *MUSIC.tables)))
    assert [scopes.bare("singer"), scopes.bare("nothing")] == [MUSIC.tables[1], None]
