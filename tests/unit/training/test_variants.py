"""Schemas with two interpretations: each gold reads its own names, views show them, keys follow."""

from __future__ import annotations

import numpy as np
import pytest
from sqlglot import exp

from engine.sql.tree import parsed
from schema_catalog.types import Table
from tests.support.schemas import MUSIC
from training.renaming import Renamer
from training.variants import creation, own_table, two_columns, two_tables
from training.wordnet import WordNet


def _gold(sql: str) -> exp.Query:
    tree = parsed(sql)
    assert tree is not None
    return tree


def _table(name: str) -> Table:
    return next(table for table in MUSIC.tables if table.name == name)


def test_a_column_gets_two_names_in_its_own_table_alone() -> None:
    gold = _gold("SELECT s.name, c.title FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id")
    made = two_columns(MUSIC, gold, _table("stadium"), "name", ("title", "label"))
    assert made.gold_1.startswith('SELECT s."title", c.title FROM')
    assert made.gold_2.startswith('SELECT s."label", c.title FROM')
    shown = [
        [column.name for column in views[-1].table.columns] for views in (made.both, made.first, made.second)
    ]
    assert shown == [
        ["stadium_id", "title", "label", "capacity"],
        ["stadium_id", "title", "capacity"],
        ["stadium_id", "label", "capacity"],
    ]
    assert creation(made.second).endswith(
        'CREATE VIEW {schema}."stadium" AS SELECT "stadium_id", "name" AS "label", "capacity" FROM "public"."stadium";'
    )


def test_a_table_gets_two_names_and_keys_lead_to_both() -> None:
    gold = _gold("SELECT stadium.name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM concert)")
    made = two_tables(MUSIC, gold, _table("stadium"), ("arena", "venue"))
    assert made.gold_2 == (
        'SELECT "venue".name FROM "venue" WHERE stadium_id IN (SELECT stadium_id FROM concert)'
    )
    assert [view.table.name for view in made.both][-2:] == ["arena", "venue"]
    assert {view.source for view in made.both[-2:]} == {"stadium"}
    concert = made.both[0].table
    assert [key.ref_table for key in concert.foreign_keys] == ["arena", "venue"]


@pytest.mark.parametrize(
    ("sql", "rewritten"),
    [
        (
            "SELECT capacity FROM stadium WHERE name = 'A'",
            'SELECT "stadium_capacity".capacity FROM stadium JOIN "stadium_capacity"'
            " ON stadium.stadium_id = stadium_capacity.stadium_id WHERE stadium.name = 'A'",
        ),
        (
            "SELECT a.name FROM stadium AS a JOIN stadium AS b ON a.name = b.name WHERE a.capacity > b.capacity",
            "SELECT a.name FROM stadium AS a JOIN stadium AS b ON a.name = b.name"
            ' JOIN "stadium_capacity" AS a_capacity ON a.stadium_id = a_capacity.stadium_id'
            ' JOIN "stadium_capacity" AS b_capacity ON b.stadium_id = b_capacity.stadium_id'
            ' WHERE "a_capacity".capacity > "b_capacity".capacity',
        ),
    ],
)
def test_a_column_in_a_table_of_its_own_is_joined_by_the_primary_key(sql: str, rewritten: str) -> None:
    made = own_table(MUSIC, _gold(sql), _table("stadium"), "capacity")
    assert (made.gold_1, made.gold_2) == (sql, rewritten)
    own = made.both[-1].table
    assert (own.name, [column.name for column in own.columns]) == (
        "stadium_capacity",
        ["stadium_id", "capacity"],
    )
    assert [view.table.name for view in made.first] == [table.name for table in MUSIC.tables]
    assert "capacity" not in [column.name for column in made.second[-2].table.columns]


class _Near:
    """An encoder to which all texts are the same."""

    def encode(self, texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return np.ones((len(texts), 1), dtype=np.float32)


def test_two_names_keep_qualifying_words_and_number() -> None:
    sets = {
        ("n", "1"): (("town", "city", "burgh"), (("@", "n", "2"), ("~", "n", "3"))),
        ("n", "2"): (("place",), ()),
        ("n", "3"): (("port",), ()),
    }
    renamer = Renamer(
        WordNet(sets, {"town": [("n", "1")]}),
        _Near(),
        frozenset({"city", "cities", "place", "places", "port"}),
    )
    question = "Which home town is the largest?"
    assert set(renamer.pair("home_towns", "person", question, ()) or ()) == {"home_cities", "home_places"}
    assert renamer.pair("home_town", "person", question, {"home_city"}) is None
    assert renamer.pair("home_town", "person", "Which home is the largest?", ()) is None
