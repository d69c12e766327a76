"""How likely candidates are right: what counts for and against them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.findings.evidence import evidence
from engine.judge.features import Features, candidate_features, made_of, route_features, together
from engine.judge.model import Judgement, packaged
from engine.values.candidate import Candidate, Change, Meaning, Origin, Preview, RuleKind
from engine.values.dialogue import Parting
from engine.values.elements import Literal, SchemaLinks, UnknownPhrase
from engine.values.state import State
from tests.support.asking import asked, route

QUESTION = "How old is the oldest singer?"
SINGER = ("public", "singer")
AGE = (*SINGER, "age")
FIRST = Candidate(
    "music",
    "SELECT MAX(age) FROM singer",
    frozenset({SINGER}),
    frozenset({AGE}),
    origin=Origin(logprob=-0.1),
    confidence=0.7,
)
SECOND = replace(FIRST, sql="SELECT MIN(age) FROM singer", origin=Origin(logprob=-0.4), confidence=0.2)


def state(*candidates: Candidate, **more: object) -> State:
    to = replace(route(QUESTION), **more)  # type: ignore[arg-type]
    return replace(asked(QUESTION, to), candidates=candidates)


def known(of: State) -> list[Features]:
    return candidate_features(of, evidence(of))


def confidences(of: State, by: Judgement | None = None) -> list[float]:
    return (by or packaged()).confidences(of, known(of))


def test_confidences_are_probabilities_together_less_where_nothing_is_found_or_stood_for() -> None:
    for candidates in ((FIRST,), (FIRST, SECOND), (FIRST, SECOND, replace(SECOND, fruitless=True))):
        found = confidences(state(*candidates))
        assert len(found) == len(candidates)
        assert all(0 < each < 1 for each in found)
        assert sum(found) <= 1
    assert confidences(state()) == []
    (sure,) = confidences(state(FIRST))
    assert confidences(state(replace(FIRST, fruitless=True))) < [sure]
    unknown = UnknownPhrase("weather", None, 0.1)
    assert confidences(state(FIRST, unknown=(unknown,))) < [sure]


def test_what_the_schema_speaks_against_costs_what_was_searched_for_confidence_alone() -> None:
    joined = (
        "FROM concert AS c JOIN singer_in_concert AS s ON s.concert_id = c.concert_id WHERE s.singer_id > 3"
    )
    read = frozenset({("public", "concert"), ("public", "singer_in_concert")})
    once = replace(FIRST, sql=f"SELECT c.year {joined}", tables=read)
    twice = replace(once, sql=f"SELECT SUM(c.concert_id) {joined}")
    (plain,), (doubted,) = (confidences(state(each)) for each in (once, twice))
    assert doubted / (1 - doubted) < 0.2 * plain / (1 - plain)
    written = replace(twice, meaning=Meaning(0))
    assert [each.features["doubted"] for each in evidence(state(written))] == [1.0]
    (features,) = known(state(written))
    assert "doubted" not in features


def test_what_rules_make_of_a_reading_never_stands_before_one() -> None:
    given = [replace(FIRST, sql=f"SELECT {n} FROM singer", meaning=Meaning(n)) for n in range(5)]
    kinds = (RuleKind.READING, RuleKind.REPETITION, RuleKind.CORRECTION)
    twins = [
        replace(given[n], changes=(Change("rule", kind, "otherwise", "", ""),))
        for n, kind in enumerate(kinds)
    ]
    found = confidences(state(*twins, *given))
    assert found[3:] == sorted(found[3:], reverse=True)
    assert max(found[:3]) < min(found[3:])
    assert sum(found) < 1
    alone, aside, proved = (confidences(state(given[0], *more)) for more in ((), twins[1:], twins[:1]))
    assert aside[0] == alone[0] > proved[0] > proved[1]


def readings(*statements: str, **more: object) -> list[Candidate]:
    return [
        replace(FIRST, sql=sql, meaning=Meaning(place), origin=Origin(), **more)  # type: ignore[arg-type]
        for place, sql in enumerate(statements)
    ]


STATEMENTS = (
    "SELECT * FROM singer AS s LEFT JOIN singer_in_concert AS c ON c.singer_id = s.singer_id WHERE age > 7",
    "SELECT country, artist_name, age FROM singer WHERE country = 'NL'",
    "SELECT max(age) FROM singer",
    "no statement",
    "SELECT s.name FROM singer AS s, stadium AS s",
    "(SELECT age FROM singer) UNION ALL SELECT capacity FROM stadium ORDER BY 1",
    "WITH RECURSIVE up AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM up WHERE n < 9) SELECT n FROM up",
)


@pytest.mark.parametrize("sql", STATEMENTS)
@pytest.mark.parametrize("others", [0, 1, 2, 4])
@pytest.mark.parametrize("fruitless", [True, False])
def test_readings_stay_in_the_order_of_the_model_that_gave_them(
    sql: str, others: int, *, fruitless: bool
) -> None:
    given = readings(sql, *(f"SELECT {n} FROM singer" for n in range(others)), fruitless=fruitless)
    found = confidences(state(*given))
    assert found == sorted(found, reverse=True)
    assert 0.3 < found[0] < 1
    assert sum(found) <= 1
    assert confidences(state(*reversed(given)))[::-1] == pytest.approx(found)


def test_a_readings_confidence_goes_by_its_answer() -> None:
    (plain,) = confidences(state(*readings("SELECT age FROM singer WHERE country = 'NL'")))
    (empty,) = confidences(state(*readings("SELECT age FROM singer WHERE country = 'NL'", fruitless=True)))
    assert empty < plain
    (two,) = confidences(state(*readings("SELECT age, country FROM singer WHERE country = 'NL'")))
    assert two < plain
    among = confidences(state(*readings("SELECT age FROM singer WHERE country = 'NL'", "SELECT 2")))
    assert among[0] < plain
    halved = confidences(state(*readings("SELECT age FROM singer WHERE country = 'NL'"), probability=0.5))
    assert halved == pytest.approx([plain / 2])


def test_the_linkers_agreement_counts() -> None:
    links = SchemaLinks(
        {(*SINGER, "*"): 0.9, AGE: 0.9, (*SINGER, "name"): 0.1}, frozenset({(*SINGER, "*"), AGE}), (), 0.9
    )
    other = replace(FIRST, columns=frozenset({(*SINGER, "name")}))
    both = state(FIRST, other, links=links)
    right, wrong = (each["agrees"] for each in known(both))
    assert right > wrong
    assert together(known(both), [0.5, 0.5], route_features(both.routes[0]))["answerable"] > 0
    assert "answerable" not in route_features(state(FIRST).routes[0])


def test_an_answer_turns_the_more_the_less_likely_the_first_is() -> None:
    of, parting = state(FIRST, SECOND), Parting(((0,), (1,)))
    sure, doubtful = (packaged().turns(of, each, parting) for each in ((0.9, 0.05), (0.4, 0.35)))
    assert 0 < sure < doubtful < 1


@pytest.mark.parametrize(
    ("groups", "potential"),
    [
        (((0,), (1, 2)), 0.3),
        (((0, 1, 2),), 0.0),
        (((0,), (1,), (2,)), 0.4),
        (((1,), (2,)), 0.0),
        (((0,), ()), 0.0),
    ],
)
def test_an_answer_can_turn_what_it_tells_apart(
    groups: tuple[tuple[int, ...], ...], potential: float
) -> None:
    assert Parting(groups).potential((0.5, 0.3, 0.1)) == pytest.approx(potential)


def test_a_database_that_is_less_likely_makes_its_statements_less_likely() -> None:
    sure = confidences(state(FIRST, SECOND))
    halved = confidences(state(FIRST, SECOND, probability=0.5))
    assert halved == pytest.approx([each / 2 for each in sure])


def made(before: Candidate, sql: str, **more: object) -> Candidate:
    """What a rule made of a statement as a likelier reading."""
    change = Change("rule", RuleKind.READING, "otherwise", before.sql, sql)
    return replace(before.rewritten(sql, (*before.changes, change)), cost=1.0, **more)  # type: ignore[arg-type]


def test_what_a_rule_made_stands_behind_what_nothing_speaks_against_and_shorter_chains_first() -> None:
    once = made(FIRST, "SELECT MAX(age) FROM singer WHERE age > 1")
    twice = made(once, "SELECT MAX(age) FROM singer WHERE age > 2")
    written, one, two = confidences(state(FIRST, once, twice))
    assert written > one > two
    without_step = confidences(state(FIRST, twice))
    assert without_step[0] > without_step[1]
    unlikely = replace(FIRST, origin=Origin(logprob=-9.0))
    found = confidences(state(SECOND, unlikely, made(unlikely, once.sql)))
    assert found[0] > found[1] > found[2], "not by the mean of the others' likelihood either"


@pytest.mark.parametrize("fact", [{"fruitless": True}, {"missing": (Literal(AGE, "Ann"),)}])
def test_what_a_rule_made_of_a_wrong_statement_goes_before_it(fact: dict[str, object]) -> None:
    wrong = replace(FIRST, **fact)  # type: ignore[arg-type]
    other = made(wrong, "SELECT MAX(age) FROM singer WHERE age > 1", fruitless=False, missing=())
    written, repaired = confidences(state(wrong, other))
    assert repaired > written
    further = made(other, "SELECT MAX(age) FROM singer WHERE age > 2")
    found = confidences(state(wrong, other, further))
    assert found[1] > found[2], "nothing speaks against the first repair"


def test_rows_that_repeat_each_other_speak_for_each_once() -> None:
    repeated = replace(FIRST, sql="SELECT age FROM singer", preview=Preview(("age",), (), total=9))
    once = made(repeated, "SELECT DISTINCT age FROM singer", preview=Preview(("age",), (), total=3))
    written, shown = confidences(state(repeated, once))
    assert shown > written
    unknown = confidences(state(repeated, replace(once, preview=None)))
    assert unknown[0] > unknown[1]
    other = made(repeated, "SELECT DISTINCT name FROM singer", preview=Preview(("name",), (), total=3))
    assert confidences(state(repeated, other))[1] < confidences(state(repeated, other))[0]


def test_what_the_model_wrote_as_well_is_bound_by_nothing() -> None:
    agreed = made(SECOND, FIRST.sql, origin=Origin(logprob=-0.1, readings=1))
    assert made_of([agreed, SECOND]) == [(), ()]
    assert made_of([SECOND, made(SECOND, FIRST.sql)]) == [(), (0,)]
    assert made_of([made(SECOND, FIRST.sql, merged=frozenset({SECOND.sql}))]) == [()]
