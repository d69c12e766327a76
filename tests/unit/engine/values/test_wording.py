"""What is said where there is no statement, and that what askers read is short and says what to do."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from engine.app.answer_rows import answer_rows
from engine.ask.policy import abstention
from engine.question.requests import Request
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.elements import Literal, UnknownPhrase
from engine.values.errors import NLError, SyntaxProblemError, Told
from engine.values.messages import RowKind
from engine.values.refusal import (
    Refusal,
    RefusalReason,
    absent,
    lacking,
    model_cannot,
    no_question,
    none_stood,
    nothing_in,
    two_databases,
    undefined,
    unlikely,
    untranslated,
)
from schema_catalog.types import ColumnKey
from tests.support.asking import asked, route

WORDS, SENTENCES = 35, 2

_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z\u201c{])")

TEXTS = {name: text for name, text in vars(wording).items() if name.isupper() and isinstance(text, str)}
ERRORS = {name: text for name, text in vars(wording).items() if isinstance(text, Told)}

COLUMNS: tuple[ColumnKey, ...] = tuple(("public", "orders", f"column_{n}") for n in range(9))
PHRASES = [UnknownPhrase(f"word {n}", COLUMNS[n], 0.1, COLUMNS, 3) for n in range(4)]
DATABASES = ["sales", "library", "airports", "flights"]
SHOWN = "the average of all the amounts of orders for each region"
REFUSALS = {
    "lacking": lacking(PHRASES, DATABASES, partly=False),
    "lacking, shown": lacking(PHRASES[:2], DATABASES[:1], partly=True, shown=SHOWN),
    "unlikely": unlikely(["sales: orders", "sales: regions"], ["Paris", "London", "Rome"], SHOWN),
    "undefined": undefined([Literal(each, "some text") for each in COLUMNS], "sales"),
    "nothing in": nothing_in(DATABASES, ()),
    "two databases": two_databases([(["open", "orders"], "sales"), (["late", "flights"], "flights")]),
    "none stood": none_stood(["sales: orders", "sales: regions"], more=False),
    "none but those shown": none_stood([], more=True),
    "untranslated": untranslated("German"),
    "the model cannot": model_cannot("Nothing here is about the weather"),
    **{kind.value: no_question(kind, "drop table x", "x") for kind in Request},
}


def sentences(text: str) -> list[str]:
    return _SENTENCE.split(text)


def is_short(text: str) -> bool:
    said = sentences(text)
    return len(said) <= SENTENCES and max(len(each.split()) for each in said) <= WORDS


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_is_short(text: str) -> None:
    assert is_short(text)


@pytest.mark.parametrize("texts", ERRORS.values(), ids=ERRORS)
def test_an_error_says_what_happened_and_what_to_do(texts: Told) -> None:
    assert texts.message[0].islower() or texts.message[0] == "{"
    assert not texts.message.endswith(".")
    assert texts.hint, "what to do"
    assert all(is_short(each) for each in (texts.message, texts.detail or "", texts.hint))


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_two_short_sentences(refusal: Refusal) -> None:
    assert is_short(refusal.explanation), refusal.explanation
    assert re.search(r"[^.]\.$|\?$", refusal.explanation)
    assert all(is_short(each) for each in refusal.helps)


def test_what_is_filled_in_stays_as_it_is() -> None:
    error: NLError = SyntaxProblemError.told(wording.CORRECTION_FAILS, why="no {such} column")
    assert (error.sqlstate, error.detail) == ("42601", "no {such} column")
    assert SyntaxProblemError.told(wording.HAS_NO_ANSWER, why="", qid="q1").detail is None


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
