"""The question back that candidates give rise to, without a model: they are the readings of the asker's question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.core.candidate import Candidate
from engine.core.elements import Entity
from engine.dialogue.choice import cost, error_after, offered, probabilities
from engine.dialogue.differences import Difference, Reading, differences
from engine.dialogue.types import ClarifyingQuestion, Option, Turn
from engine.dialogue.wording import ambiguity, elements_said, option_words, question_words
from schema_catalog.types import Snapshot


def best_question(
    candidates: Sequence[Candidate],
    snapshots: Mapping[str, Snapshot],
    question: str,  # noqa: ARG001
    turns: Sequence[Turn] = (),
    entities: Sequence[Entity] = (),
) -> ClarifyingQuestion | None:
    """The question whose answer leaves the least expected error; None where candidates differ in nothing to ask about.

    `snapshots`: the schemas by database. `turns`: what was asked before, which is not asked again. `entities`: phrases
    of `question` with their similarities.
    """
    if not candidates:
        return None
    probability = probabilities(candidates)
    found = sorted(differences(candidates, snapshots), key=lambda each: cost(each, probability))
    made = (_question(each, candidates, probability, entities) for each in found)
    return next((each for each in made if each is not None and not asked_before(each, turns)), None)


def expected_error(question: ClarifyingQuestion | None, candidates: Sequence[Candidate]) -> float:
    """The probability that the likeliest candidate which agrees with the answer is wrong, in [0, 1].

    Without a question: that the likeliest of all is wrong.
    """
    probability = probabilities(candidates)
    if question is None:
        return error_after([range(len(candidates))], probability)
    groups = [
        [place for place, each in enumerate(candidates) if each.sql in option.statements]
        for option in question.options
    ]
    return error_after(groups, probability)


def asked_before(question: ClarifyingQuestion, turns: Sequence[Turn]) -> bool:
    """Whether an earlier question offered two of the same options, by their words or their elements."""
    words = {option.words.casefold() for option in question.options}
    elements = {option.elements for option in question.options if option.elements}
    for turn in turns:
        same_words = words & {option.words.casefold() for option in turn.question.options}
        same_elements = elements & {option.elements for option in turn.question.options}
        if len(same_words) > 1 or len(same_elements) > 1:
            return True
    return False


def _question(
    difference: Difference,
    candidates: Sequence[Candidate],
    probability: Sequence[float],
    entities: Sequence[Entity],
) -> ClarifyingQuestion | None:
    """None where two options would read alike."""
    readings = offered(difference, probability)
    words = option_words(difference, readings)
    if len(set(words)) < len(words):
        return None
    named = [elements_said(difference, each) for each in readings]
    common = frozenset.intersection(*named)
    options = tuple(
        _option(text, elements - common, reading, candidates, probability)
        for text, elements, reading in zip(words, named, readings, strict=True)
    )
    asked = question_words(difference, frozenset().union(*named) - common, entities)
    return ClarifyingQuestion(ambiguity(difference), asked, options)


def _option(
    words: str,
    elements: frozenset[tuple[str, str, str]],
    reading: Reading,
    candidates: Sequence[Candidate],
    probability: Sequence[float],
) -> Option:
    ranked = sorted(reading.members, key=lambda each: -probability[each])
    likeliest = candidates[ranked[0]]
    return Option(words, tuple(candidates[each].sql for each in ranked), elements, likeliest.preview)
