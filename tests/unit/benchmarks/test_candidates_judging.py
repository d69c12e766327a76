"""What the scorer is given, and what is read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.candidates.journal import Answer, Cost, Proposal
from benchmarks.quality.candidates.judging import ELSEWHERE, JudgingError, Scorer, statements
from benchmarks.quality.candidates.questions import SETS

SPIDER, UNROUTED, AMBIQT = SETS[0], SETS[1], SETS[2]


def answer(identity: str, *sql: str, database: str | None = None) -> Answer:
    return Answer(identity, tuple(Proposal(each, database) for each in sql), Cost(1.0))


@pytest.fixture
def scorer(bench: Path, tmp_path: Path) -> Scorer:
    return Scorer(bench, "postgresql:///none", tmp_path / "scoring")


def test_every_candidate_gets_its_own_verdict(scorer: Scorer) -> None:
    answers = [
        answer("spider-dev-7", "wrong", "right", "right too"),
        answer("spider-dev-3"),
        answer("spider-dev-5", "right"),
    ]
    verdict = scorer.judge(SPIDER, answers)
    assert verdict.n == 3
    assert verdict.right == {
        "spider-dev-7": ((False, False), (True, True), (True, True)),
        "spider-dev-3": (),
        "spider-dev-5": ((True, True),),
    }
    assert verdict.figures["accuracy@1"] == pytest.approx(1 / 3)
    assert verdict.intervals["accuracy@1"] == (verdict.figures["accuracy@1"],) * 2


def test_readings_are_told_apart(scorer: Scorer) -> None:
    verdict = scorer.judge(AMBIQT, [answer("ambiqt-C-1", "reading 1", "reading 2", "none")])
    assert verdict.right == {"ambiqt-C-1": ((True, False), (False, True), (False, False))}


def test_a_statement_for_another_database_cannot_be_right(scorer: Scorer) -> None:
    assert statements(answer("q", "right", database="pets"), "music") == [ELSEWHERE]
    assert statements(answer("q", "right", database="music"), "music") == ["right"]
    assert statements(answer("q", "right"), "music") == ["right"]
    answers = [
        answer("spider-dev-1", "right", database="pets"),
        answer("spider-dev-2", "right", database="music"),
    ]
    assert scorer.judge(UNROUTED, answers).figures["accuracy@1"] == 0.5


def test_what_the_scorer_refuses_is_an_error(scorer: Scorer) -> None:
    (scorer.bench / "score.py").write_text("raise SystemExit('no such data')")
    with pytest.raises(JudgingError, match="no such data"):
        scorer.judge(SPIDER, [answer("spider-dev-1", "x")])
