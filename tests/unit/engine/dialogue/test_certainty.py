"""How likely candidates are right: what counts for and against them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.core.candidate import Candidate
from engine.core.elements import SchemaLinks
from engine.core.state import State
from engine.dialogue.certainty import (
    Features,
    FittedCertainty,
    Weights,
    candidate_features,
    packaged,
    set_features,
)
from engine.dialogue.types import Chances, Parting
from engine.understanding.types import UnknownPhrase
from tests.support.asking import DATABASE, asked, route

QUESTION = "How old is the oldest singer?"
SINGER = ("public", "singer")
AGE = (*SINGER, "age")
FIRST = Candidate(
    "music",
    "SELECT MAX(age) FROM singer",
    frozenset({SINGER}),
    frozenset({AGE}),
    logprob=-0.1,
    confidence=0.7,
)
SECOND = replace(FIRST, sql="SELECT MIN(age) FROM singer", logprob=-0.4, confidence=0.2)


def state(*candidates: Candidate, **more: object) -> State:
    to = replace(route(QUESTION), **more)  # type: ignore[arg-type]
    return replace(asked(QUESTION, to), candidates=candidates)


def together(of: State) -> Features:
    return set_features(of, candidate_features(of))


def test_chances_are_probabilities_together() -> None:
    certainty = FittedCertainty(packaged())
    for candidates in ((FIRST,), (FIRST, SECOND), (FIRST, SECOND, replace(SECOND, fruitless=True))):
        chances = certainty.chances(state(*candidates))
        assert len(chances.statements) == len(candidates)
        assert all(0 < chance < 1 for chance in chances.statements)
        assert chances.some <= 1
    assert certainty.chances(state()).statements == ()


def test_what_finds_nothing_or_invents_is_less_likely() -> None:
    certainty = FittedCertainty(packaged())
    known = certainty.chances(state(FIRST)).some
    assert certainty.chances(state(replace(FIRST, fruitless=True))).some < known
    unknown = UnknownPhrase("weather", None, 0.1)
    assert certainty.chances(state(FIRST, unknown=(unknown,))).some < known


def test_the_likelier_of_two_leads() -> None:
    first, second = FittedCertainty(packaged()).chances(state(FIRST, SECOND)).statements
    assert first > second


def test_the_linkers_agreement_counts() -> None:
    links = SchemaLinks(
        {(*SINGER, "*"): 0.9, AGE: 0.9, (*SINGER, "name"): 0.1}, frozenset({(*SINGER, "*"), AGE}), (), 0.9
    )
    other = replace(FIRST, columns=frozenset({(*SINGER, "name")}))
    right, wrong = (each["agrees"] for each in candidate_features(state(FIRST, other, links=links)))
    assert right > wrong
    assert together(state(FIRST, links=links))["answerable"] > 0
    assert "answerable" not in together(state(FIRST))


@pytest.mark.parametrize(
    "weights", [Weights({}, {}, {}), Weights({"constant": 2.0}, {"confidence": 1.0}, {})]
)
def test_a_feature_without_a_weight_counts_nothing(weights: Weights) -> None:
    chances = FittedCertainty(weights).chances(state(FIRST, SECOND))
    expected = 0.5 if not weights.some else 1 / (1 + 2.718281828459045**-2)
    assert chances.some == pytest.approx(expected)


def test_an_answer_turns_the_more_the_less_likely_the_first_is() -> None:
    certainty = FittedCertainty(packaged())
    parting = Parting(((0,), (1,)))
    sure, doubtful = (certainty.turns(Chances(each), parting) for each in ((0.9, 0.05), (0.4, 0.35)))
    assert 0 < sure < doubtful < 1
    assert certainty.turns(Chances((0.4, 0.35)), replace(parting, twins=True)) > doubtful


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
    assert Parting(groups).potential(Chances((0.5, 0.3, 0.1))) == pytest.approx(potential)


def test_a_database_that_is_less_likely_makes_its_statements_less_likely() -> None:
    certainty = FittedCertainty(packaged())
    sure = certainty.chances(state(FIRST, SECOND))
    halved = certainty.chances(state(FIRST, SECOND, probability=0.5))
    assert halved.statements == pytest.approx([chance / 2 for chance in sure.statements])


def test_of_two_databases_the_likelier_leads() -> None:
    other = replace(route(QUESTION), database=replace(DATABASE, name="other"), probability=0.8)
    here = replace(route(QUESTION), probability=0.2)
    twin = replace(FIRST, database="other")
    both = replace(asked(QUESTION, here), routes=(here, other), candidates=(FIRST, twin))
    first, second = FittedCertainty(Weights({"constant": 9.0}, {}, {})).chances(both).statements
    assert (first, second) == (pytest.approx(0.2, abs=1e-3), pytest.approx(0.8, abs=1e-3))
