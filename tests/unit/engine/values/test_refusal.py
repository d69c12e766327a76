"""What is said where there is no statement."""

from __future__ import annotations

from dataclasses import replace

from engine.app.answer_rows import answer_rows
from engine.ask.policy import abstention
from engine.values.candidate import Candidate
from engine.values.elements import Literal, UnknownPhrase
from engine.values.messages import RowKind
from engine.values.refusal import RefusalReason, absent, lacking, undefined, untranslated
from tests.support.asking import asked, route

QUESTION = "names of singers"
REGION = ("public", "sales", "region")


def test_a_word_that_nothing_stands_for_is_named_with_what_would_help() -> None:
    phrases = [
        UnknownPhrase("weather", ("public", "Sta dium", "roof"), 0.2),
        UnknownPhrase("rain", None, -1.0),
    ]
    refusal = lacking(phrases, ["music"], partly=False)
    assert refusal.reason is RefusalReason.NOT_ANSWERABLE
    assert lacking(phrases, ["music"], partly=True).reason is RefusalReason.NEEDS_DEFINITION
    assert lacking(phrases[1:], [], partly=True).words == "Nothing in the schema is about \u201crain\u201d"
    assert "Nothing in music is about \u201cweather\u201d or \u201crain\u201d" in refusal.words
    assert '"Sta dium".roof' in refusal.words
    call = "SELECT nl_catalog.add_synonym('music.public.\"Sta dium\".roof', 'weather')"
    assert call in refusal.helps[1]


def test_values_that_do_not_occur_and_what_came_near_are_named() -> None:
    two = [Literal(REGION, "Sales"), Literal(REGION, "Sales_2022")]
    assert absent(two[1:]) == "region 'Sales_2022' does not occur"
    assert absent(two) == "region 'Sales' and region 'Sales_2022' do not occur"
    refusal = undefined(two, "shop")
    assert refusal.reason is RefusalReason.NEEDS_DEFINITION
    assert refusal.helps[1].endswith("SELECT nl_catalog.allow_values('shop.public.sales.region')")
    state = asked(QUESTION, route(QUESTION))
    refusal = abstention(state)
    assert refusal.reason is RefusalReason.NO_STATEMENT
    assert "closest: music: concert and music: singer" in refusal.words
    again = abstention(replace(state, ask=replace(state.ask, exclude=("SELECT 1",))))
    assert (
        again.words
        == "Nothing new passed all checks: the model gave nothing else, or the same rows as before"
    )
    assert abstention(replace(state, routes=())).reason is RefusalReason.NOTHING_MATCHES


def test_a_refusal_is_one_row_of_kind_abstain_and_an_answer_says_how_it_was_read() -> None:
    state = replace(asked(QUESTION, route(QUESTION)), refusal=untranslated("German"))
    (row,) = answer_rows(state, (), "q1")
    assert (row.n, row.kind, row.sql, row.database, row.qid) == (1, RowKind.ABSTAIN, None, None, "q1")
    assert "German" in row.explanation
    assert row.explanation.endswith("Ask in English.")
    assert row.next
    state = replace(asked(QUESTION, route(QUESTION)), translation="How many singers are there?")
    candidate = Candidate("music", "SELECT 1", explanation="reads singer")
    (row,) = answer_rows(state, (candidate,), "q1")
    assert row.explanation == "Read as: \u201cHow many singers are there?\u201d. reads singer"
