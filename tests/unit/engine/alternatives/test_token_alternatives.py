"""What the model nearly wrote, read from the tokens that it weighed."""

from __future__ import annotations

from engine.alternatives.token_alternatives import TokenAlternative, token_alternatives
from engine.core.candidate import Candidate
from engine.core.ports import Token
from tests.support.schemas import MUSIC

ARTIST, PERFORMER, COUNTRY, KEY = (
    ("public", "singer", name) for name in ("artist_name", "performer_name", "country", "singer_id")
)


def found(
    *tokens: tuple[str, dict[str, float]], used: tuple[tuple[str, str, str], ...] = (ARTIST,)
) -> list[TokenAlternative]:
    candidate = Candidate("music", "", tables=frozenset({ARTIST[:2]}), columns=frozenset(used))
    return token_alternatives(
        candidate, [Token(text, tuple(others.items())) for text, others in tokens], MUSIC
    )


def test_another_column_is_told_by_its_first_letters() -> None:
    told = found(
        ("SELECT", {}), (" artist", {" artist": 0.8, " perform": 0.15, " title": 0.05}), ("_name", {})
    )
    assert told == [TokenAlternative(ARTIST, PERFORMER, 0.15)]


def test_a_qualifier_may_stand_in_the_same_token() -> None:
    told = found(("SELECT T1", {}), (".art", {".art": 0.7, ".count": 0.2, " count": 0.1}), ("ist_name", {}))
    assert told == [TokenAlternative(ARTIST, COUNTRY, 0.2)]


def test_names_may_part_after_a_common_beginning() -> None:
    told = found(("SELECT ", {}), ("singer", {}), ("_id", {"_id": 0.9, "_name": 0.1}), used=(KEY,))
    assert told == [], "no column begins with singer_name"
    told = found(('SELECT "artist', {'SELECT "artist': 0.9}), ("_name", {"_country": 0.1}), ('"', {}))
    assert told == []


def test_letters_that_several_columns_begin_with_are_shared_and_the_likeliest_place_counts() -> None:
    candidate = Candidate("music", "", columns=frozenset({("public", "concert", "title")}))
    tokens = [
        Token(" title", ((" year", 0.02),)),
        Token(",", ()),
        Token(" title", ((" year,", 0.3), (" yea", 0.1))),
    ]
    assert token_alternatives(candidate, tokens, MUSIC) == [
        TokenAlternative(("public", "concert", "title"), ("public", "concert", "year"), 0.3)
    ]


def test_what_stands_in_a_literal_is_no_name() -> None:
    assert found((" 'artist", {" 'perform": 0.5}), ("_name'", {})) == []


def test_a_model_that_tells_nothing_leaves_no_doubt() -> None:
    assert found(("SELECT", {}), (" artist_name", {})) == []
    assert found() == []
