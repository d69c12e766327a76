"""The decide stage: show, ask, or refuse with a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.ask.decide import decide
from engine.ask.explanation import explained
from engine.judge.model import Judgement, Weights
from engine.values.candidate import Candidate, Evidence, Meaning
from engine.values.dialogue import Ambiguity
from engine.values.elements import Literal, UnknownPhrase
from engine.values.messages import OnDoubt
from engine.values.refusal import RefusalReason
from engine.values.settings import DialogueSettings
from engine.values.state import State
from engine.values.tools import Tools
from tests.support.asking import asked, route, tools

QUESTION = "names of singers"
SINGER = ("public", "singer")
NAMES = tuple(
    Candidate(
        "music",
        f"SELECT {name} FROM singer",
        frozenset({SINGER}),
        frozenset({(*SINGER, name)}),
        confidence=0.5,
    )
    for name in ("artist_name", "performer_name")
)


AS_OFTEN_AS_IT_CAN = Weights({}, {}, {"potential": 1.0})


def given(**settings: Any) -> Tools:
    judgement = Judgement(AS_OFTEN_AS_IT_CAN, AS_OFTEN_AS_IT_CAN)
    return replace(tools(""), judgement=judgement, dialogue=DialogueSettings(**settings))


def state(*confidences: float, **more: Any) -> State:
    listed = more.pop("candidates", NAMES)
    chances = confidences or [each.confidence for each in listed]
    candidates = tuple(replace(each, confidence=chance) for each, chance in zip(listed, chances, strict=True))
    known = replace(asked(QUESTION, route(QUESTION)), candidates=candidates, considered=candidates)
    return replace(known, **more)


async def test_two_readings_are_asked_about() -> None:
    done = await decide(state(0.5, 0.45), given())
    assert done.dialogue.pending is not None
    assert done.dialogue.pending.ambiguity is Ambiguity.COLUMN
    assert {sql for option in done.dialogue.pending.options for sql in option.statements} == {
        each.sql for each in NAMES
    }
    assert [each.sql for each in done.dialogue.survivors or ()] == [each.sql for each in NAMES]
    assert done.settled


async def test_a_sure_one_is_shown_and_nobody_is_asked_more_than_allowed() -> None:
    done = await decide(state(0.95, candidates=NAMES[:1]), given())
    assert (done.dialogue.pending, done.refusal) == (None, None)
    assert [each.confidence for each in done.candidates] == [0.95]
    before = state(0.5, 0.45)
    done = await decide(replace(before, ask=replace(before.ask, ask=False)), given())
    assert (done.dialogue.pending, len(done.candidates)) == (None, 2)
    done = await decide(state(0.5, 0.45), given(questions=0))
    assert done.dialogue.pending is None


@pytest.mark.parametrize(
    ("more", "candidate", "reason", "word"),
    [
        ({"unknown": (UnknownPhrase("weather", None, 0.1),)}, {}, RefusalReason.NEEDS_DEFINITION, "weather"),
        ({}, {"missing": (Literal((*SINGER, "country"), "Oz"),)}, RefusalReason.NEEDS_DEFINITION, "Oz"),
        ({}, {"evidence": Evidence(words=("Paris",))}, RefusalReason.NOT_ANSWERABLE, "Paris"),
        ({}, {}, RefusalReason.NOT_ANSWERABLE, "the closest shows"),
    ],
)
async def test_an_unlikely_one_is_refused_with_its_reason(
    more: dict[str, Any], candidate: dict[str, Any], reason: RefusalReason, word: str
) -> None:
    before = state()
    to = replace(before.routes[0], entities=(*before.routes[0].entities, *before.routes[0].entities), **more)
    first = replace(NAMES[0], confidence=0.1, **candidate)
    before = replace(before, routes=(to,), candidates=(first,))
    done = await decide(before, given(on_doubt=OnDoubt.ABSTAIN))
    assert done.refusal is not None
    assert done.refusal.reason is reason
    assert word in done.refusal.explanation
    assert done.candidates == ()
    shown = await decide(before, given())
    assert (shown.refusal, shown.doubtful) == (None, True)
    assert [each.sql for each in shown.candidates] == [first.sql]
    doubt = explained(shown).candidates[0].explanation.partition("; not sure: ")[2]
    assert ("probably not what you ask" if "shows" in word else word) in doubt
    assert done.refusal.words in [line.detail for line in shown.trace if line.event == "shown in doubt"]


async def test_a_median_that_was_averaged_is_told_as_that() -> None:
    before = state()
    entities = before.routes[0].entities
    to = replace(
        before.routes[0], entities=(*entities, *entities), unknown=(UnknownPhrase("median", None, 0.1),)
    )
    first = Candidate("music", "SELECT AVG(age) FROM singer", confidence=0.1)
    done = await decide(replace(before, routes=(to,), candidates=(first,)), given(on_doubt=OnDoubt.ABSTAIN))
    assert done.refusal is not None
    said = "The closest statement shows average age: nothing in music is about \u201cmedian\u201d"
    assert done.refusal.words == said


UNLIKELY = (replace(NAMES[0], confidence=0.1),)
READINGS = tuple(replace(each, meaning=Meaning(place, each.sql)) for place, each in enumerate(NAMES))


@pytest.mark.parametrize("candidates", [NAMES, READINGS], ids=["searched", "readings"])
async def test_in_doubt_a_question_back_may_come_first(candidates: tuple[Candidate, ...]) -> None:
    before = state(0.1, 0.1, candidates=candidates)
    before = replace(before, ask=replace(before.ask, on_doubt=OnDoubt.ASK))
    doubtful = given(question=1.0, abstention=0.0)
    assert (await decide(before, doubtful)).dialogue.pending is not None
    silent = replace(before, ask=replace(before.ask, ask=False))
    done = await decide(silent, doubtful)
    assert (done.dialogue.pending, done.doubtful, len(done.candidates)) == (None, True, 2)


async def test_the_asker_says_what_becomes_of_doubtful_ones() -> None:
    before = state(candidates=UNLIKELY)
    kept_back = replace(before, ask=replace(before.ask, on_doubt=OnDoubt.ABSTAIN))
    assert (await decide(kept_back, given())).candidates == ()
    shown = replace(before, ask=replace(before.ask, on_doubt=OnDoubt.SHOW))
    assert len((await decide(shown, given(on_doubt=OnDoubt.ABSTAIN))).candidates) == 1
