"""The simulated user: which option they mean, what they say where none fits, and how often they err."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.harness.questions import SETS, Judge
from benchmarks.quality.dialogue.intent import Intent, reading_of
from benchmarks.quality.dialogue.preview_match import fits
from benchmarks.quality.dialogue.simulated_user import Chosen, OwnWords, Reaction, Rejected, SimulatedUser
from engine.core.candidate import Preview
from engine.dialogue.types import Ambiguity, ClarifyingQuestion, Option
from schema_catalog.types import ColumnKey

ROWS = (("Ann", "31"), ("Bob", "25"), ("Cy", "19"))


def key(name: str) -> ColumnKey:
    table, _, column = name.partition(".")
    return ("music", table, column)


def keys(*names: str) -> frozenset[ColumnKey]:
    return frozenset(map(key, names))


MEANT = Intent(
    ("artist_name", "age"),
    ROWS,
    ordered=False,
    elements=keys("singer.artist_name", "singer.age", "singer.*"),
    keys=keys("singer.id", "concert.singer_id"),
)
FITTING = Preview(("n", "a"), ROWS[:2], more=True)
OTHER = Preview(("n", "a"), (("Zoe", "99"),), more=True)


def asked(ambiguity: Ambiguity, *options: Option) -> ClarifyingQuestion:
    return ClarifyingQuestion(ambiguity, "Which?", options)


def option(*elements: str, preview: Preview | None = None) -> Option:
    return Option("words", ("SELECT 1",), keys(*elements), preview)


def answer(question: ClarifyingQuestion, *said: Reaction, meant: Intent = MEANT) -> Reaction:
    reaction, erred = SimulatedUser(meant, "q").answer(question, said)
    assert not erred
    return reaction


@pytest.mark.parametrize(
    ("preview", "expected"),
    [
        (Preview(("a", "b"), ROWS, more=False), True),
        (Preview(("a", "b"), ROWS[1:], more=True), True),
        (Preview(("a", "b"), tuple(row[::-1] for row in ROWS), more=False), True),
        (Preview(("a", "b"), (("Ann", "31.0"), ("Bob", "25.00000000001")), more=True), True),
        (Preview(("a", "b"), ROWS[:2], more=False), False),
        (Preview(("a", "b"), ROWS, more=True), False),
        (Preview(("a",), (("Ann",),), more=True), False),
        (Preview(("a", "b"), (("Ann", "31"), ("Ann", "31")), more=True), False),
        (Preview(("a", "b"), (("Ann", None),), more=True), False),
    ],
)
def test_a_preview_fits_rows_in_any_order_of_columns(preview: Preview, expected: bool) -> None:  # noqa: FBT001
    assert fits(preview, ROWS, ordered=False) is expected


def test_where_order_counts_a_preview_is_the_beginning() -> None:
    assert fits(Preview(("a", "b"), ROWS[:2], more=True), ROWS, ordered=True)
    assert not fits(Preview(("a", "b"), ROWS[1:], more=True), ROWS, ordered=True)
    assert not fits(Preview(("a", "b"), (ROWS[1], ROWS[0]), more=True), ROWS, ordered=True)


def test_a_question_about_columns_is_answered_by_the_columns_meant() -> None:
    question = asked(
        Ambiguity.COLUMN,
        option("singer.stage_name", preview=FITTING),
        option("singer.artist_name", preview=OTHER),
    )
    assert answer(question) == Chosen(2)


def test_of_columns_meant_alike_the_rows_decide() -> None:
    question = asked(
        Ambiguity.COLUMN, option("singer.age", preview=OTHER), option("singer.artist_name", preview=FITTING)
    )
    assert answer(question) == Chosen(2)


def test_where_no_option_is_consistent_the_user_names_the_column_alike_that_they_mean() -> None:
    question = asked(Ambiguity.COLUMN, option("singer.stage_name"), option("singer.family_name"))
    words = OwnWords("I mean artist_name of singer")
    assert answer(question) == words
    assert answer(question, words) == Rejected()


def test_with_nothing_to_say_the_user_rejects() -> None:
    nothing = replace(MEANT, elements=keys("singer.country"))
    question = asked(
        Ambiguity.VALUE, option("singer.country", preview=OTHER), option("singer.country", preview=OTHER)
    )
    assert answer(question, meant=nothing) == Rejected()


def test_a_user_who_errs_chooses_another_option_as_often_as_they_should() -> None:
    question = asked(Ambiguity.COLUMN, option("singer.stage_name"), option("singer.artist_name"))
    answers = [SimulatedUser(MEANT, f"q{n}", errs=0.1).answer(question, ()) for n in range(1_000)]
    assert {reaction for reaction, erred in answers if erred} == {Chosen(1)}
    assert {reaction for reaction, erred in answers if not erred} == {Chosen(2)}
    assert 70 < sum(erred for _, erred in answers) < 130
    assert answers == [SimulatedUser(MEANT, f"q{n}", errs=0.1).answer(question, ()) for n in range(1_000)]


def test_both_readings_are_meant_about_as_often() -> None:
    ambiqt = next(of for of in SETS if of.judge is Judge.AMBIQT)
    spider = next(of for of in SETS if of.judge is Judge.EXECUTION)
    items = [{"id": f"ambiqt-C-{n}"} for n in range(400)]
    readings = [reading_of(item, ambiqt, 1) for item in items]
    assert set(readings) == {1, 2}
    assert 160 < readings.count(1) < 240
    assert readings != [reading_of(item, ambiqt, 2) for item in items]
    assert {reading_of(item, spider, 1) for item in items} == {1}
