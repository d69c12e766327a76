"""From answers to figures, and into the files of results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.harness.answers import judged, told
from benchmarks.harness.command import Options, options_of, parser
from benchmarks.harness.intervals import auc, mean, median, ratio
from benchmarks.harness.journal import Answer, Cost, Proposal
from benchmarks.harness.machine import Machine
from benchmarks.harness.outcomes import Outcome, outcomes, row
from benchmarks.harness.questions import AMBIQT, SPIDER, QuestionSet, Selection, asked
from benchmarks.harness.report import Part, Run, write_result
from benchmarks.harness.running import Pass
from benchmarks.harness.scorer import Scorer, Verdicts
from benchmarks.harness.systems import WHOLE
from benchmarks.quality.candidates.__main__ import ONE, summaries

YES, NO = (True, True), (False, False)
MACHINE = Machine("a processor", 2, 24.0, "6", "3.11", "abcdef", dirty=False)
RUN = Run("candidates", "python -m x", 1, {"k": 6}, MACHINE)


class Named:
    """A system that only has a name."""

    settings, sources, lacks = "", (), "something"

    def __init__(self, name: str) -> None:
        self.name = name


def outcome(key: str, owner: str, place: int | None, seconds: float = 2.0) -> Outcome:
    """Two statements, of which that at `place` is right."""
    right = tuple(YES if place == number else NO for number in (1, 2))
    return Outcome(Answer(key, (Proposal("a"), Proposal("b")), Cost(seconds, 1, 100)), owner, right)


def by_id(*some: Outcome) -> dict[str, Outcome]:
    return {each.id: each for each in some}


def answered(bench: Path, work: Path, of: QuestionSet, name: str, *statements: str) -> Pass:
    """A pass whose questions all have these statements."""
    one = Pass.of_system(of, Named(name), asked(bench, of, Selection(None, 1)), work)  # type: ignore[arg-type]  # not asked
    for each in one.left:
        cost = Cost(6.0 if name == WHOLE else 3.0, 1, 100)
        one.journal.add(Answer(each.question.id, tuple(map(Proposal, statements)), cost, commit="abc"))
    return one


@pytest.fixture
def verdicts(bench: Path, tmp_path: Path) -> Verdicts:
    return Verdicts(Scorer(bench, "postgresql:///none", tmp_path / "scoring"))


def test_a_ratio_is_of_sums_and_its_interval_draws_owners_whole() -> None:
    even = ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], "abc")
    assert even is not None
    assert (even.value, even.low, even.high) == (2.0, 2.0, 2.0)
    assert ratio([1.0], [0.0], "a") is None
    values = [1.0] * 50 + [0.0] * 50
    two = mean(values, ["x"] * 50 + ["y"] * 50)
    assert (two.value, two.low, two.high) == (0.5, 0.0, 1.0)
    many = mean(values, list(map(str, range(100))))
    assert 0.35 < many.low < 0.5 < many.high < 0.65
    assert median([]) is None


def test_auc_counts_pairs_and_half_of_ties() -> None:
    random = np.random.default_rng(1)
    scores, positive = random.integers(0, 6, 80).astype(np.float64), random.random(80) < 0.3
    above = scores[positive][:, None] - scores[~positive][None, :]
    assert auc(scores, positive) == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())
    assert np.isnan(auc(scores, np.ones(80)))


def test_gains_are_over_the_questions_that_both_answered() -> None:
    whole = by_id(outcome("1", "x", 1, 4.0), outcome("2", "x", 2), outcome("3", "y", 1), outcome("4", "y", 1))
    arm = by_id(outcome("1", "x", None), outcome("2", "x", 1, 1.0), outcome("3", "y", 2, 1.0))
    found = row("part", "a part", arm, whole)
    assert (found.n, found.mrr.value, found.set_size.value) == (3, 0.5, 2.0)
    assert (found.acc1.value, found.set_acc.value) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert found.gain_acc1 is not None
    assert found.gain_set is not None
    assert found.seconds_ratio is not None
    assert (found.gain_acc1.value, found.gain_set.value) == (pytest.approx(1 / 3),) * 2
    assert found.seconds_ratio.value == 2.0
    assert row(WHOLE, "nothing", whole, {}).gain_acc1 is None


def test_of_a_question_with_two_readings_both_are_to_be_in_the_set(
    bench: Path, tmp_path: Path, verdicts: Verdicts
) -> None:
    passes = [
        answered(bench, tmp_path, AMBIQT[0], "both", "wrong", "as 1", "as 2"),
        answered(bench, tmp_path, AMBIQT[0], "one", "as 1", "wrong"),
    ]
    found = outcomes(AMBIQT[0], passes, verdicts)
    assert {(each.place, each.found) for each in found["both"].values()} == {(2, True)}
    assert {(each.place, each.found) for each in found["one"].values()} == {(1, False)}


def test_a_whole_run_is_told_and_written(bench: Path, tmp_path: Path, verdicts: Verdicts) -> None:
    passes = [
        answered(bench, tmp_path, SPIDER, WHOLE, "right", "wrong"),
        answered(bench, tmp_path, SPIDER, ONE, "wrong"),
    ]
    found = judged(passes, WHOLE, verdicts)
    files = {name: tmp_path / f"a.{name}" for name in ("json", "page", "outcomes")}
    words = [f"--{name}={file}" for name, file in files.items()]
    options = options_of(parser("x", "", k=6).parse_args(["--bench", str(bench), *words]), Options)
    told(RUN, found, summaries(found), options, Console(quiet=True))
    whole = json.loads(files["json"].read_text())
    assert (whole["commit"], whole["seed"], whole["n"]) == ("abcdef", 1, {"spider": {WHOLE: 40, ONE: 40}})
    assert (whole["summary"]["spider_acc1"], whole["summary"]["k6_time_ratio"]) == (1.0, 2.0)
    assert whole["parts"]["spider"]["commits"] == ["abc"]
    page = files["page"].read_text()
    assert "`python -m x` at commit `abcdef`" in page
    assert "| pgparley | something | 40 | 100.0 [100.0, 100.0] |" in page
    assert len(files["outcomes"].read_text().splitlines()) == 80


def test_a_run_replaces_its_own_parts_and_their_keys_and_keeps_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "results" / "dialogue.json"
    write_result(file, RUN, {"dialogue": Part(5, [], {"efficiency": 0.5, "gone": None})})
    write_result(file, RUN, {"linking": Part(1, {"x": float("nan")}, {"table_em": 0.9})})
    write_result(file, RUN, {"dialogue": Part(6, [], {"efficiency": 0.25})})
    whole = json.loads(file.read_text())
    assert whole["n"] == {"dialogue": 6, "linking": 1}
    assert whole["summary"] == {"efficiency": 0.25, "table_em": 0.9}
    assert whole["parts"]["linking"]["tables"] == {"x": None}
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("content", ["[1]", "{"])
def test_a_damaged_file_is_not_overwritten(tmp_path: Path, content: str) -> None:
    file = tmp_path / "dialogue.json"
    file.write_text(content)
    with pytest.raises(ValueError, match="restore it"):
        write_result(file, RUN, {"dialogue": Part(5, [])})
    assert file.read_text() == content
