"""The report of `pgparley eval`: figures, comparison, causes of failures, and the file of questions."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from engine.values.calibration import KnownQuestion
from engine.values.evaluation import EvaluateReply, Verdict
from pgparley.cli import app
from pgparley.evaluation.causes import Cause, Diagnosis, diagnosis
from pgparley.evaluation.questions import read_questions
from pgparley.evaluation.report import Judged, Report, compare, decode, encode, figures


def judged(question: str, verdict: Verdict, seconds: float = 1.0, database: str = "sales") -> Judged:
    return Judged(KnownQuestion(question, database, "SELECT 1"), EvaluateReply(verdict, seconds=seconds))


def report(*questions: Judged) -> Report:
    return Report("0", figures(questions), questions)


def test_shares_are_of_what_could_be_judged() -> None:
    verdicts = [*[Verdict.FIRST] * 6, Verdict.IN_SET, *list(Verdict)[2:]]
    found = figures(tuple(judged(f"q{n}", each, float(n)) for n, each in enumerate(verdicts)))
    assert (found.first.hits, found.in_set.hits, found.first.n) == (6, 7, 11)
    assert (found.wrong.hits, found.asked_back.hits, found.refused.hits, found.failed, found.unjudged) == (
        1,
    ) * 5
    # Wilson's interval of 6 of 11.
    assert (found.first.low, found.first.high) == pytest.approx((0.280, 0.787), abs=0.001)
    assert found.seconds is not None
    assert (found.seconds.median, found.seconds.low, found.seconds.high) == (5.0, 1.0, 9.0)


def test_a_report_is_read_as_it_was_written() -> None:
    found = report(judged("q", Verdict.FIRST), judged("r", Verdict.UNJUDGED))
    assert decode(encode(found)) == found


def test_what_got_better_and_worse() -> None:
    before = report(
        judged("Q  one", Verdict.WRONG),
        judged("two", Verdict.FIRST),
        judged("three", Verdict.REFUSED),
        judged("four", Verdict.UNJUDGED),
        judged("five", Verdict.FIRST),
        judged("gone", Verdict.FIRST),
    )
    after = report(
        judged("q one", Verdict.REFUSED),
        judged("two", Verdict.IN_SET),
        judged("three", Verdict.ASKED_BACK),
        judged("four", Verdict.FIRST),
        judged("five", Verdict.WRONG, database="hr"),
        judged("new", Verdict.FIRST),
    )
    found = compare(before, after)
    assert found.compared == 3
    assert [(each.asked.question, each.before, each.after) for each in found.better] == [
        ("q one", Verdict.WRONG, Verdict.REFUSED)
    ]
    assert [(each.asked.question, each.before, each.after) for each in found.worse] == [
        ("two", Verdict.FIRST, Verdict.IN_SET)
    ]


YAML = """
- question: how many orders
  database: sales
  sql: |
    SELECT count(*)
    FROM orders
- {question: who works here, sql: SELECT name FROM staff, database: hr}
- {question: and, sql: SELECT 1}
"""


def test_questions_are_yaml_or_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "questions.yaml"
    file.write_text(YAML, encoding="utf-8")
    found = read_questions(file, "sales")
    assert [(each.question, each.database) for each in found] == [
        ("how many orders", "sales"),
        ("and", "sales"),
    ]
    assert found[0].sql == "SELECT count(*)\nFROM orders\n"
    lines = tmp_path / "questions.jsonl"
    # A question that was made, and to which nobody has said what answers it, waits.
    made = '{"question": "made", "sql": "", "database": "hr"}'
    lines.write_text('{"question": "q", "sql": "SELECT 1", "database": "hr"}\n\n' + made, encoding="utf-8")
    assert read_questions(lines, None) == (KnownQuestion("q", "hr", "SELECT 1"),)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("q.yaml", None, "cannot read"),
        ("q.yaml", "question: q", "it is no list"),
        ("q.yaml", "- [", "while parsing"),
        ("q.yaml", "- {question: q, sql: s}", "question 1: it names no database"),
        ("q.yaml", "- {question: q, database: d}", "question 1: Object missing required field `sql`"),
        ("q.yaml", "- {question: q, sql: s, db: d}", "unknown field `db`"),
        ("q.jsonl", "{", "Input data was truncated"),
    ],
)
def test_a_file_of_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | None, told: str
) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(typer.Exit) as ended:
        read_questions(file, None)
    assert ended.value.exit_code == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give either a file"),
        (["questions.yaml", "--verified"], "give either a file"),
        (["--verified", "--feedback"], "give either a file"),
        (["--verified", "--calibrate", "--with", "tried.yaml"], "do not go together"),
    ],
)
def test_wrong_usage(arguments: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["eval", *arguments])
    assert done.exit_code == 2
    assert told in done.output


def test_every_option_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text("utf-8")
    (command,) = (each for each in typer.main.get_command(app).commands.values() if each.name == "eval")  # type: ignore[attr-defined] # a group
    missing = [each.opts[0] for each in command.params if each.opts[0] not in text and each.name != "file"]
    assert missing == []


def diagnosed(known: str, shown: str | None, verdict: Verdict = Verdict.WRONG, detail: str = "") -> Diagnosis:
    asked = KnownQuestion("How much?", "own", known)
    return diagnosis(Judged(asked, EvaluateReply(verdict, detail, shown)))


JOINED = "SELECT c.nm FROM erp.ordh o JOIN erp.cust c ON c.cno = o.cno"
MISSING = {
    (JOINED, "SELECT cust.nm FROM cust JOIN ordh ON cust.cno = ordh.ono"): (
        Cause.JOIN,
        "declare_join('own.erp.cust.cno', 'own.erp.ordh.cno')",
    ),
    (JOINED, "SELECT ono FROM erp.ordh"): (Cause.DESCRIPTION, "describe('own.erp.cust', '…')"),
    ("SELECT count(*) FROM t", None): (Cause.DESCRIPTION, "describe('own.t', '…')"),
    ("SELECT net FROM t", "SELECT gross FROM t"): (Cause.DESCRIPTION, "describe('own.t.net', '…')"),
    ("SELECT 1 FROM s.t WHERE cty IN ('Lyon')", "SELECT 1 FROM t WHERE cty = 'lyon'"): (
        Cause.VALUE,
        "SELECT nl_catalog.allow_values('own.s.t.cty');",
    ),
    ("SELECT sum(l.qty * l.pr) FROM l", "SELECT sum(l.qty + l.pr) FROM l"): (
        Cause.TERM,
        "define_term('own', '…', 'l.qty * l.pr')",
    ),
    ("SELECT max(a) FROM t", "SELECT min(a) FROM t"): (
        Cause.MODEL,
        "verify('own', 'How much?', 'SELECT max(a) FROM t')",
    ),
}


@pytest.mark.parametrize(("known", "shown"), MISSING)
def test_what_is_missing_is_proposed(known: str, shown: str | None) -> None:
    cause, proposal = MISSING[known, shown]
    told = diagnosed(known, shown, Verdict.REFUSED if shown is None else Verdict.WRONG)
    assert told.cause is cause
    assert proposal in told.proposal


def test_rights_and_a_model_that_fails_are_no_fault_of_the_catalog() -> None:
    denied = diagnosed("SELECT 1 FROM t", None, Verdict.UNJUDGED, "42501: permission denied for table t")
    assert denied.cause is Cause.RIGHTS
    unread = diagnosed("SELECT 1 FROM t", None, Verdict.UNJUDGED, 'nothing of it may be read by "root"')
    assert unread == Diagnosis(Cause.RIGHTS, "pgparley catalog login own ROLE, for the ROLE of --user")
    assert diagnosed("SELECT 1 FROM t", None, Verdict.FAILED, "out of time") == Diagnosis(Cause.MODEL)
