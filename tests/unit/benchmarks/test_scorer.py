"""What the scorer is given, and what is read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.harness.journal import Proposal
from benchmarks.harness.outcomes import statement
from benchmarks.harness.questions import AMBIQT, DEFOG, SPIDER, QuestionSet
from benchmarks.harness.scorer import ELSEWHERE, JudgingError, Right, Scorer, Verdicts, both


@pytest.fixture
def scorer(bench: Path, tmp_path: Path) -> Scorer:
    return Scorer(bench, "postgresql:///none", tmp_path / "scoring")


def test_every_statement_gets_its_own_verdict(scorer: Scorer) -> None:
    wanted = {"spider-dev-7": ["wrong", "right", "right too"], "spider-dev-3": [], "spider-dev-5": ["right"]}
    assert scorer.judge(SPIDER, wanted) == {
        "spider-dev-7": ((False, False), (True, True), (True, True)),
        "spider-dev-3": (),
        "spider-dev-5": ((True, True),),
    }


def test_readings_are_told_apart(scorer: Scorer) -> None:
    found = scorer.judge(AMBIQT[0], {"ambiqt-C-1": ["reading 1", "reading 2", "none"]})
    assert found == {"ambiqt-C-1": ((True, False), (False, True), (False, False))}


def test_a_statement_for_another_database_cannot_be_right() -> None:
    assert statement(Proposal("right", "pets"), "music") == ELSEWHERE
    assert statement(Proposal("right", "music"), "music") == statement(Proposal("right"), "music") == "right"


def test_what_the_scorer_refuses_is_an_error(scorer: Scorer) -> None:
    (scorer.bench / "score.py").write_text("raise SystemExit('no such data')")
    with pytest.raises(JudgingError, match="no such data"):
        scorer.judge(SPIDER, {"spider-dev-1": ["x"]})


class Counting:
    """Finds right what begins so, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def judge(self, _: QuestionSet, wanted: Mapping[str, Sequence[str]]) -> dict[str, tuple[Right, ...]]:
        self.asked += [sql for each in wanted.values() for sql in each]
        return {key: tuple((sql.startswith("right"),) * 2 for sql in each) for key, each in wanted.items()}


def test_each_statement_is_judged_once_but_where_rows_are_new_each_day(tmp_path: Path) -> None:
    counting, file = Counting(), tmp_path / "verdicts.jsonl"
    verdicts = Verdicts(counting, file)
    for of in (SPIDER, DEFOG):
        verdicts.judge(of, {"a": ["right", "wrong", "right"]})
        verdicts.judge(of, {"a": ["wrong"]})
    assert counting.asked == ["right", "wrong"] * 2
    again = Verdicts(counting, file)
    for of in (SPIDER, DEFOG):
        again.judge(of, {"a": ["right"]})
    assert counting.asked[4:] == ["right"]
    assert again.right(SPIDER, "a", "wrong") == (False, False)


def test_both_needs_a_statement_of_each_reading_in_the_first_five() -> None:
    one, two, either, none = (True, False), (False, True), (True, True), (False, False)
    assert both([none, two, none, none, one])
    assert not both([one, none, none, none, none, two])
    assert not both([either, either])
    assert not both([one, either])
