"""What a run of the real benchmark says: figures, the fault of a wrong statement, both halves in one file, the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality.ablations.results import Outcome
from benchmarks.quality.candidates.journal import Cost
from benchmarks.real import aside_log, report
from benchmarks.real.diagnosis import Fault, fault
from benchmarks.real.questions import Half, Kind, RealQuestion
from benchmarks.real.scoring import Figures, Outcomes, figures
from benchmarks.real.systems import ALONE, WHOLE
from benchmarks.wire.machine import Machine

MACHINE = Machine("a processor", 2, 8.0, "6", "3.11", "abcdef012345", dirty=False)
GOLD = "SELECT st_cd, sum(bal_amt) FROM ln WHERE grd = 'A' AND term_mo = 60 GROUP BY st_cd"
QUESTION = RealQuestion("credit-01", "credit", "balances by state", (Kind.AGGREGATE, Kind.VALUES), (GOLD,))
OTHER = RealQuestion("sales-01", "sales", "orders", (Kind.FILTER,), ("SELECT count(*) FROM orders",))


def _outcome(question: RealQuestion, place: int | None, *statements: str) -> Outcome:
    return Outcome(question.id, question.database, place, statements, Cost(1.0), None)


def _found() -> tuple[Outcomes, Figures]:
    wrong = GOLD.replace("'A'", "'a'")
    found: Outcomes = {
        WHOLE: {
            QUESTION.id: _outcome(QUESTION, 2, wrong, GOLD),
            OTHER.id: _outcome(OTHER, 1, *OTHER.gold),
        },
        ALONE: {QUESTION.id: _outcome(QUESTION, None, wrong), OTHER.id: _outcome(OTHER, 1, *OTHER.gold)},
    }
    made = figures(found)
    assert made is not None
    return found, made


def test_figures_are_of_the_questions_that_both_were_asked() -> None:
    found, made = _found()
    assert (made.n, made.acc1.value, made.set_acc.value, made.set_size.value) == (2, 0.5, 1.0, 1.5)
    assert (made.alone_acc1.value, made.times.value) == (0.5, 1.0)
    assert figures({WHOLE: found[WHOLE], ALONE: {}}) is None


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (GOLD.replace("ln", "nl"), Fault.TABLE_MISSING),
        (GOLD.replace("FROM ln", "FROM ln JOIN ref.st USING (st_cd)"), Fault.TABLE_MORE),
        (GOLD.replace("'A'", "'Grade A'"), Fault.VALUE),
        (GOLD.replace("60", "5"), Fault.NUMBER),
        (GOLD.replace("sum", "avg"), Fault.AGGREGATE),
        (GOLD.replace("GROUP BY st_cd", "GROUP BY sgrd"), Fault.GROUPING),
        (GOLD.replace("grd =", "sgrd ="), Fault.CONDITION),
        (GOLD.replace("SELECT st_cd,", "SELECT"), Fault.SHOWN),
        (GOLD + " LIMIT 2", Fault.NUMBER),
        (GOLD.replace("AND", "OR"), Fault.STRUCTURE),
        ("SELECT (", Fault.UNPARSED),
    ],
)
def test_a_fault_is_what_differs_first(sql: str, expected: Fault) -> None:
    assert fault(QUESTION, _outcome(QUESTION, None, sql)) is expected


def test_qualified_names_and_output_names_are_no_difference() -> None:
    written = GOLD.replace("SELECT st_cd, sum(bal_amt)", "SELECT ln.st_cd, sum(ln.bal_amt) AS total")
    assert fault(QUESTION, _outcome(QUESTION, None, written)) is Fault.STRUCTURE


def test_what_is_right_elsewhere_and_what_is_not_answered_are_told_apart() -> None:
    assert fault(QUESTION, _outcome(QUESTION, 2, "SELECT 1", GOLD)) is Fault.NOT_FIRST
    assert fault(QUESTION, _outcome(QUESTION, None)) is Fault.UNANSWERED


def test_each_half_keeps_the_others_figures(tmp_path: Path) -> None:
    _, made = _found()
    file = tmp_path / "real.json"
    for half in Half:
        report.write_json(report.Run(MACHINE, "command", 3, half, ("abc",)), made, file)
    written = json.loads(file.read_text())
    assert written["halves"].keys() == {"open", "aside"}
    names = ("acc1", "set_acc", "set_size", "alone_acc1")
    assert [written["summary"][name] for name in names] == [0.5, 1.0, 1.5, 0.5]
    assert [written["summary"][f"aside_{name}"] for name in names] == [0.5, 1.0, 1.5, 0.5]


def test_a_half_that_was_not_measured_is_null(tmp_path: Path) -> None:
    _, made = _found()
    file = tmp_path / "real.json"
    report.write_json(report.Run(MACHINE, "command", 3, Half.OPEN, ()), made, file)
    assert json.loads(file.read_text())["summary"]["aside_acc1"] is None


def test_the_page_shows_what_fails_by_kind_and_never_the_half_set_aside(tmp_path: Path) -> None:
    found, made = _found()
    page = tmp_path / "real.md"
    report.write_page(report.Run(MACHINE, "c", 3, Half.OPEN, ("abc",)), made, (QUESTION, OTHER), found, page)
    text = page.read_text()
    assert "| aggregate | 1 | 0 | 100 | 0 |" in text
    assert "| right, but not first | 1 |" in text
    assert "**credit-01** (aggregate, values): balances by state *right, but not first*" in text
    assert "**sales-01**" not in text
    with pytest.raises(ValueError, match="no page"):
        report.write_page(report.Run(MACHINE, "c", 3, Half.ASIDE, ()), made, (QUESTION,), found, page)


def test_every_look_at_the_half_set_aside_is_a_line(tmp_path: Path) -> None:
    _, made = _found()
    log = tmp_path / "results" / "looks.jsonl"
    aside_log.note(log, made, MACHINE)
    aside_log.note(log, made, MACHINE)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["n"], line["acc1"], line["commit"]) for line in lines] == [(2, 0.5, "abcdef012345")] * 2
