"""The question back alone, without what its answer is worth, and the error that its answer leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.ask.choice import NONE_RIGHT, REWRITTEN, probabilities, right_after
from engine.ask.question_back import agrees, best_proposal
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.dialogue import ClarifyingQuestion, Turn
from engine.values.elements import Entity, SchemaLinks
from schema_catalog.types import Snapshot


def best_question(
    candidates: Sequence[Candidate],
    snapshots: Mapping[str, Snapshot],
    question: str,
    turns: Sequence[Turn] = (),
    *,
    entities: Sequence[Entity] = (),
    links: Mapping[str, SchemaLinks] | None = None,
) -> ClarifyingQuestion | None:
    """The question of `best_proposal`."""
    found = best_proposal(candidates, snapshots, Question(question), turns, entities=entities, links=links)
    return None if found is None else found.question


def expected_error(question: ClarifyingQuestion | None, candidates: Sequence[Candidate]) -> float:
    """The probability, in [0, 1], that the likeliest candidate which agrees with the answer is wrong.

    Without a question: that the likeliest of all is wrong. 1 without candidates.
    """
    probability = probabilities(candidates)
    if question is None:
        return 1 - right_after([range(len(candidates))], probability)
    groups = [
        [place for place, each in enumerate(candidates) if agrees(option, each)]
        for option in question.options
    ]
    unwritten = any(not option.statements for option in question.options)
    return 1 - right_after(groups, probability) - NONE_RIGHT * REWRITTEN * unwritten
