"""Over random candidates: options are disjoint, of candidates alone, and an answer never makes things worse."""

from __future__ import annotations

import random

import pytest

from engine.ask.choice import offered
from engine.ask.differences import Aspect, Difference, Reading
from engine.ask.question_back import agreeing
from engine.statement.facts import Matter
from engine.values.candidate import Candidate
from engine.values.dialogue import Turn
from tests.support.clarifying import best_question, expected_error
from tests.support.schemas import MUSIC

_OUTPUTS = (
    *("artist_name", "performer_name", "country, artist_name"),
    *("COUNT(*)", "COUNT(DISTINCT country)", "MAX(singer_id)"),
)
_FROM = ("singer", "singer JOIN singer_in_concert ON singer.singer_id = singer_in_concert.singer_id")
_WHERE = (
    "",
    " WHERE country = 'France'",
    " WHERE country LIKE 'Fra%'",
    " WHERE singer.singer_id > 3",
    " WHERE singer.singer_id NOT IN (SELECT singer_id FROM singer_in_concert WHERE concert_id = 2)",
)
_ORDER = ("", " ORDER BY artist_name", " ORDER BY country DESC LIMIT 1", " LIMIT 3")


def drawn(chance: random.Random) -> list[Candidate]:
    statements = {
        f"SELECT {chance.choice(_OUTPUTS)} FROM {chance.choice(_FROM)}{chance.choice(_WHERE)}{chance.choice(_ORDER)}"
        for _ in range(chance.randint(1, 7))
    }
    return [Candidate("music", sql, confidence=chance.random()) for sql in sorted(statements)]


@pytest.mark.parametrize("seed", range(30))
def test_a_question_parts_candidates_and_its_answer_helps(seed: int) -> None:
    these = drawn(random.Random(seed))  # noqa: S311 - statements for tests
    question = best_question(these, {"music": MUSIC}, "Which names?")
    if question is None:
        assert len(these) < 3
        return
    known = {each.sql for each in these}
    taken = [sql for option in question.options for sql in option.statements]
    assert len(taken) == len(set(taken))
    assert known.issuperset(taken)
    assert 2 <= len(question.options) <= 3
    assert len({option.words for option in question.options}) == len(question.options)
    assert expected_error(question, these) <= expected_error(None, these) + 1e-9
    for number, option in enumerate(question.options, 1):
        left = agreeing(these, Turn(question, number))
        assert left is not None
        assert {each.sql for each in left} == set(option.statements)


@pytest.mark.parametrize("seed", range(10))
def test_answers_lead_to_the_statement_that_is_meant(seed: int) -> None:
    chance = random.Random(1_000 + seed)  # noqa: S311 - as above
    left = drawn(chance)
    meant = chance.choice(left)
    turns: list[Turn] = []
    while (question := best_question(left, {"music": MUSIC}, "Which names?", turns)) is not None:
        number = next(
            (place for place, each in enumerate(question.options, 1) if meant.sql in each.statements), None
        )
        if number is None:
            break
        turns.append(Turn(question, number))
        fewer = agreeing(left, turns[-1])
        assert fewer is not None
        assert len(fewer) < len(left)
        left = list(fewer)
    assert meant in left


def test_what_no_statement_says_yet_is_offered_behind_the_others() -> None:
    said = [Reading((), (0,)), Reading((), (1,))]
    unsaid = Reading((), (), share=0.6)
    difference = Difference(Aspect.COLUMN, Matter.OUTPUT, (unsaid, *said))
    assert offered(difference, [0.3, 0.6]) == (said[1], said[0], unsaid)
