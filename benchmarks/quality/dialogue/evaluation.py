"""From dialogues to results: the scorer's verdicts on every statement, and the figures of each set and system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.quality.candidates.questions import Judge
from benchmarks.quality.dialogue.figures import (
    Abstention,
    Judged,
    SystemFigures,
    abstention,
    figures,
    judged,
)
from benchmarks.quality.dialogue.measuring import Pass
from benchmarks.quality.dialogue.records import Conversation
from benchmarks.quality.dialogue.systems import AMBIQT, DIALOGUE, FEEDBACK, LIST, UNANSWERABLE
from benchmarks.quality.dialogue.verdicts import Verdicts

ANSWERABLE = "answerable"
"""Sets of questions that their database can answer, together. AmbiQT's, to be asked back, are not among them."""

BySystem = Mapping[str, Sequence[Judged]]


@dataclass(frozen=True, slots=True)
class Results:
    """All of a run: figures by set, first replies by set, and the judged dialogues by set and system."""

    figures: Mapping[str, Sequence[SystemFigures]]
    abstention: Sequence[Abstention]
    dialogues: Mapping[str, BySystem]

    def find(self, set_name: str, system: str) -> SystemFigures | None:
        """A system on a set, None where that was not measured."""
        return next((each for each in self.figures.get(set_name, ()) if each.system == system), None)


def evaluated(made: Sequence[Pass], verdicts: Verdicts) -> Results:
    """The results of passes; a pass without a dialogue has none. Blocks while statements are judged."""
    dialogues: dict[str, dict[str, Sequence[Judged]]] = defaultdict(dict)
    together: dict[str, list[Judged]] = defaultdict(list)
    for one in made:
        if one.of.first_reply or not one.conversations:
            continue
        found = _judged(one, made, verdicts)
        dialogues[one.of.name][one.system.name] = found
        if one.of.questions.judge is Judge.AMBIQT:
            together[one.system.name] += found
    if together:
        dialogues[AMBIQT] = dict(together)
    return Results(
        {name: _figures(systems) for name, systems in dialogues.items()}, _abstentions(made), dialogues
    )


def _judged(one: Pass, made: Sequence[Pass], verdicts: Verdicts) -> list[Judged]:
    of = one.of.questions
    lists = {
        each.id: each
        for other in made
        if other.of == one.of and other.system == LIST
        for each in other.conversations
    }
    shown = {
        each.id: [*each.statements, *(lists[each.id].statements if each.id in lists else ())]
        for each in one.conversations
    }
    verdicts.judge(of, shown)
    databases = one.databases
    return [
        judged(each, lists.get(each.id), databases[each.id], partial(_right, verdicts, one, each))
        for each in one.conversations
    ]


def _right(verdicts: Verdicts, one: Pass, conversation: Conversation, sql: str) -> bool:
    return verdicts.right(one.of.questions, conversation.id, sql, conversation.reading)


def _figures(systems: BySystem) -> list[SystemFigures]:
    feedback = {each.conversation.id: each for each in systems.get(FEEDBACK.name, ())}
    return [figures(name, some, feedback) for name, some in systems.items()]


def _abstentions(made: Sequence[Pass]) -> list[Abstention]:
    found, answerable, databases = [], list[Conversation](), dict[str, str]()
    for one in made:
        if one.system != DIALOGUE or not one.conversations:
            continue
        found.append(abstention(one.of.name, one.conversations, one.databases))
        if one.of.questions != UNANSWERABLE and one.of.questions.judge is not Judge.AMBIQT:
            answerable += one.conversations
            databases |= one.databases
    if answerable:
        found.append(abstention(ANSWERABLE, answerable, databases))
    return found
