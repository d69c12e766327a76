"""Which tables, values and names a question says, and which of them a statement leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.link.element_text import element_words
from engine.link.mentions import mentioned_tables, named_schemas, tables_not_read, values_not_used
from engine.link.unknown import names_not_used
from engine.question.question import Question
from engine.values.elements import Relation, ValueLink
from tests.support.golden_rules import SCHEMAS
from tests.support.schemas import MUSIC, table


@pytest.mark.parametrize(
    ("question", "tables", "left"),
    [
        ("What are the names of stadiums with concerts?", ["stadium"], ["concert"]),
        ("What are the names of stadiums with concerts?", ["concert"], []),
        ("Which singers are in the stadium?", ["singer_in_concert"], ["stadium"]),
        ("Who is a Singer in concert?", ["concert"], ["singer_in_concert"]),
        ("What are the names?", [], []),
    ],
)
def test_a_table_that_is_named_is_read_or_referred_to(
    question: str, tables: list[str], left: list[str]
) -> None:
    found = tables_not_read(
        mentioned_tables(Question(question), MUSIC), [("public", name) for name in tables], MUSIC
    )
    assert [each.name for each in found] == left


def test_a_name_that_a_column_may_mean_is_no_tables_and_a_synonym_is() -> None:
    city = table("city", "city_id home_country")
    snapshot = replace(MUSIC, tables=(city, table("country", "code population"), *MUSIC.tables))
    assert mentioned_tables(Question("Which country has most cities?"), snapshot) == (city,)
    club = replace(table("club", "club_id"), synonyms=("side", "first team"))
    snapshot = replace(MUSIC, tables=(club, *MUSIC.tables))
    asked = ("How many sides are there?", "Names of first teams", "Names of teams")
    assert [mentioned_tables(Question(question), snapshot) for question in asked] == [(club,), (club,), ()]


def link(span: str, value: str, similarity: float = 1.0, relation: Relation = Relation.EQUALS) -> ValueLink:
    return ValueLink(span, ("public", "singer", "country"), (value,), similarity, relation)


@pytest.mark.parametrize(
    ("sql", "found", "left"),
    [
        ("SELECT 1 FROM singer", [link("Kenya", "KENYA")], ["Kenya"]),
        ("SELECT 1 FROM singer WHERE country = 'kenya'", [link("Kenya", "KENYA")], []),
        ("SELECT 1 FROM singer WHERE country = 'KEN'", [link("Kenya", "KEN")], []),
        ("SELECT 1 FROM singer", [link("Which", "Which"), link("from", "From"), link("", "F")], []),
        ("SELECT 1 FROM singer", [link("Kenya", "Kenyan", 0.9)], []),
        ("SELECT 1 FROM singer", [link("Kenya", "Kenya", 1.0, Relation.SUCH_AS)], []),
        ("SELECT 1 FROM singer WHERE name = 'Ke'", [link("Kenya", "Kenya"), link("Kenya", "Ke")], []),
    ],
)
def test_a_value_that_is_named_is_compared_with(sql: str, found: list[ValueLink], left: list[str]) -> None:
    assert values_not_used(Question("Which singers are from Kenya?"), sql, found) == left


def test_a_table_is_named_by_the_word_that_its_name_is_surely_short_for() -> None:
    terse = replace(
        MUSIC,
        tables=(
            table("trk", "trk_id ttl gnr_id"),
            table("gnr", "gnr_id gnr_dsc"),
            table("cust", "cust_no region"),
            table("st", "st_cd"),
            table("str", "str_id"),
        ),
    )

    def named(question: str) -> list[str]:
        return [each.name for each in mentioned_tables(Question(question), terse)]

    assert named("How many tracks do customers in the region have?") == ["trk", "cust"]
    assert named("the region") == [], "a column's name"
    assert named("states") == [], "two may be"


CLINICS = SCHEMAS["clinics"]


def test_of_tables_of_one_name_those_of_the_named_schema_are_named() -> None:
    def found(question: str) -> list[str]:
        return [each.schema for each in mentioned_tables(Question(question), CLINICS)]

    assert found("How many visits has the north clinic?") == ["north"]
    assert found("How many visits have the north and the south clinic?") == ["north", "south"]
    assert found("How many visits are there?") == ["north", "south"]
    assert element_words(CLINICS)["north", "visit", "fee"] == "north visit fee"
    assert element_words(replace(CLINICS, search_path=("north",)))["north", "visit", "fee"] == "visit fee"
    assert named_schemas(Question("the public north"), MUSIC) == frozenset()


ALL = "SELECT artist_name FROM singer"


BOTH = "SELECT count(*) FROM singer WHERE country = 'Bangladesh' OR country = 'Spain'"
US = ValueLink("US", ("public", "singer", "country"), ("United States",), 0.9, Relation.EQUALS)


@pytest.mark.parametrize(
    ("question", "sql", "left"),
    [
        ("singers who sang in Paris or 'the old barn' in 2013", ALL, ("Paris", "the old barn")),
        ("singers from Paris", "SELECT artist_name FROM singer WHERE country = 'Newark'", ("Paris",)),
        # A name in another form is used.
        ("How many Bangladeshi artists are there?", BOTH, ()),
        ("singers from Spain and Bangladesh", BOTH, ()),
        # Names of the schema, first words and linked names are no strangers.
        ("the Artist Name of each Singer", ALL, ()),
        ("Paris singers", ALL, ()),
        ("concerts in July", "SELECT title FROM concert WHERE month = 7", ()),
        ("singers from the US", ALL, ()),
    ],
)
def test_names_that_the_statement_leaves_out(question: str, sql: str, left: tuple[str, ...]) -> None:
    assert names_not_used(Question(question), sql, MUSIC, (US,)) == left
