"""The linking benchmark: its figures on decisions whose truth is known, and what is flagged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness.intervals import Figure
from benchmarks.quality.linking.abstaining import Decided, Decisions, by_folds, figures, summary_of
from benchmarks.quality.linking.linked import known_questions
from engine.link.schema_linker import Kind
from engine.values.elements import WHOLE_TABLE
from tests.support.doubting_linker import asked


@pytest.fixture(scope="module")
def known() -> Decided:
    return asked(40, 11)


def test_gold_is_what_the_statement_reads(tmp_path: Path) -> None:
    item = {"id": "1", "db": "d", "question": "q", "tables": ["t", "u"], "columns": ["t.a", "u.b c.d"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(item) + "\n" + json.dumps(item | {"columns": None}) + "\n")
    (found,) = known_questions(tmp_path / "q.jsonl")
    assert found.tables == {("public", "t", WHOLE_TABLE), ("public", "u", WHOLE_TABLE)}
    assert found.gold - found.tables == {("public", "t", "a"), ("public", "u", "b c.d")}


def value(figure: Figure | float | None) -> float:
    assert isinstance(figure, Figure)
    return figure.value


def decisions(margins: list[float], wrong: list[bool], tables: list[bool], questions: list[int]) -> Decisions:
    return Decisions(np.array(margins), np.array(wrong), np.array(tables), np.array(questions))


def test_abstaining_on_columns_includes_tables() -> None:
    """Four questions, each with a table and a column: what is closer than 1.0 of tables, 0.5 of columns, is flagged."""
    tables, questions = [True, False] * 4, [0, 0, 1, 1, 2, 2, 3, 3]
    free = decisions([0.9, 2.0, 3.0, 0.4, 3.0, 2.0, 3.0, 2.0], [True, True, *[False] * 6], tables, questions)
    forced = decisions([0.9, 0.4, *[3.0] * 6], [True, True, *[False] * 4, False, True], tables, questions)
    right = {kind: np.array([False, True, True, True]) for kind in Kind}
    known = decisions([1.0] * 9 + [0.5] * 9, [True] * 18, [True] * 9 + [False] * 9, list(range(18)))
    calibrating = Decided(tuple(map(str, range(18))), known, known, {})
    found = figures(Decided(("a", "b", "c", "d"), free, forced, right), calibrating)
    names = ("em_of_all", "em", "tar", "far", "coverage")
    assert [value(found[f"table_{name}"]) for name in names] == [0.75, 1, 0.25, 0, 1]
    assert [value(found[f"column_{name}"]) for name in names] == [0.75, 1, 0.25, 0.25, 0.5]
    assert value(found["coverage"]) == pytest.approx(2 / 3)
    assert summary_of(found, "linker_")["linker_column_far"] == 0.25


def test_a_database_is_not_flagged_by_what_is_known_of_it(known: Decided) -> None:
    own = np.array([each == "db3" for each in known.databases])[known.forced.questions]
    turned = replace(known, forced=replace(known.forced, wrong=known.forced.wrong ^ own))
    before, after = (by_folds(each, known.forced, 0.2) for each in (known, turned))
    assert np.array_equal(before[own], after[own])
