"""Schemas with two interpretations: each gold reads its own names, views show them, keys follow."""

from __future__ import annotations

import numpy as np

from schema_catalog.types import Table
from tests.support.schemas import MUSIC
from training.renaming import Renamer
from training.variants import creation, own_table, two_columns, two_tables
from training.wordnet import WordNet


def _table(name: str) -> Table:
    return next(table for table in MUSIC.tables if table.name == name)


def test_a_column_gets_two_names_in_its_own_table_alone() -> None:
    gold = "SELECT s.name, c.title FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id"
    made = two_columns(MUSIC, gold, _table("stadium"), "name", ("title", "label"))
    one = "WITH stadium AS (SELECT stadium_id, title AS name, capacity FROM stadium) "
    assert (made.gold_1, made.gold_2) == (one + gold, one.replace("title", "label") + gold)
    shown = [
        [column.name for column in views[-1].table.columns] for views in (made.both, made.first, made.second)
    ]
    assert shown == [
        ["stadium_id", "title", "label", "capacity"],
        ["stadium_id", "title", "capacity"],
        ["stadium_id", "label", "capacity"],
    ]
    assert creation(made.second).endswith(
        "CREATE VIEW {schema}.stadium AS SELECT stadium_id, name AS label, capacity FROM public.stadium;"
    )


def test_a_table_gets_two_names_and_keys_lead_to_both() -> None:
    gold = "SELECT stadium.name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM concert)"
    made = two_tables(MUSIC, gold, _table("stadium"), ("arena", "venue"))
    assert made.gold_2 == (f"WITH stadium AS (SELECT stadium_id, name, capacity FROM venue) {gold}")
    assert [view.table.name for view in made.both][-2:] == ["arena", "venue"]
    assert {view.source for view in made.both[-2:]} == {"stadium"}
    concert = made.both[0].table
    assert [key.ref_table for key in concert.foreign_keys] == ["arena", "venue"]


def test_a_column_in_a_table_of_its_own_is_joined_by_the_primary_key() -> None:
    gold = "SELECT capacity FROM stadium WHERE name = 'A'"
    made = own_table(MUSIC, gold, _table("stadium"), "capacity")
    shown = "SELECT t.stadium_id AS stadium_id, t.name AS name, own.capacity AS capacity"
    joined = "FROM stadium AS t JOIN stadium_capacity AS own USING (stadium_id)"
    assert (made.gold_1, made.gold_2) == (gold, f"WITH stadium AS ({shown} {joined}) {gold}")
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
