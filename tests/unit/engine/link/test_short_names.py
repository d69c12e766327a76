"""What names are short for in a question, and which of it a statement leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.link.mentions import ShortName, short_names, short_names_not_used
from engine.question.question import Question
from schema_catalog.types import Column, Snapshot
from tests.support.schemas import table

STRIKES = Snapshot(
    "fields", ("public",), (table("strk", "strk_id spcs cst_tot rate"), table("arpt", "arpt_id name"))
)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which species has cost the most?", [("spcs", "species"), ("cst", "cost")]),
        ("How many strikes are there at each airport?", [("strk", "strikes"), ("arpt", "airport")]),
        *((each, []) for each in ("The rates of all", "Who is rated best?", "What is the name?")),
        *((each, []) for each in ("How many in total?", "")),
    ],
)
def test_the_parts_that_are_surely_short_for_a_word(question: str, found: list[tuple[str, str]]) -> None:
    assert short_names(Question(question), STRIKES) == tuple(ShortName(*each) for each in found)


def test_a_word_of_a_description_needs_none_and_what_no_name_read_is_short_for_is_left_out() -> None:
    limits = replace(table("cust", "cno crlim"), description="Customers with a credit each")
    told = Snapshot("told", ("public",), (limits, table("tkt", "tid cdt")))
    assert short_names(Question("the credit of each ticket"), told) == (ShortName("tkt", "ticket"),)
    question = "Which species has cost the most?"
    assert short_names_not_used(short_names(Question(question), STRIKES), ["strk", "cst_tot"]) == (
        ShortName("spcs", "species"),
    )
    assert short_names_not_used(short_names(Question(question), STRIKES), ["strk", "spcs", "cst_tot"]) == ()


INDUSTRIES = Snapshot(
    "jobs",
    ("public",),
    (
        replace(
            table("emp_m", "mth lsh hr sb"),
            columns=(
                Column("mth", "date"),
                Column("lsh", "integer", description="leisure\nand hospitality"),
                Column("hr", "integer", description="Runs"),
                Column("stolen_bases", "integer", description="Stolen bases"),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Jobs in leisure and hospitality", [("lsh", "leisure and hospitality")]),
        *((each, []) for each in ("Jobs in hospitality", "How many runs?", "Who stole the stolen bases?")),
    ],
)
def test_names_by_their_whole_description(question: str, found: list[tuple[str, str]]) -> None:
    assert short_names(Question(question), INDUSTRIES) == tuple(ShortName(*each) for each in found)
    assert short_names_not_used(short_names(Question(question), INDUSTRIES), ["emp_m", "lsh"]) == ()
