"""Comments as codes and meanings, and what a question says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.link.legends import bits, code_of, coded_links
from engine.link.mentions import values_not_used
from engine.question.comments import legend
from engine.question.question import Question
from engine.write.known_text import value_text
from engine.write.schema_text import schema_text
from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.support.schemas import table


@pytest.mark.parametrize(
    ("comment", "meanings"),
    [
        ("10 new, 20 paid, 30 invoiced", {"10": "new", "20": "paid", "30": "invoiced"}),
        ("N = new; P = paid", {"N": "new", "P": "paid"}),
        ("state: N: new, P: paid", {"N": "new", "P": "paid"}),
        ("1 - low / 2 - medium / 3 - high", {"1": "low", "2": "medium", "3": "high"}),
        ("new (N), paid (P)", {"N": "new", "P": "paid"}),
        ("P for paid, O for open", {"P": "paid", "O": "open"}),
        ("'A' = active, 'I' = inactive", {"A": "active", "I": "inactive"}),
        ("who pays: S sales, W warehouse", {"S": "sales", "W": "warehouse"}),
        ("difficulty: b blue, r red, s black", {"b": "blue", "r": "red", "s": "black"}),
        ("b = blue, r = red, s = black", {"b": "blue", "r": "red", "s": "black"}),
        ("20 = paid (in full)\n90 = cancelled, not counted", {"20": "paid", "90": "cancelled"}),
    ],
)
def test_ways_of_writing_a_legend(comment: str, meanings: dict[str, str]) -> None:
    assert {each.code: each.words for each in legend(comment)} == meanings


@pytest.mark.parametrize(
    "comment",
    [
        "oil pressure at the main bearing, bar",
        "from 10:30 to 12:45",
        "gender, either M or F",
        "latitude: north = positive, south = negative",
        "1 = open",
        "a person, a company",
        "x position, y position",
        "of men, in rows",
        "1 = open, 1 = closed",
    ],
)
def test_what_is_no_legend(comment: str) -> None:
    assert legend(comment) == ()


STATE = ("public", "orders", "state")
ORDERS = replace(
    table("orders", "order_id state kind"),
    columns=(
        Column("order_id", "integer"),
        Column(
            "state", "integer", description="10 new, 20 paid, 30 paid back, which is rare, 40 over, 50 kind"
        ),
        Column("kind", "text"),
    ),
)
SHOP = Snapshot("shop", ("public",), (ORDERS,))


@pytest.mark.parametrize(
    ("text", "code"), [("Paid", "20"), ("paid back", "30"), ("20", None), ("lost", None), ("", None)]
)
def test_the_code_of_a_meaning(text: str, code: str | None) -> None:
    assert code_of(text, STATE, SHOP) == code


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("How many new orders are there?", [("new", "10")]),
        ("orders paid back", [("paid back", "30")]),
        ("new and paid ones", [("new", "10"), ("paid", "20")]),
        ("orders over 5 of each kind", []),
    ],
)
def test_the_meanings_that_a_question_says(question: str, codes: list[tuple[str, str]]) -> None:
    assert [(each.span, *each.values) for each in coded_links(Question(question), SHOP)] == codes


def test_a_meaning_is_said_by_its_code_and_prompts_show_both() -> None:
    links = coded_links(Question("new orders"), SHOP)
    assert values_not_used(Question("new orders"), "SELECT 1 FROM orders WHERE state = 10", links) == []
    assert values_not_used(Question("new orders"), "SELECT 1 FROM orders WHERE order_id = 2010", links) == [
        "new"
    ]
    assert "40 over, 50 kind" in schema_text(SHOP, ())[0]
    assert "orders.state = '10' (\"new\")" in value_text(coded_links(Question("new orders"), SHOP), SHOP)


@pytest.mark.parametrize(
    ("name", "comment", "told"),
    [
        ("flags", "1 = heated, 2 = outdoor, 4 = roofed", {"1": "heated", "2": "outdoor", "4": "roofed"}),
        (
            "marks",
            "0 = none, 1 = heated, 2 = outdoor, 4 = roofed",
            {"1": "heated", "2": "outdoor", "4": "roofed"},
        ),
        (
            "marks",
            "bit 0 = heated, bit 1 = outdoor, bit 2 = roofed",
            {"1": "heated", "2": "outdoor", "4": "roofed"},
        ),
        ("flags", "1 = heated, 2 = outdoor", {"1": "heated", "2": "outdoor"}),
        ("state", "1 = open, 2 = paid", {}),
        ("state", "1 = open, 2 = paid, 3 = sent", {}),
        ("state", "10 = open, 20 = paid, 40 = sent", {}),
    ],
)
def test_bits_are_told_as_bits_and_never_as_values(name: str, comment: str, told: dict[str, str]) -> None:
    column = Column(name, "integer", description=comment)
    assert {each.code: each.words for each in bits(column)} == told
    snapshot = Snapshot("s", ("public",), (Table("public", "room", TableKind.TABLE, (column,)),))
    assert bool(coded_links(Question("which rooms are heated, open or paid?"), snapshot)) is not bool(told)
