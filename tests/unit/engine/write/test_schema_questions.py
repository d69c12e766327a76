"""Which tables are asked about together, and what is taken of the model's reply."""

from __future__ import annotations

from dataclasses import replace

import llguidance
import pytest
from llguidance import LLMatcher

from engine.write.schema_questions import SETS, TABLES, asking, made, topics, walks
from schema_catalog.types import Attributes, Column, ForeignKey, Sensitivity, Snapshot, Table, TableKind


def table(name: str, *columns: str, to: str = "") -> Table:
    keys = (ForeignKey(("ref",), "public", to, ("id",)),) if to else ()
    names = ("id", *(("ref",) if to else ()), *columns)
    parts = tuple(Column(each, "integer") for each in names)
    return Table("public", name, TableKind.TABLE, parts, ("id",), foreign_keys=keys)


def schema(*tables: Table) -> Snapshot:
    return Snapshot("shop", ("public",), tuple(sorted(tables, key=lambda each: each.key)))


SHOP = schema(
    table("customer", "status"), table("purchase", "net", to="customer"), table("item", to="purchase")
)
CHAIN = [table("t00", "x"), *(table(f"t{n:02}", "x", to=f"t{n - 1:02}") for n in range(1, 20))]


def test_every_table_of_a_small_schema_is_in_a_set_of_linked_ones() -> None:
    found = walks(schema(*CHAIN))
    assert len(found) == len(set(found)) == SETS
    assert {key for keys in found for key in keys} == {each.key for each in CHAIN}
    assert all(1 <= len(keys) <= TABLES for keys in found)
    assert walks(schema()) == ()


def test_of_a_large_schema_as_much_as_the_prompts_reach() -> None:
    large = schema(*(table(f"t{n}") for n in range(100)))
    assert len(walks(large)) == SETS


def test_the_walks_are_the_same_again_and_few_change_with_a_new_table() -> None:
    before = walks(schema(*CHAIN))
    assert before == walks(schema(*CHAIN))
    after = walks(schema(*CHAIN, table("t99", to="t19")))
    assert len(set(before) & set(after)) >= SETS // 2


def test_of_wide_tables_no_two_prompts_are_about_the_same_ones() -> None:
    def wide(name: str, columns: int, to: str = "") -> Table:
        found = table(name, *(f"column_{n:03}" for n in range(columns)), to=to)
        return replace(found, columns=tuple(replace(each, description="x" * 50) for each in found.columns))

    tables = [wide("t00", 60), *(wide(f"t{n:02}", 60, to=f"t{n - 1:02}") for n in range(1, 6))]
    found = topics(schema(*tables))
    assert len({topic.keys for topic in found}) == len(found), "they would be asked in turn for ever"
    # One that did not fit beside the first is asked about where it is shown.
    assert {"t03", "t05"} <= {name for topic in found for name in topic.names}
    keys = wide("huge", 400)
    assert topics(schema(replace(keys, primary_key=tuple(each.name for each in keys.columns)))) == ()


def test_words_are_wanted_once_and_for_no_part_of_a_key() -> None:
    wanted = [name for topic in topics(SHOP) for name in topic.names]
    assert sorted(wanted) == ["customer", "customer.status", "item", "purchase", "purchase.net"]


def test_a_fingerprint_is_of_the_schema_and_of_nothing_that_people_call_it() -> None:
    (topic, *_) = topics(SHOP)
    renamed = [replace(each, synonyms=("word",), proposed_synonyms=("other",)) for each in SHOP.tables]
    assert topics(schema(*renamed))[0].fingerprint == topic.fingerprint
    commented = [replace(each, description="new") for each in SHOP.tables]
    assert topics(schema(*commented))[0].fingerprint != topic.fingerprint


def test_what_is_masked_is_not_asked_about() -> None:
    hidden = Attributes(sensitivity=Sensitivity.MASKED)
    masked = [
        replace(
            each,
            columns=tuple(replace(c, attributes=hidden) if c.name == "net" else c for c in each.columns),
        )
        for each in SHOP.tables
    ]
    for topic in topics(schema(*masked)):
        assert "net" not in asking(topic, {}).user
        assert all(column != "net" for *_, column in topic.reads)


def test_a_prompt_has_tables_values_and_names() -> None:
    (topic, *_) = topics(SHOP)
    user = asking(topic, {("public", "customer", "status"): ["new", "old's"]}).user
    assert "purchase(id int PK, ref int -> customer.id, net int)" in user
    assert "### Values\ncustomer.status: 'new', 'old''s'\n" in user
    assert user.endswith("### Lines")


def test_a_wide_schema_is_cut_and_so_is_what_is_read() -> None:
    wide = schema(table("wide", *(f"column_of_a_wide_table_{n}" for n in range(900))))
    (topic, *_) = topics(wide)
    assert len(topic.text) < 9_000
    assert len(topic.reads) < 100
    assert len(topic.names) <= 60


def test_only_lines_that_were_asked_for_are_taken() -> None:
    (topic, *_) = topics(SHOP)
    found = made(
        "<think>? never</think>\nSure, here:\n? who buys most\n?who buys most\n? second\n? third\n? fourth\n? fifth\n"
        "? ⟨email 12ab⟩ asked\n? " + "x" * 200 + "\n"
        "purchase = Deal, deal, purchase, very very, " + "y" * 50 + ", sale, order, one, two, three\n"
        "customer.status=standing\nnothing = at all\npurchase.net = \nDROP TABLE x\n",
        topic,
        ("⟨email 12ab⟩",),
    )
    assert found.questions == ("who buys most", "second", "third", "fourth")
    assert found.words[("public", "purchase")] == ("deal", "sale", "order", "one", "two")
    assert {element: words for element, words in found.words.items() if words} == {
        ("public", "purchase"): ("deal", "sale", "order", "one", "two")
    }
    # What is not said any more is none.
    assert set(found.words) == set(topic.names.values())


@pytest.mark.parametrize(
    ("reply", "accepted"),
    [
        ('sale"s \\ år = deal, order of mine\n', True),
        ('sale"s \\ år.net = turnover\n', True),
        ("", True),
        ("else = deal\n", False),
        ('sale"s \\ år = a long phrase with a comma in no place of it\n', False),
    ],
)
def test_a_model_under_the_grammar_writes_what_is_taken(reply: str, *, accepted: bool) -> None:
    (named,) = topics(schema(table('sale"s \\ år', "net")))
    tokenizer = llguidance.LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(named.grammar()))
    assert not matcher.is_error(), matcher.get_error()
    text = "".join(f"? what is it about {n}\n" for n in range(4)) + reply
    tokens = tokenizer.tokenize_str(text)
    assert (matcher.consume_tokens(tokens) and matcher.is_accepting()) is accepted
    found = made(text, named)
    assert len(found.questions) == 4
    assert any(found.words.values()) is (accepted and bool(reply))


def test_a_name_that_would_break_a_line_gets_no_words() -> None:
    (topic,) = topics(schema(table("new\nline", "net")))
    assert topic.names == {}
    assert made("? who\n", topic).questions == ("who",)
