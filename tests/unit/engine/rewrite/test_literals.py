"""Literals beside the values that the question means."""

from __future__ import annotations

from engine.rewrite.rules.mending import mended

from engine.core.elements import Relation, ValueLink
from engine.rewrite.rules.literals import moved
from tests.support.schemas import MUSIC

LINKS = (
    ValueLink("france", ("public", "singer", "country"), ("France",), 1.0, Relation.EQUALS),
    ValueLink("wembley", ("public", "stadium", "name"), ("Wembley",), 1.0, Relation.EQUALS),
)


def test_a_literal_is_spelt_as_stored() -> None:
    assert mended("SELECT artist_name FROM singer WHERE country = 'france'", MUSIC, LINKS).endswith(
        "country = 'France'"
    )
    assert mended("SELECT s.title FROM concert AS s WHERE s.title <> 'france'", MUSIC, LINKS).endswith(
        "<> 'france'"
    ), "of another column nobody said so"


def test_a_literal_moves_to_the_column_that_holds_it() -> None:
    sql = "SELECT COUNT(*) FROM singer WHERE artist_name = 'France'"
    assert moved(sql, LINKS, MUSIC) == "SELECT COUNT(*) FROM singer WHERE country = 'France'"


def test_it_moves_to_another_table_that_is_read_and_to_no_other() -> None:
    joined = "FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id"
    assert moved(f"SELECT c.year {joined} WHERE c.title = 'Wembley'", LINKS, MUSIC) == (
        f"SELECT c.year {joined} WHERE s.name = 'Wembley'"
    )
    assert moved("SELECT year FROM concert WHERE title = 'Wembley'", LINKS, MUSIC) is None


def test_what_is_where_it_was_found_stays() -> None:
    assert moved("SELECT COUNT(*) FROM singer WHERE country = 'France'", LINKS, MUSIC) is None
    assert moved("SELECT COUNT(*) FROM singer WHERE artist_name = 'Ann'", LINKS, MUSIC) is None
    assert moved("not SQL at all (", LINKS, MUSIC) is None
