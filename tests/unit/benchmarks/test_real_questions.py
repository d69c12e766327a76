"""The benchmark's questions are well formed, and their halves are what the ids say."""

from __future__ import annotations

from collections import Counter

import pglast
from pglast import ast

from benchmarks.real.databases import SCHEMAS
from benchmarks.real.questions import Half, Kind, RealQuestion, read_questions

QUESTIONS = read_questions()


def test_each_half_has_enough_of_every_database_and_kind() -> None:
    assert len({each.id for each in QUESTIONS}) == len({each.text for each in QUESTIONS}) == len(QUESTIONS)
    assert all(count >= 75 for count in Counter(each.half for each in QUESTIONS).values())
    databases = Counter((each.half, each.database) for each in QUESTIONS)
    kinds = Counter((each.half, kind) for each in QUESTIONS for kind in each.kinds)
    assert all(databases[half, name] >= 5 for half in Half for name in SCHEMAS)
    assert all(kinds[half, kind] >= 5 for half in Half for kind in Kind)


def test_the_half_is_decided_by_the_id_alone() -> None:
    one = RealQuestion("melody-01", "melody", "a", (Kind.FILTER,), ("SELECT 1",))
    other = RealQuestion("melody-01", "sales", "b", (Kind.DATE,), ("SELECT 2",))
    # What is set aside stays so: `printf melody-01 | sha256sum` ends in an odd digit or an even one.
    assert one.half is other.half is Half.OPEN


def test_gold_is_distinct_selects_of_tagged_questions() -> None:
    for each in QUESTIONS:
        assert len(set(each.kinds)) == len(each.kinds) > 0
        assert len(set(each.gold)) == len(each.gold) > 0
    for sql in (sql for each in QUESTIONS for sql in each.gold):
        (statement,) = pglast.parse_sql(sql)
        assert isinstance(statement.stmt, ast.SelectStmt)
        # The scorer cannot tell ties behind an OFFSET.
        assert statement.stmt.limitOffset is None
