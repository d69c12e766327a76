"""What askers read is short: two sentences at most, none of more than 35 words, and each says what to do."""

from __future__ import annotations

import re

import pytest

from engine.question.requests import Request
from engine.values import wording
from engine.values.elements import Literal, UnknownPhrase
from engine.values.errors import NLError, SyntaxProblemError, Told
from engine.values.refusal import (
    Refusal,
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
