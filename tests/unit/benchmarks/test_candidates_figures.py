"""Figures, coverage and the written results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality.candidates.coverage import Source, both, covered, points, selected
from benchmarks.quality.candidates.evaluation import judged
from benchmarks.quality.candidates.figures import Results, paired, ratio, summary
from benchmarks.quality.candidates.journal import Answer, Cost, Journal, Proposal
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.options import Options
from benchmarks.quality.candidates.questions import SETS, Selection, asked
from benchmarks.quality.candidates.report import Run, plot, table, write_json, write_page
from benchmarks.quality.candidates.running import Pass
from benchmarks.wire.machine import Machine
from engine.calibration.splits import id_hash

ENCODER = "encoder-1"
ASKED_FOR = {
    *(f"ambiqt_{kind}_both5" for kind in "ctj"),
    *(
        "ambiqt_selected_both5",
        "ambiqt_selected_set_size",
        "spider_acc1",
        "spider_set_acc",
        "spider_set_size",
    ),
    *("spider_unrouted_acc1", "spider_mrr", "defog_acc1", "coverage_gap_min", "k6_time_ratio"),
    *("k6_prefill_ratio", "peer_acc1", "peer_seconds_ratio"),
}
"""The keys that the results are read by."""


def answer(identity: str, seconds: float, scores: list[float | None]) -> Answer:
    made = [Proposal("right" if not n else "wrong", None, 0.5, {ENCODER: s}) for n, s in enumerate(scores)]
    return Answer(identity, tuple(made), Cost(seconds, 1, 100, 0, 10), commit="abc")


class FakeSystem:
    """A system that only has a name."""

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture
def results(bench: Path, tmp_path: Path) -> Results:
    questions = asked(bench, SETS[0], Selection(None, 1))
    passes = []
    for name, seconds in (("pgparley", 6.0), ("one_candidate", 3.0), ("vanna", 4.0)):
        journal = Journal(tmp_path / f"{name}.jsonl")
        for number, each in enumerate(questions):
            journal.add(answer(each.question.id, seconds, [number / 40, 2.0]))
        passes.append(Pass("spider", FakeSystem(name), questions, journal))  # type: ignore[arg-type]  # judged, not asked
    options = Options(bench, tmp_path, SETS, None, Selection(None, 1), 6, False, False, None, None, None)  # noqa: FBT003
    told: list[str] = []
    found = judged(options, Scorer(bench, "postgresql:///none", tmp_path / "scoring"), passes, told.append)
    assert told[0] == "scoring spider pgparley"
    return found


def test_a_ratio_is_of_sums_and_has_an_interval() -> None:
    found = ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found is not None
    assert (found.value, found.low, found.high) == (2.0, 2.0, 2.0)
    spread = ratio([1.0, 9.0], [1.0, 1.0])
    assert spread is not None
    assert (spread.low, spread.value, spread.high) == (1.0, 5.0, 9.0)
    assert ratio([], []) is None
    assert ratio([1.0], [0.0]) is None


def test_the_summary_has_the_keys_and_says_what_was_not_measured(results: Results) -> None:
    found = summary(results)
    assert set(found) >= ASKED_FOR
    assert found["spider_acc1"] == 1.0
    assert found["k6_time_ratio"] == 2.0
    assert found["k6_prefill_ratio"] == 1.0
    assert found["peer_acc1"] == 1.0
    assert found["peer_seconds_ratio"] == 1.5
    assert found["spider_unrouted_acc1"] is None
    assert set(summary(Results((), {})).values()) == {None}


def test_only_questions_that_both_answered_are_compared() -> None:
    answers = {
        ("spider", "pgparley"): (answer("a", 6.0, [0.0]), answer("b", 100.0, [0.0])),
        ("spider", "vanna"): (answer("c", 1.0, [0.0]), answer("a", 2.0, [0.0])),
    }
    found = paired(Results((), answers), "spider", "pgparley", "vanna", "seconds")
    assert found is not None
    assert found.value == 3.0
    assert paired(Results((), answers), "defog", "pgparley", "vanna", "seconds") is None


def test_coverage_is_measured_by_the_engines_own_calibration() -> None:
    answers = [answer(f"q{n}", 1.0, [(n * 37 % 500) / 500, 2.0]) for n in range(500)]
    right = {each.id: ((True, True), (False, False)) for each in answers}
    made = points(answers, right, {each.id: "music" for each in answers})
    found = covered(Source("spider", "pgparley"), made, ENCODER, seed=1)
    assert [each.promised for each in found] == [0.99, 0.95, 0.9, 0.8]
    for each in found:
        assert each.divisions == 20
        assert abs(each.gap) < 0.02
        assert each.set_size == each.right == 1.0
        assert each.lowest <= each.mean


def test_too_few_points_give_no_coverage() -> None:
    answers = [answer(f"q{n}", 1.0, [0.5]) for n in range(3)]
    right = {each.id: ((True, True),) for each in answers}
    assert covered(Source("s", "p"), points(answers, right, dict.fromkeys(right, "m")), ENCODER, seed=1) == ()
    assert (
        selected(Source("s", "p"), points(answers, right, dict.fromkeys(right, "m")), right, ENCODER, 1)
        is None
    )


def test_a_question_of_two_readings_means_one_of_them() -> None:
    answers = [answer(f"q{n}", 1.0, [0.0, None]) for n in range(200)]
    right = {each.id: ((True, False), (False, True)) for each in answers}
    made = points(answers, right, dict.fromkeys(right, "music"))
    meant = [point.candidates[0].right for point in made]
    assert 60 < sum(meant) < 140
    assert all(point.candidates[0].right != point.candidates[1].right for point in made)
    assert made[0].question == id_hash("q0")
    assert made[0].candidates[1].score(ENCODER) == float("inf")
    kept = selected(Source("ambiqt_c", "pgparley"), made, right, ENCODER, seed=1)
    assert kept is not None
    assert (kept.both5_before, kept.set_size) == (1.0, 2.0)


def test_both_needs_a_candidate_of_each_reading_in_the_first_five() -> None:
    one, two, either, none = (True, False), (False, True), (True, True), (False, False)
    assert both([none, two, none, none, one])
    assert not both([one, none, none, none, none, two])
    assert not both([either, either])
    assert not both([one, either])


def test_the_results_are_written(results: Results, tmp_path: Path) -> None:
    machine = Machine("a processor", 2, 24.0, "6", "3.11", "abcdef", dirty=False)
    run = Run(
        machine, "make bench-quality", 1, {"k": 6, "left out": ["vanna is not installed"]}, {"model": "m"}
    )
    write_json(run, results, tmp_path / "candidates.json")
    whole = json.loads((tmp_path / "candidates.json").read_text())
    assert (whole["commit"], whole["seed"], whole["n"]["spider/pgparley"]) == ("abcdef", 1, 40)
    assert whole["summary"]["spider_acc1"] == 1.0
    assert whole["ratios"]["spider: seconds by one_candidate"]["value"] == 2.0
    write_page(run, results, tmp_path / "candidates.md")
    page = (tmp_path / "candidates.md").read_text()
    assert "`make bench-quality`" in page
    assert "| spider | pgparley | 40 | 100.0 [100.0, 100.0] |" in page
    assert "vanna is not installed" in page
    assert table(results).row_count == 3


def test_the_plot_is_drawn(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot(results, tmp_path / "candidates.png")
    assert (tmp_path / "candidates.png").stat().st_size > 5_000
