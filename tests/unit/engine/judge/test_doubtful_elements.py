"""How sure each element of the first statement is, by the candidates that share it, and which are told of."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.judge.doubtful_elements import MOST, Kind, doubts, elements, marks
from engine.values.candidate import Candidate
from engine.values.elements import WHOLE_TABLE
from tests.support.schemas import MUSIC


def listed(*statements: tuple[str, float], database: str = "music") -> list[Candidate]:
    return [Candidate(database, sql, confidence=confidence) for sql, confidence in statements]


def test_of_each_name_literal_operator_and_clause_it_is_said_how_sure_it_is() -> None:
    first = "SELECT artist_name FROM singer WHERE country = 'France' ORDER BY artist_name DESC"
    found = Counter(elements(first, MUSIC))
    assert {(each.kind, each.words, each.clause) for each in found} == {
        (Kind.NAME, "singer", "from"),
        (Kind.NAME, "artist_name", "expressions"),
        (Kind.NAME, "country", "where"),
        (Kind.NAME, "artist_name", "order"),
        (Kind.LITERAL, "'France'", "where"),
        (Kind.OPERATOR, "is", "where"),
        (Kind.OPERATOR, "descending", "order"),
        (Kind.CLAUSE, "where", "where"),
        (Kind.CLAUSE, "ordered by", "order"),
    }


def test_an_element_is_as_sure_as_the_candidates_together_that_have_it() -> None:
    found = doubts(
        listed(
            ("SELECT artist_name FROM singer WHERE country = 'France'", 0.4),
            ("SELECT performer_name FROM singer WHERE country = 'France'", 0.3),
            ("SELECT artist_name FROM singer WHERE country = 'FR'", 0.1),
        ),
        MUSIC,
    )
    sure = {each.words: pytest.approx(each.sure) for each in found}
    assert list(sure)[:2] == ["artist_name; could be performer_name", "'France'; could be 'FR'"]
    assert sure == {
        "artist_name; could be performer_name": 0.625,
        "'France'; could be 'FR'": 0.875,
        **dict.fromkeys(("singer", "country", "is", "where"), 1.0),
    }


TOLD = {
    "column": (
        "SELECT artist_name FROM singer",
        "SELECT performer_name FROM singer",
        ["artist_name; could be performer_name"],
    ),
    "alias": ("SELECT s.artist_name FROM singer AS s", "SELECT artist_name FROM singer", []),
    "column of that name elsewhere": (
        "SELECT s.stadium_id FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id",
        "SELECT c.stadium_id FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id",
        ["stadium.stadium_id; could be concert.stadium_id"],
    ),
    "table": ("SELECT COUNT(*) FROM singer", "SELECT COUNT(*) FROM stadium", ["singer; could be stadium"]),
    "operator": (
        "SELECT name FROM stadium WHERE capacity > '1'",
        "SELECT name FROM stadium WHERE capacity >= '1'",
        ["is more than; could be is at least"],
    ),
    "aggregate": (
        "SELECT MAX(capacity) FROM stadium",
        "SELECT MIN(capacity) FROM stadium",
        ["highest; could be lowest"],
    ),
    "direction": (
        "SELECT name FROM stadium ORDER BY capacity LIMIT 1",
        "SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1",
        ["ascending; could be descending"],
    ),
    "clause": ("SELECT DISTINCT name FROM stadium", "SELECT name FROM stadium", ["equal rows once"]),
    "left join": (
        "SELECT c.title FROM concert c LEFT JOIN stadium s ON s.stadium_id = c.stadium_id",
        "SELECT c.title FROM concert c JOIN stadium s ON s.stadium_id = c.stadium_id",
        ["left join"],
    ),
    "column in two places": (
        "SELECT artist_name FROM singer GROUP BY artist_name",
        "SELECT performer_name FROM singer GROUP BY performer_name",
        ["artist_name; could be performer_name"],
    ),
    "names of its own": (
        "WITH best AS (SELECT name AS called FROM stadium) SELECT called FROM best",
        "SELECT s.name FROM stadium s",
        ["another query"],
    ),
    "other one not parsed": ("SELECT name FROM stadium", "nothing", []),
    "not parsed": ("nothing", "SELECT name FROM stadium", []),
}


@pytest.mark.parametrize("case", TOLD.values(), ids=TOLD)
def test_what_another_candidate_says_instead_is_told(case: tuple[str, str, list[str]]) -> None:
    first, other, told = case
    assert [each.words for each in marks(listed((first, 0.5), (other, 0.4)), MUSIC)] == told


def test_two_elements_are_told_of_at_most_names_before_what_stands_around_them() -> None:
    first = "SELECT title, year FROM concert WHERE stadium_id > 3"
    found = marks(listed((first, 0.5), ("SELECT name, capacity FROM stadium", 0.4)), MUSIC)
    assert len(found) == MOST
    assert {each.element.kind for each in found} == {Kind.NAME}
    assert all(each.other is not None for each in found)


@pytest.mark.parametrize(
    "candidates",
    [
        listed(("SELECT artist_name FROM singer", 0.2)),
        listed(("SELECT artist_name FROM singer", 0.9), ("SELECT performer_name FROM singer", 0.05)),
        [
            *listed(("SELECT artist_name FROM singer", 0.4)),
            *listed(("SELECT performer_name FROM singer", 0.4), database="other"),
        ],
    ],
    ids=["alone", "far ahead", "of another database"],
)
def test_nothing_is_told_where_no_candidate_speaks_against_the_first(candidates: list[Candidate]) -> None:
    assert marks(candidates, MUSIC) == ()


def test_without_confidences_the_candidates_count_alike() -> None:
    (first, *_) = doubts(
        listed(("SELECT artist_name FROM singer", 0), ("SELECT performer_name FROM singer", 0)), MUSIC
    )
    assert (first.element.said, first.sure) == (("public", "singer", "artist_name"), 0.5)
    assert first.other is not None
    assert WHOLE_TABLE not in first.other.said
