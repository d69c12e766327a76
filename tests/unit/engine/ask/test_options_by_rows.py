"""Which options of a question back the rows of their statements make one, or leave out."""

from __future__ import annotations

from dataclasses import replace

from engine.ask.question_back import by_meanings
from engine.ask.wording import option_text
from engine.values.candidate import Candidate, Evidence, Meaning, Preview
from tests.support.clarifying import best_question
from tests.support.schemas import SCHOOL

SNAPSHOTS = {"school": SCHOOL}


def shown(
    *rows: str, sql: str, confidence: float, unsaid: tuple[str, ...] = (), more: bool = False
) -> Candidate:
    preview = Preview(("n",), tuple((row,) for row in rows), more)
    return Candidate("school", sql, confidence=confidence, preview=preview, evidence=Evidence(words=unsaid))


OLD, OLDER, YOUNG = (f"SELECT COUNT(*) FROM pupil WHERE age > {age}" for age in (10, 12, 5))


def test_options_with_the_same_rows_are_one() -> None:
    these = [
        shown("291", sql=OLD, confidence=0.4),
        shown("291", sql=OLDER, confidence=0.35),
        shown("300", sql=YOUNG, confidence=0.25),
    ]
    assert best_question(these[:2], SNAPSHOTS, "") is None
    question = best_question(these, SNAPSHOTS, "")
    assert question is not None
    assert [set(option.statements) for option in question.options] == [{OLD, OLDER}, {YOUNG}]
    assert [option_text(each) for each in question.options] == [
        "age is more than 10: 291",
        "age is more than 5: 300",
    ]
    cut = [replace(each, preview=Preview(("n",), (("291",),), more=True)) for each in these[:2]]
    assert best_question(cut, SNAPSHOTS, "") is not None, "what else there is may differ"


def test_what_there_was_no_time_to_compare_is_not_asked_about_for_that_alone() -> None:
    one, other = (Candidate("school", sql, confidence=0.4) for sql in (OLD, OLDER))
    assert best_question([one, other], SNAPSHOTS, "") is not None
    assert best_question([one, replace(other, perhaps=frozenset({OLD}))], SNAPSHOTS, "") is None
    assert best_question([replace(one, perhaps=frozenset({OLDER})), other], SNAPSHOTS, "") is None


def test_columns_that_one_statement_shows_together_are_not_asked_about() -> None:
    one, other, both = (f"SELECT {names} FROM pupil" for names in ("age", "name", "name, age"))
    rows = {one: ("12",), other: ("Ada",), both: ("Ada", "12")}
    these = [
        Candidate("school", sql, confidence=0.3, preview=Preview(("n",), (row,))) for sql, row in rows.items()
    ]
    assert best_question(these[:2], SNAPSHOTS, "") is not None
    assert best_question(these, SNAPSHOTS, "") is None


def test_an_option_keeps_what_the_asker_said() -> None:
    these = [
        shown("1", sql=OLD, confidence=0.4),
        shown("2", sql=OLDER, confidence=0.3),
        shown("3", sql=YOUNG, confidence=0.3, unsaid=("invoiced",)),
    ]
    question = best_question(these, SNAPSHOTS, "")
    assert question is not None
    assert [option.statements for option in question.options] == [(OLD,), (OLDER,)]
    deaf = [replace(each, evidence=Evidence(words=("invoiced",))) for each in these]
    question = best_question(deaf, SNAPSHOTS, "")
    assert question is not None
    assert len(question.options) == 3


def test_meanings_with_the_same_rows_are_one() -> None:
    these = [
        replace(shown(rows, sql=sql, confidence=0.3), meaning=Meaning(says=sql))
        for rows, sql in (("1", OLD), ("1", OLDER), ("2", YOUNG))
    ]
    assert by_meanings(these[:2], ()) is None
    proposal = by_meanings(these, ())
    assert proposal is not None
    assert [option.words for option in proposal.question.options] == [OLD, YOUNG]
    assert proposal.parting.groups == ((0,), (2,))
