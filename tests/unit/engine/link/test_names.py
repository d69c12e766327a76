"""Names of a question of which a statement says nothing."""

from __future__ import annotations

from engine.link.unknown import names_not_used
from engine.question.question import Question
from engine.values.elements import Relation, ValueLink
from tests.support.schemas import MUSIC

ALL = "SELECT artist_name FROM singer"


def test_a_name_that_the_statement_leaves_out() -> None:
    question = "singers who sang in Paris or 'the old barn' in 2013"
    assert names_not_used(Question(question), ALL, MUSIC, ()) == ("Paris", "the old barn")
    other = "SELECT artist_name FROM singer WHERE country = 'Newark'"
    assert names_not_used(Question("singers from Paris"), other, MUSIC, ()) == ("Paris",)


def test_a_name_in_another_form_is_used() -> None:
    sql = "SELECT count(*) FROM singer WHERE country = 'Bangladesh' OR country = 'Spain'"
    assert names_not_used(Question("How many Bangladeshi artists are there?"), sql, MUSIC, ()) == ()
    assert names_not_used(Question("singers from Spain and Bangladesh"), sql, MUSIC, ()) == ()


def test_names_of_the_schema_first_words_and_linked_names_are_no_strangers() -> None:
    assert names_not_used(Question("the Artist Name of each Singer"), ALL, MUSIC, ()) == ()
    assert names_not_used(Question("Paris singers"), ALL, MUSIC, ()) == ()
    assert (
        names_not_used(Question("concerts in July"), "SELECT title FROM concert WHERE month = 7", MUSIC, ())
        == ()
    )
    link = ValueLink("US", ("public", "singer", "country"), ("United States",), 0.9, Relation.EQUALS)
    assert names_not_used(Question("singers from the US"), ALL, MUSIC, (link,)) == ()
