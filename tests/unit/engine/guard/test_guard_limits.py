"""The guard's limits: texts that are too much for it are refused, never a crash."""

from __future__ import annotations

import pytest
from pglast.parser import scan

from engine.guard import Allowed, Reason, Refused, check
from engine.guard.analyse import MAX_CHARACTERS, MAX_DEPTH, MAX_TOKENS
from engine.guard.policy import MAX_RELATIONS


def reason(sql: str) -> Reason | None:
    verdict = check(sql)
    return verdict.reason if isinstance(verdict, Refused) else None


def test_length_is_bounded_in_characters_and_tokens() -> None:
    assert reason("SELECT '" + "x" * (MAX_CHARACTERS - 9) + "'") is None
    assert reason("SELECT '" + "x" * (MAX_CHARACTERS - 8) + "'") is Reason.TOO_LONG
    assert reason("SELECT 1 IN (" + ",1" * 10 + ")") is Reason.UNREADABLE
    assert reason("SELECT 1 IN (1" + ",1" * ((MAX_TOKENS - 6) // 2) + ")") is None
    assert reason("SELECT 1 IN (1" + ",1" * (MAX_TOKENS // 2) + ")") is Reason.TOO_LONG


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("1+", ""),
        ("not ", ""),
        ("- ", ""),
        ("(select ", ")"),
        ("array[", "]"),
        ("case when true then ", " end"),
        ("coalesce(", ")"),
        ("upper(", ")"),
        ("(1,", ")"),
    ],
)
def test_nesting_is_bounded(opening: str, closing: str) -> None:
    once = opening + closing
    deep = min((MAX_TOKENS - 10) // len(scan(once)), MAX_CHARACTERS // len(once) - 5)
    assert reason(f"SELECT {opening * deep}true{closing * deep}") in {Reason.TOO_DEEP, Reason.UNREADABLE}
    assert reason(f"SELECT {opening * 20}true{closing * 20}") is None


def test_parentheses_and_conjunctions_are_flat_and_relations_are_counted() -> None:
    assert reason("SELECT " + "(" * 1900 + "1" + ")" * 1900) is None
    assert reason("SELECT " + "(" * 9000 + "1" + ")" * 9000) is Reason.TOO_LONG
    assert reason("SELECT 1 WHERE " + " AND ".join(["1 = 1"] * 500)) is None
    assert reason("SELECT " + "+".join(["1"] * (MAX_DEPTH + 10))) is Reason.TOO_DEEP
    assert reason("SELECT 1 FROM " + ", ".join(f"t t{n}" for n in range(MAX_RELATIONS))) is None
    too_many = "SELECT 1 FROM " + ", ".join(f"t t{n}" for n in range(MAX_RELATIONS + 1))
    assert reason(too_many) is Reason.TOO_MANY_RELATIONS


def test_a_zero_byte_hides_nothing_and_the_body_is_the_statement_alone() -> None:
    assert reason("SELECT 1\0; DROP TABLE customers") is Reason.UNREADABLE
    assert reason("SELECT '\ud800'") is Reason.UNREADABLE
    verdict = check("; -- é\n ; SELECT 'é;' /* in */, 1 ; -- after\n;")
    assert isinstance(verdict, Allowed)
    assert verdict.analysis.body == "SELECT 'é;' /* in */, 1"


def test_with_queries_are_told_from_tables_by_scope() -> None:
    sql = """WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a), c AS (WITH d AS (SELECT 1) SELECT * FROM d)
             SELECT * FROM a, d, public.b, (SELECT * FROM b) s"""
    verdict = check(sql)
    assert isinstance(verdict, Allowed)
    found = sorted((".".join(relation.name), relation.cte) for relation in verdict.analysis.relations)
    assert found == [
        ("a", True),
        ("a", True),
        ("b", False),
        ("b", True),
        ("d", False),
        ("d", True),
        ("public.b", False),
    ]
    recursive = check("WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a")
    assert isinstance(recursive, Allowed)
    assert all(relation.cte for relation in recursive.analysis.relations)
