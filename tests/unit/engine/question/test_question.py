"""A question as a value: what it says is read where it is asked for, once."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from datetime import date
from typing import Any, cast

import pytest

from engine.question import question as module
from engine.question.question import Question

FRIDAY = date(2026, 11, 27)


def test_nothing_is_read_that_nobody_asks_for_and_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(module, "goes_on", lambda text: read.append(text) or False)
    question = Question("songs by Ann")
    assert read == []
    assert (question.goes_on, question.goes_on) == (False, False)
    assert read == ["songs by Ann"]
    assert question.spans is question.spans


def test_other_words_are_another_question_and_what_has_been_read_is_no_part_of_it() -> None:
    asked = Question("Umsatz im letzten Monat", FRIDAY)
    assert asked.periods == ()
    english = replace(asked, text="revenue of last month")
    assert [each.words for each in english.periods] == ["from 2026-10-01 to before 2026-11-01"]
    assert (english == Question("revenue of last month", FRIDAY), asked == english) == (True, False)
    one, other = Question("songs by Ann", FRIDAY), Question("songs by Ann", FRIDAY)
    assert one.words
    assert (one == other, hash(one) == hash(other), len({one, other})) == (True, True, 1)
    with pytest.raises(FrozenInstanceError):
        cast("Any", one).text = "songs by Bob"


def test_the_same_month_a_number_and_a_name_are_read_alike_wherever_they_are_needed() -> None:
    question = Question("Which three clubs won in Sept 2024, and not in 'May'?", FRIDAY)
    assert question.numbers == (("2024", 2024.0), ("three", 3.0))
    assert [(each.start, each.end) for each in question.named_periods] == [
        (date(2024, 9, 1), date(2024, 10, 1))
    ]
    assert any(each.key == "2024-09" for each in question.spans)
    assert question.names == {"sept"}
    assert question.denial is not None
    assert question.denial[0] == "not"


@pytest.mark.parametrize(
    ("text", "every"),
    [
        *((each, True) for each in ("Show the clubs", "Show the clubs sorted by the most wins")),
        *((each, False) for each in ("Show the best club", "Show twelve clubs", "Show a dozen clubs")),
    ],
)
def test_all_rows_are_wanted_where_nothing_chooses_among_them(text: str, *, every: bool) -> None:
    assert bool(Question(text).asks_for_all) is every
