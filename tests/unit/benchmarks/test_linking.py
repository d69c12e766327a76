"""The linking benchmark: its figures on decisions whose truth is known, and what is flagged."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness.intervals import Figure
from benchmarks.quality.linking.decided import Decided, Decisions, Links, decided
from benchmarks.quality.linking.figures import flagging_of, linking_of
from benchmarks.quality.linking.flagging import by_folds, flagged
from benchmarks.quality.linking.linked import known_questions
from engine.core.elements import WHOLE_TABLE
from engine.schema_linking.linker import Kind
from tests.support.doubting_linker import asked


@pytest.fixture(scope="module")
def known() -> Decided:
    return decided("calibration", asked(40, 11))


@pytest.fixture(scope="module")
def new() -> Decided:
    return decided("dev", asked(40, 12))


def test_gold_is_what_the_statement_reads(tmp_path: Path) -> None:
    item = {"id": "1", "db": "d", "question": "q", "tables": ["t", "u"], "columns": ["t.a", "u.b c.d"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(item) + "\n" + json.dumps(item | {"columns": None}) + "\n")
    (found,) = known_questions(tmp_path / "q.jsonl")
    assert found.tables == {("public", "t", WHOLE_TABLE), ("public", "u", WHOLE_TABLE)}
    assert found.columns == {("public", "t", "a"), ("public", "u", "b c.d")}


def value(figure: Figure | None) -> float:
    assert figure is not None
    return figure.value


def row(wrong: list[bool], tables: list[bool], questions: list[int]) -> Decisions:
    count = len(wrong)
    return Decisions(np.full(count, 0.5), np.array(wrong), np.array(tables), np.array(questions))


def test_abstaining_on_columns_includes_tables_and_question_coverage_is_of_all() -> None:
    """Two questions: of the first a table and a column are wrong, the second is right."""
    decisions = row([True, True, False, False], [True, False, True, False], [0, 0, 1, 1])
    wrong, right = Links(1, 1, 0), Links(1, 1, 1)
    one = Decided("x", decisions, decisions, ("a", "b"), dict.fromkeys(Kind, (wrong, right)))
    found = flagging_of(one, 0.1, np.array([True, False, False, True]), np.array([True, False, False, False]))
    shares = (found.coverage_table, found.coverage_column, found.coverage, found.coverage_question, found.ear)
    assert [value(each) for each in shares] == [1, 0, 0.5, 0, 0.25]
    for each in (found.table, found.column):
        assert [value(one) for one in (each.exact_match, each.tar, each.far)] == [1, 0.5, 0]
    given = found.column_given_tables
    assert [value(one) for one in (given.exact_match, given.tar, given.far)] == [0, 0, 0.5]
    assert linking_of(one, Kind.TABLE).exact_match.value == 0.5


def test_what_is_promised_of_branching_points_is_kept(known: Decided, new: Decided) -> None:
    flags = flagged(known.forced, new.forced, 0.1)
    found = flagging_of(new, 0.1, flags, np.zeros(len(new.free.wrong), dtype=np.bool_))
    slack = 4 * math.sqrt(0.1 * 0.9 * 2 / new.forced.wrong.sum())
    assert 0.9 - slack <= value(found.coverage) <= 0.9 + slack
    assert value(found.ear) < 0.6


def test_a_database_is_not_flagged_by_what_is_known_of_it(known: Decided) -> None:
    own = np.array([each == "db3" for each in known.databases])[known.forced.questions]
    turned = replace(known, forced=replace(known.forced, wrong=known.forced.wrong ^ own))
    before, after = (by_folds(each, known.forced, 0.2) for each in (known, turned))
    assert np.array_equal(before[own], after[own])
