"""What is kept of a model's lines, whose words they are in, and what the grammar lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llguidance import LLMatcher, LLTokenizer

from engine.routing.question_filter import Style, Vocabulary, grammar, read_lines
from engine.routing.walks import Walk
from schema_catalog.types import Column, Snapshot, Table, TableKind

SINGERS = Snapshot(
    "music_2",
    ("public",),
    (
        Table(
            "public",
            "singer",
            TableKind.TABLE,
            (Column("name", "text"), Column("home_city", "text"), Column("age", "integer")),
        ),
    ),
)
WORDS = Vocabulary.of(SINGERS, Walk((0,), ((0, 1, 2),)))
OWN = "How many singers are there in each city?\n"
OTHER = "Where do the vocalists come from?\n"
MIXED = "Which city has the most vocalists?\n"


@pytest.mark.parametrize(
    ("question", "style"),
    [
        ("List the singers by name", Style.OWN),
        ("Which city has most stars", Style.MIXED),
        ("What is the name of the youngest star", Style.OTHER),
        ("Where do vocalists live", Style.OTHER),
    ],
)
def test_style_is_told_from_the_words(question: str, style: Style) -> None:
    assert WORDS.style(question) is style


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("1. Who is the youngest star?", "Who is the youngest star?"),
        ("- Who is the youngest star?", "Who is the youngest star?"),
        ('Q3: "Who is the youngest star?"', "Who is the youngest star?"),
        ("2015 was the year when who won?", "2015 was the year when who won?"),
        ("\u54ea\u4f4d\u6b4c\u624b \u6700\u5e74\u8f7b \u5728\u5317\u4eac\u5e02 \u6f14\u51fa\u8fc7", None),
        ("Who are they?", "Who are they?"),
        ("Who?", None),
        ("", None),
        ("Here are five questions:", None),
        ("SELECT name FROM singer", None),
        ("Show singer.home_city for all", None),
        ("What is home_city of the star?", None),
        ("Which music 2 songs are there?", None),
        ("I'm here to help you with that", None),
        ("Please clarify what you need to know", None),
        ("What " * 60, None),
    ],
)
def test_lines_that_are_no_questions_are_dropped(line: str, kept: str | None) -> None:
    expected = (kept,) if kept else ()
    if line.startswith("\u54ea"):
        expected = (line,)
    assert read_lines(line + "\n", "music_2", finished=True) == expected


def test_a_question_comes_once_and_half_a_line_not_at_all() -> None:
    text = "Who is the youngest?\nwho is the  youngest\nWho is the oldest?\nWho is the"
    assert read_lines(text, "music_2", finished=False) == ("Who is the youngest?", "Who is the oldest?")


@given(st.text(max_size=400), st.text(max_size=20), st.booleans())
def test_any_text_is_read(text: str, database: str, finished: bool) -> None:  # noqa: FBT001  drawn by position
    lines = read_lines(text, database, finished=finished)
    assert all("_" not in line and 12 <= len(line) <= 200 for line in lines)


def accepted(lark: str, text: str) -> bool:
    """Whether a model held to the grammar could have written `text`, byte by byte."""
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(lark), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    data = list(text.encode())
    return bool(matcher.validate_tokens(data) == len(data))


@pytest.mark.parametrize(
    ("lines", "possible"),
    [
        ((OWN, OTHER, MIXED, OTHER, MIXED), True),
        ((OTHER, OTHER, OTHER, OTHER, OTHER), True),
        ((OWN, MIXED, MIXED, OTHER, MIXED), False),
        ((OWN, OWN, MIXED, OTHER, MIXED), False),
        ((OWN, OTHER, OWN, OTHER, MIXED), False),
        (("1. Which singers are there?\n",), False),
        (("Which rows does the table hold?\n",), False),
        (("Which of them?\n", "Where do they live, and what is the agenda?\n"), False),
        (("Which of them?\n", "Where do they live in Cit\n"), False),
    ],
)
def test_the_grammar_keeps_a_model_to_other_words(lines: tuple[str, ...], possible: bool) -> None:  # noqa: FBT001
    assert accepted(grammar(WORDS), "".join(lines)) is possible


def test_schemas_in_any_script_have_a_grammar() -> None:
    lark = grammar(Vocabulary(frozenset({"\u6b4c\u624b", "stra\u00dfe"}), frozenset({"c++"})))
    assert accepted(lark, "\u54ea\u4f4d\u6700\u5e74\u8f7b\n")
    assert accepted(lark, "Who lives there?\n")
