"""Words of identifiers and questions, and what a part of a name is short for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.question.tokens import question_words
from schema_catalog.words import identifier_words, shortness


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("order_items", ("order", "item")),
        ("OrderItems", ("order", "item")),
        ("HTTPServerID", ("http", "server", "id")),
        ("address2line", ("address", "2", "line")),
        ("countries", ("country",)),
        ("classes", ("class",)),
        ("boxes", ("box",)),
        ("status", ("status",)),
        ("analysis", ("analysis",)),
        ("bus", ("bus",)),
        ("Größe", ("grosse",)),
        ("naïve-café", ("naive", "cafe")),
        ("売上高", ("売上", "上高")),
        ("年", ("年",)),
        ("заказы", ("заказы",)),
        ("$$$", ()),
    ],
)
def test_identifiers(name: str, words: tuple[str, ...]) -> None:
    assert identifier_words(name) == words


def test_questions_lose_what_says_how_they_are_put() -> None:
    assert question_words("What are the customers' names and each customer's orders?") == (
        "customer",
        "name",
        "order",
    )


@given(st.text())
def test_any_text_gives_words_that_fold_to_themselves_in_identifiers(text: str) -> None:
    for word in question_words(text):
        assert word
        assert word in identifier_words(text.replace("'s", "").replace("\u2019s", ""))


@pytest.mark.parametrize(
    ("short", "word"),
    [
        ("gnr", "genre"),
        ("grd", "grade"),
        ("phs", "phase"),
        ("cust", "customer"),
        ("sz", "size"),
        ("year", "year"),
    ],
)
def test_all_consonants_or_the_beginning_are_sure(short: str, word: str) -> None:
    assert shortness(short, word) == 1.0


def test_the_more_consonants_the_surer() -> None:
    assert 0 < shortness("st", "state") < shortness("arpt", "airport") < 1
    assert shortness("art", "airport") < shortness("arpt", "airport")


@pytest.mark.parametrize(
    ("short", "word"),
    [("g", "genre"), ("ngr", "genre"), ("gnrx", "genre"), ("genres", "genre"), ("enr", "genre")],
)
def test_other_letters_another_order_and_another_beginning_are_not(short: str, word: str) -> None:
    assert shortness(short, word) == 0.0
