"""Names of a question of which a statement says nothing."""

from __future__ import annotations

import pytest

from engine.link.unknown import names_not_used
from engine.question.question import Question
from engine.values.elements import Relation, ValueLink
from tests.support.schemas import MUSIC

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
