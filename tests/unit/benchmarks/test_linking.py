"""The linking benchmark: its figures on decisions whose truth is known, and the ways to flag beside one another."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality.candidates.figures import Figure
from benchmarks.quality.linking import report
from benchmarks.quality.linking.decided import Decided, Decisions, Links, decided
from benchmarks.quality.linking.figures import Resamples, discrimination_of, flagging_of, linking_of
from benchmarks.quality.linking.flagging import WAYS, flags_by_folds
from benchmarks.quality.linking.linked import Linked, known_questions
from benchmarks.quality.linking.remembered import Remembered
from benchmarks.quality.linking.surrogate import Asked, figures_of
from benchmarks.quality.roc import auc
from benchmarks.wire.machine import Machine
from engine.core.elements import WHOLE_TABLE
from engine.schema_linking.branching import Aggregation, Detector, Kind
from engine.schema_linking.nodes import NodeStates
from engine.schema_linking.probes import CONTEXT, Floats, Probes
from schema_catalog.types import Snapshot
from tests.support.doubting_linker import DIMENSION, LAYERS, asked
from tests.support.schemas import MUSIC


def seeing_probes() -> Probes:
    """Probes that see what the linker's states show: their first number."""
    w1 = np.zeros((LAYERS, DIMENSION + CONTEXT, 1), dtype=np.float32)
    w1[:, 0] = 1.0
    bias = np.full((LAYERS, 1), 5.0, dtype=np.float32)
    ones, offset = np.ones((LAYERS, 1), dtype=np.float32), np.full(LAYERS, -8.0, dtype=np.float32)
    return Probes(np.arange(LAYERS), w1, bias, ones, offset)


PROBES = seeing_probes()
WAY = {way.name: way for way in WAYS}


def detector(aggregation: Aggregation = Aggregation.MAJORITY) -> Detector:
    return Detector(PROBES, np.sort(np.random.default_rng(0).random((LAYERS, 50)), axis=1), aggregation)


@pytest.fixture(scope="module")
def known() -> Decided:
    return decided("calibration", asked(40, 11), PROBES)


@pytest.fixture(scope="module")
def new() -> Decided:
    return decided("dev", asked(40, 12), PROBES)


def test_gold_is_what_the_statement_reads(tmp_path: Path) -> None:
    item = {"id": "1", "db": "d", "question": "q", "tables": ["t", "u"], "columns": ["t.a", "u.b c.d"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(item) + "\n" + json.dumps(item | {"columns": None}) + "\n")
    (found,) = known_questions(tmp_path, ["q.jsonl"])
    assert found.tables == {("public", "t", WHOLE_TABLE), ("public", "u", WHOLE_TABLE)}
    assert found.columns == {("public", "t", "a"), ("public", "u", "b c.d")}


def test_links_beside_the_true_ones() -> None:
    one, two, three = (("public", "t", name) for name in "abc")
    half = Links.of(frozenset({one, two}), frozenset({one, three}))
    assert (half.exact, half.precision, half.recall) == (False, 0.5, 0.5)
    nothing = Links.of(frozenset(), frozenset())
    assert (nothing.exact, nothing.precision, nothing.recall) == (True, 1.0, 1.0)


def row(wrong: list[bool], tables: list[bool], questions: list[int]) -> Decisions:
    count = len(wrong)
    return Decisions(
        np.full((1, count), 0.5), np.array(wrong), np.array(tables), np.array(questions), np.arange(count)
    )


def test_abstaining_on_columns_includes_tables_and_question_coverage_is_of_all() -> None:
    """Two questions: of the first a table and a column are wrong, the second is right."""
    decisions = row([True, True, False, False], [True, False, True, False], [0, 0, 1, 1])
    wrong, right = Links(1, 1, 0), Links(1, 1, 1)
    one = Decided("x", decisions, decisions, ("a", "b"), (wrong, right), (wrong, right))
    found = flagging_of(one, np.array([True, False, False, True]), np.array([True, False, False, False]))
    assert (found.coverage_table.value, found.coverage_column.value, found.coverage.value) == (1, 0, 0.5)
    assert found.coverage_question.value == 0
    assert (found.ear_table.value, found.ear_column.value) == (0, 0.5)
    for each in (found.table, found.column):
        assert (each.exact_match.value, each.tar.value, each.far.value) == (1, 0.5, 0)
    given = found.column_given_tables
    assert (given.exact_match.value, given.tar.value, given.far.value) == (0, 0, 0.5)
    assert linking_of(one, Kind.TABLE).exact_match.value == 0.5


@pytest.mark.parametrize("aggregation", Aggregation)
def test_what_is_promised_of_branching_points_is_kept_by_the_ways_that_promise_it(
    known: Decided, new: Decided, aggregation: Aggregation
) -> None:
    covered = {}
    for name, way in WAY.items():
        flags = way.flag(detector(aggregation), known.forced, new.forced, 0.1)
        covered[name] = flagging_of(new, flags, np.zeros(len(new.free.wrong), dtype=np.bool_))
    slack = 4 * math.sqrt(0.1 * 0.9 * 2 / new.forced.wrong.sum())
    assert covered["calibrated"].coverage.value >= 0.9 - slack
    assert covered["question"].coverage_question.value >= 0.9 - slack
    assert covered["label-conditional"].coverage.value >= 0.8 - slack
    assert covered["marginal"].coverage.value < 0.8 - slack
    assert covered["question"].coverage.value >= covered["calibrated"].coverage.value


@pytest.mark.parametrize("name", WAY)
def test_a_database_is_not_flagged_by_what_is_known_of_it(known: Decided, name: str) -> None:
    own = np.array([each == "db3" for each in known.databases])[known.forced.questions]
    turned = replace(known, forced=replace(known.forced, wrong=known.forced.wrong ^ own))
    before, after = (
        flags_by_folds(WAY[name], detector(), each, known.forced, 0.2) for each in (known, turned)
    )
    assert np.array_equal(before[own], after[own])


def test_areas_are_those_of_all_pairs_and_lie_in_their_intervals(known: Decided) -> None:
    for layer in range(LAYERS):
        found = discrimination_of(known, layer).column
        own = ~known.forced.tables
        scores: Floats = known.forced.chances[layer]
        assert found.value == pytest.approx(auc(scores[own], known.forced.wrong[own]))
        assert found.low < found.value < found.high


def test_shares_draw_whole_databases() -> None:
    """One database right, one wrong: what is drawn is all, half or nothing."""
    found = Resamples(["a", "a", "b", "b"]).share([1, 1, 0, 0], np.ones(4))
    assert found == Figure(0.5, 0.0, 1.0)
    assert math.isnan(Resamples(["a"]).share([0], [0]).value)


def test_the_results_file_has_no_number_that_json_does_not_know(
    known: Decided, new: Decided, tmp_path: Path
) -> None:
    everything = np.ones(len(new.forced.wrong), dtype=np.bool_)
    figures = flagging_of(new, everything, np.ones(len(new.free.wrong), dtype=np.bool_))
    assert math.isnan(figures.table.exact_match.value)
    layers = tuple(discrimination_of(new, layer) for layer in range(LAYERS))
    cells = (report.Cell("calibrated", Aggregation.MAJORITY, 0.1, figures),)
    tables, columns = (linking_of(new, kind) for kind in Kind)
    one = report.SetFigures("dev", len(new), 40, len(everything), 9, tables, columns, layers, cells)
    machine = Machine("cpu", 2, 1.0, "kernel", "3", "commit", dirty=False)
    origin = report.Origin(machine, "command", 1, "linker", "probes", (2, 1, 0), Aggregation.MAJORITY)
    said = [Asked("a", "1", Kind.TABLE, linked=True, relevant=False, log_odds=-1.0, seconds=1.0)]
    file = tmp_path / "dialogue.json"
    report.write_json(origin, [one], figures_of(said), file)
    written = json.loads(file.read_text(), parse_constant=pytest.fail)
    assert set(written["summary"]) == {
        "table_em", "table_far", "column_em", "column_far", "branch_coverage_a10", "sbpp_auc"
    }  # fmt: skip
    assert written["summary"]["table_em"] is None
    assert written["summary"]["branch_coverage_a10"] == 1.0
    assert written["linking"]["surrogate"]["accuracy"]["value"] == 1.0


def test_the_surrogate_is_measured_against_the_truth_and_against_flags() -> None:
    """Wrong decision that it lifts, right one that it lifts, right one that it leaves, one without an answer."""
    said = [
        Asked("a", "1", Kind.TABLE, linked=True, relevant=False, log_odds=1.0, seconds=1.0),
        Asked("a", "1", Kind.COLUMN, linked=True, relevant=True, log_odds=1.0, seconds=1.0),
        Asked("b", "2", Kind.COLUMN, linked=False, relevant=False, log_odds=1.0, seconds=1.0),
        Asked("b", "2", Kind.COLUMN, linked=False, relevant=False, log_odds=None, seconds=1.0),
    ]
    found = figures_of(said)
    assert (found.n, found.questions) == (4, 2)
    assert (found.accuracy.value, found.linker.value) == (0.25, 0.75)
    assert found.auc == 0.5
    assert found.lifted_wrong.value == 1.0
    assert found.lifted_right.value == pytest.approx(1 / 3)


def test_decisions_about_questions_are_collected_in_their_order() -> None:
    found: list[Linked] = asked(2, 13)
    one = decided("x", found, PROBES)
    assert len(one) == len(found) == 16
    assert one.forced.questions.tolist() == sorted(one.forced.questions.tolist())
    assert int(one.forced.wrong.sum()) == sum(wrong for each in found for _, wrong in each.forced)
    assert one.by([2]).free.chances.shape == (1, len(one.free.wrong))


def test_states_are_read_once_and_kept_with_the_version_schema_and_question(tmp_path: Path) -> None:
    one = asked(1, 14)[0]
    calls = []

    class Counting:
        version = "1"

        def read(self, question: str, snapshot: Snapshot) -> NodeStates | None:
            calls.append((question, snapshot))
            return one.states if question == "q" else None

    linker = Counting()
    kept = Remembered(linker, tmp_path / "states")
    first, second = kept.read("q", MUSIC), kept.read("q", MUSIC)
    assert first is not None
    assert second is not None
    assert second.nodes == first.nodes
    assert second.answerable == first.answerable
    assert np.array_equal(second.log_odds, first.log_odds)
    assert np.allclose(second.states, first.states, atol=1e-2)
    assert kept.read("other", MUSIC) is None
    assert len(calls) == 2
    linker.version = "2"
    kept.read("q", MUSIC)
    assert len(calls) == 3
