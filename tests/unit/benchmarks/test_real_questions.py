"""The benchmark's questions are well formed, and their halves are what the ids say."""

from __future__ import annotations

from collections import Counter

import pglast
import pytest
from pglast import ast

from benchmarks.harness.questions import Asked, Question
from benchmarks.real.__main__ import in_turns
from benchmarks.real.databases import RESHAPED, SCHEMAS, Reshaped
from benchmarks.real.questions import Half, Kind, RealQuestion, read_questions

QUESTIONS = read_questions()


def test_ids_and_texts_are_unique() -> None:
    assert len({each.id for each in QUESTIONS}) == len(QUESTIONS) >= 150
    assert len({each.text for each in QUESTIONS}) == len(QUESTIONS)


def test_every_database_is_asked_about() -> None:
    assert {each.database for each in QUESTIONS} == SCHEMAS.keys()


def test_each_half_has_enough_of_every_database_and_kind() -> None:
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


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.id)
def test_gold_is_distinct_selects_of_tagged_questions(question: RealQuestion) -> None:
    assert question.kinds
    assert len(set(question.kinds)) == len(question.kinds)
    assert question.gold
    assert len(set(question.gold)) == len(question.gold)
    for sql in question.gold:
        (statement,) = pglast.parse_sql(sql)
        assert isinstance(statement.stmt, ast.SelectStmt)
        # The scorer cannot tell ties behind an OFFSET.
        assert statement.stmt.limitOffset is None


def test_every_database_gets_its_turn_and_every_question_is_asked_once() -> None:
    asked = [Asked(Question(each.id, each.text, each.database), owner=each.database) for each in QUESTIONS]
    parts = in_turns(asked)
    assert {part[0].question.database for part in parts[: len(SCHEMAS)]} == SCHEMAS.keys()
    assert all(len({each.question.database for each in part}) == 1 for part in parts)
    assert sorted(each.question.id for part in parts for each in part) == sorted(
        each.id for each in QUESTIONS
    )


@pytest.mark.parametrize("database", RESHAPED, ids=lambda each: each.name)
def test_reshaped_databases_make_the_schemas_that_are_registered(database: Reshaped) -> None:
    made = [
        statement.stmt.schemaname
        for statement in pglast.parse_sql(database.script)
        if isinstance(statement.stmt, ast.CreateSchemaStmt)
    ]
    assert sorted(made) == sorted(database.schemas)
    assert len(made) >= 3
