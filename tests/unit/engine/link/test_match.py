"""Which values a question means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.link.match import COLUMNS, View, match
from engine.link.source import coded
from engine.link.value_index import ValueIndex
from engine.question import normalise as folding
from engine.question.question import Question
from engine.values.elements import Entity, Relation, ValueLink
from engine.values.state import Route
from schema_catalog.types import Column, ColumnKey, Database, ForeignKey, Snapshot, Table, TableKind
from schema_catalog.values import ColumnValues


def column(name: str) -> ColumnKey:
    table, _, own = name.partition(".")
    return ("public", table, own)


DATA = {
    "singer.country": ("France", "Netherlands", "United States"),
    "singer.name": ("John Smith", "Rose White", "Justin Brown"),
    "singer.occupation": ("singer", "dancer"),
    "concert.day": ("2013-05-14", "2013-05-30", "2014-01-02"),
    "concert.sponsor": ("Boeing", "Bank of America"),
    "flight.code": ("AA-123", "AA-124", "UA 7"),
    "race.length": ("5 km", "10 km"),
    "car.horsepower": ("150", "200", "3.5"),
    "pet.kind": ("dog", "cat"),
}
INDEX = ValueIndex([ColumnValues(column(name), values) for name, values in DATA.items()])
NAMES = frozenset(map(folding.key, ("singer", "name", "country", "concert", "flight", "car", "pet", "code")))


def view(index: ValueIndex = INDEX, **more: object) -> View:
    values = {
        "seen": index.visible(index.columns),
        "names": NAMES,
        "described": {},
        "relevance": {},
        "coded": {},
        **more,
    }
    return View(index, **values)  # type: ignore[arg-type]  # a test names what it needs


def linked(question: str, **more: object) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for link in match(Question(question), view(**more)):
        found.setdefault(".".join(link.column[1:]), []).extend(link.values)
    return found


CASES: dict[str, dict[str, list[str]]] = {
    "How many singers are from france?": {"singer.country": ["France"]},
    "singers from 'Netherland'": {"singer.country": ["Netherlands"]},
    "Who are the singers from Farnce?": {"singer.country": ["France"]},
    "How old is Smith?": {"singer.name": ["John Smith"]},
    "concerts that Boing paid for": {"concert.sponsor": ["Boeing"]},
    "concerts on May 14, 2013": {"concert.day": ["2013-05-14"]},
    "Where does AA123 go?": {"flight.code": ["AA-123"]},
    "Where does AA125 go?": {},
    "all races over 5 kilometers": {"race.length": ["5 km"]},
    "cars with 150 horsepower": {"car.horsepower": ["150"]},
    "owners of dogs": {"pet.kind": ["dog"]},
    "singers from the US": {"singer.country": ["United States"]},
    'singers called "Rose White"': {"singer.name": ["Rose White"]},
    "songs of 'Justin Timberlake'": {"singer.name": ["Justin Brown"]},
    "names of all singers": {},
    "": {},
}


@pytest.mark.parametrize("question", CASES)
def test_links(question: str) -> None:
    assert linked(question) == CASES[question]


TEAMS = {
    "airline.name": ("American Airlines Inc.", "JetBlue Airways", "Southwest Airlines Co.", "Airlines"),
    "team.name": ("Los Angeles Dodgers", "New York Yankees", "New York Mets"),
    "team.city": ("New York", "Boston"),
    "person.last_name": ("Dodge", "Redd"),
}


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Did the Dodgers win?", ["Los Angeles Dodgers"]),
        ("Did Mr Dodge win?", ["Dodge"]),
        ("JetBlue flights", ["JetBlue Airways"]),
        ("flights of Jet Blue", ["JetBlue Airways"]),
        ("flights of Southwst", ["Southwest Airlines Co."]),
        ("flights of American Airlines", ["American Airlines Inc."]),
        ("flights of Amercan Airlines", ["American Airlines Inc."]),
        ("players of the New York Yankes", ["New York Yankees"]),
        ("players in New York", ["New York"]),
    ],
)
def test_whole_words_before_parts_and_several_before_one(question: str, values: list[str]) -> None:
    index = ValueIndex([ColumnValues(column(name), held) for name, held in TEAMS.items()])
    assert [value for link in match(Question(question), view(index)) for value in link.values] == values


def test_a_word_of_another_column_is_no_value_nor_one_of_a_hidden_column() -> None:
    told = {folding.key("dancer"): frozenset({column("concert.sponsor")})}
    assert linked("how many dancers", described=told) == {}
    assert linked("how many 'dancers'", described=told) == {"singer.occupation": ["dancer"]}
    own = {folding.key("dancer"): frozenset({column("singer.occupation")})}
    assert linked("how many dancers", described=own) == {"singer.occupation": ["dancer"]}
    links = match(Question("concerts in May 2013"), view())
    assert [(link.relation, link.values) for link in links] == [(Relation.SUCH_AS, ("2013-05-14",))]
    seen = INDEX.visible([column("singer.name")])
    assert linked("How many singers are from France? Farnce? Where does AA123 go?", seen=seen) == {}
    assert linked("How old is Smith?", seen=seen) == {"singer.name": ["John Smith"]}


def test_the_columns_that_are_asked_for_come_first() -> None:
    index = ValueIndex([ColumnValues(column(f"t{n}.city"), ("Oslo",)) for n in range(9)])
    wanted = {column("t7.city"): 0.9}
    found = match(Question("who lives in Oslo"), view(index, relevance=wanted))
    assert found[0].column == column("t7.city")
    assert len(found) == COLUMNS


def test_codes_are_explained_where_the_question_is_near_them() -> None:
    values = {"person.sex": ("M", "F"), "person.state": ("CA", "NY"), "person.kind": ("adult", "child")}
    columns = [ColumnValues(column(name), codes) for name, codes in values.items()]
    near = {column("person.sex"): 0.6, column("person.state"): 0.3, column("person.kind"): 0.9}
    links = match(Question("how many women"), view(ValueIndex(columns), coded=near))
    assert links == (ValueLink("", column("person.sex"), ("F", "M"), 0.6, Relation.ONE_OF),)
    cut = ValueIndex([ColumnValues(column("person.sex"), ("M", "F"), more=True)])
    assert match(Question("how many women"), view(cut, coded=near)) == ()
    hidden = ValueIndex(columns)
    seen = hidden.visible([column("person.state")])
    assert match(Question("how many women"), view(hidden, coded=near, seen=seen)) == ()


def test_the_name_of_a_table_asks_for_none_of_its_codes() -> None:
    likeness = {"people.*": 0.9, "people.sex": 0.6}
    named = Entity("people", {column(name): value for name, value in likeness.items()})
    women = Entity(
        "women", {column("people.*"): 0.4, column("people.sex"): 0.5, column("people.club_id"): 0.7}
    )
    people = Table(
        "public",
        "people",
        TableKind.TABLE,
        (Column("sex", "text"), Column("club_id", "text")),
        foreign_keys=(ForeignKey(("club_id",), "public", "club", ("id",)),),
    )
    route = Route(
        Database("d", "", "d", ("public",), ()), Snapshot("d", ("public",), (people,)), 1.0, (), (named,)
    )
    assert coded(route) == {}
    assert coded(replace(route, entities=(named, women))) == {column("people.sex"): 0.5}, "a key has no codes"
