"""A statement is read once for a text and a schema, by whoever asks, and forgotten with the schema."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from engine.guard.analyse import UnreadableError
from engine.statement.read import Statement, statement_of
from engine.statement.tree import KEPT, KEPT_CHARACTERS
from tests.support.schemas import MUSIC

SQL = "SELECT title FROM concert ORDER BY year"
TITLE = frozenset({("public", "concert", "title")})


def of(sql: str) -> Statement:
    return statement_of(sql, MUSIC)


def test_whoever_asks_gets_the_same_parts() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(of, [SQL] * 20))
    first = found[-1]
    assert all(each is first for each in found[4:])
    assert first.apart is of(SQL).apart is not None
    assert first.bound is of(SQL).bound
    assert first.determinism is of(SQL).determinism
    assert (first.shown, first.resolution.tables) == (TITLE, {("public", "concert")})
    assert of(SQL).form == of("SELECT c.title FROM concert AS c ORDER BY c.year").form


def test_a_draft_is_nobody_elses() -> None:
    one, other = of(SQL).draft(), of(SQL).draft()
    assert one is not None
    assert other is not None
    one.tree.set("order", None)
    assert other.sql == SQL
    assert of(SQL).tree == other.tree


def test_another_schema_has_another() -> None:
    smaller = replace(MUSIC, tables=MUSIC.tables[1:])
    assert statement_of(SQL, smaller) is not of(SQL)
    assert statement_of(SQL, smaller).tree is of(SQL).tree


def test_what_is_no_query_has_no_parts() -> None:
    other = of("no statement")
    assert (other.tree, other.apart, other.draft(), other.shown) == (None, None, None, frozenset())
    with pytest.raises(UnreadableError):
        _ = other.bound


def test_it_is_kept_no_longer_than_its_schema_and_no_more_than_so_many_are() -> None:
    schema = replace(MUSIC)
    gone = weakref.ref(statement_of(SQL, schema))
    assert statement_of(SQL, schema).apart is not None
    del schema
    gc.collect()
    assert gone() is None
    first = of(SQL)
    for number in range(KEPT):
        of(f"SELECT {number}")
    assert of(SQL) is not first
    long = f"SELECT '{'x' * KEPT_CHARACTERS}'"
    assert of(long) is not of(long)
