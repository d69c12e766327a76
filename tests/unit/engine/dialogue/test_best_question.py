"""The question back that candidates give rise to."""

from __future__ import annotations

from engine.core.candidate import Candidate
from engine.dialogue.question import best_question, expected_error
from engine.dialogue.types import Ambiguity, Turn
from tests.support.schemas import MUSIC

SNAPSHOTS = {"music": MUSIC}


def candidates(*given: tuple[str, float]) -> list[Candidate]:
    return [Candidate("music", sql, confidence=confidence) for sql, confidence in given]


def test_two_columns_of_one_table() -> None:
    these = candidates(
        ("SELECT artist_name FROM singer WHERE country = 'France'", 0.6),
        ("SELECT t1.performer_name FROM singer AS t1 WHERE t1.country = 'France'", 0.3),
    )
    question = best_question(these, SNAPSHOTS, "Which names do French singers have?")
    assert question is not None
    assert question.ambiguity is Ambiguity.COLUMN
    assert question.words == 'What do you mean by "names"?'
    assert [option.words for option in question.options] == ["artist name", "performer name"]
    assert [option.statements for option in question.options] == [(each.sql,) for each in these]
    assert question.options[0].elements == {("public", "singer", "artist_name")}
    assert expected_error(question, these) < expected_error(None, these)
    assert best_question(these, SNAPSHOTS, "", [Turn(question, 1)]) is None
