"""What the model is shown of a table, and what is read out of what it writes."""

from __future__ import annotations

import llguidance

from engine.app.suggesting import Asked, asking, grammar, lacking, suggestions
from schema_catalog.types import (
    Attributes,
    Column,
    Sensitivity,
    Snapshot,
    Suggestion,
    SuggestionKind,
    Table,
    TableKind,
)

SENSITIVE = Attributes(sensitivity=Sensitivity.SENSITIVE)
ORDERS = Table(
    "public",
    "orders",
    TableKind.TABLE,
    (
        Column("net", "numeric", description="net amount"),
        Column("st", "text", description="state", synonyms=("status",)),
        Column("Odd name", "text"),
        Column("pin", "text", attributes=SENSITIVE),
    ),
)
SHOP = Snapshot("shop", ("public",), (ORDERS,))
NET, ODD = ("public", "orders", "net"), ("public", "orders", "Odd name")


def asked() -> tuple[Asked, ...]:
    return lacking(ORDERS, frozenset())


def test_what_lacks_a_description_is_asked_for_once_and_what_is_said_of_two_alike_dropped() -> None:
    assert [each.name for each in asked()] == ["table orders", "net", '"Odd name"', "pin"]
    later = lacking(ORDERS, frozenset({ORDERS.key, NET}))
    assert [each.name for each in later] == ['"Odd name"', "pin"]
    found = suggestions("net: an amount | sum, total\npin: the amount | Sum, code", asked())
    assert [each.text for each in found] == ["total", "the amount", "code"]


def test_no_sensitive_values_and_of_a_wide_table_the_first_columns_and_those_asked_for_are_shown() -> None:
    values = {(*ORDERS.key, "pin"): ("1234",), (*ORDERS.key, "st"): ("open", "it's", "c", "d", "e", "f")}
    shown = asking(SHOP, ORDERS, asked(), values)
    assert "1234" not in shown.user
    assert "st: 'open', 'it''s', 'c', 'd', 'e'\n" in shown.user
    assert '"net amount"' in shown.user
    assert shown.user.endswith('### Names\ntable orders\nnet\n"Odd name"\npin\n### Lines')
    wide = Table("public", "wide", TableKind.TABLE, tuple(Column(f"c{n:02}", "text") for n in range(40)))
    some = lacking(wide, frozenset())[30:32]
    text = asking(Snapshot("shop", ("public",), (wide,)), wide, some, {}).user
    assert "c07" in text
    assert "c29" in text
    assert "c15" not in text


def test_an_answer_is_read_line_by_line() -> None:
    answer = (
        "table orders: one row for each order. | purchases, Orders, sales,, buy, more\n"
        "net: another description | turnover, NET, turn over\n"
        "net: a second time | no\n"
        "something: else | x\n"
        '"Odd name": odd  "name" ### of it, as told - and so on\n'
        "pin | no colon"
    )
    description, synonym = SuggestionKind.DESCRIPTION, SuggestionKind.SYNONYM
    assert suggestions(answer, asked()) == (
        Suggestion(ORDERS.key, description, "one row for each order"),
        Suggestion(ORDERS.key, synonym, "purchases"),
        Suggestion(ORDERS.key, synonym, "sales"),
        Suggestion(ORDERS.key, synonym, "buy"),
        Suggestion(NET, synonym, "turnover"),
        Suggestion(ODD, description, "odd 'name' of it"),
    )


def test_the_grammar_is_one() -> None:
    """It compiles, and its lines are those that are read."""
    error = llguidance.LLMatcher.validate_grammar(llguidance.LLMatcher.grammar_from_lark(grammar(asked())))
    assert not error
    assert '"\\"Odd name\\":" TEXT' in grammar(asked())
