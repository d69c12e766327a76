"""Words of identifiers and questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.question.tokens import question_words
from schema_catalog.words import identifier_words


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
