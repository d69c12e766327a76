"""The question back that candidates give rise to, without a model: they are the readings of the asker's question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.candidate import Candidate
from engine.core.elements import Entity, SchemaLinks
from engine.dialogue.choice import Errors, errors, misread, offered, probabilities
from engine.dialogue.differences import Difference, Reading, Said, differences
from engine.dialogue.evidence import Evidence, believed, held_twice
from engine.dialogue.facts import facts
from engine.dialogue.types import ClarifyingQuestion, Option, Parting, Turn
from engine.dialogue.unread import unread
from engine.dialogue.wording import Asked, ambiguity, option_words, question_words
from schema_catalog.types import ColumnKey, Snapshot


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question back. `errors`: how far its answer is expected to help. `misread` in [0, 1]: that it is wrong."""

    question: ClarifyingQuestion
    parting: Parting
    errors: Errors
    misread: float


def best_proposal(
    candidates: Sequence[Candidate],
    snapshots: Mapping[str, Snapshot],
    question: str,
    turns: Sequence[Turn] = (),
    *,
    entities: Sequence[Entity] = (),
    links: Mapping[str, SchemaLinks] | None = None,
) -> Proposal | None:
    """The question whose answer lowers the expected error most; None where there is nothing to ask about.

    `snapshots`, `links`: the schemas, and the linker's decisions, by database. `question`: the asker's, and `entities`
    its phrases with their similarities. `turns`: what was asked back before, which is not asked again. Blocks for some
    milliseconds: call it in a thread.
    """
    if not candidates:
        return None
    probability = probabilities(candidates)
    said = [facts(each.sql, each.database, snapshots.get(each.database)) for each in candidates]
    beyond = unread(candidates, said, links or {})
    asking = _Asking(candidates, said, probability, Asked(question, entities))
    evidence = Evidence.of(question, snapshots.values(), links or {})
    worth = []
    for difference in (*differences(said), *beyond):
        weighed = believed(difference, probability, evidence)
        worth.append((errors(difference, weighed), difference, offered(difference, weighed)))
    for its, difference, readings in sorted(worth, key=lambda one: -one[0].gain):
        made = asking.question(difference, readings)
        useful = its.gain > 0 or difference not in beyond
        if made is not None and useful and not asked_before(made, turns):
            parting = Parting(
                tuple(each.members for each in readings), bool(held_twice(readings, evidence.columns))
            )
            return Proposal(made, parting, its, misread(difference))
    return None


def asked_before(question: ClarifyingQuestion, turns: Sequence[Turn]) -> bool:
    """Whether an earlier question offered two of the same options, by their words or by their elements."""
    words = {option.words.casefold() for option in question.options}
    elements = {option.elements for option in question.options if option.elements}
    for turn in turns:
        same_words = words & {option.words.casefold() for option in turn.question.options}
        same_elements = elements & {option.elements for option in turn.question.options}
        if len(same_words) > 1 or len(same_elements) > 1:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Asking:
    candidates: Sequence[Candidate]
    said: Said
    probability: Sequence[float]
    asked: Asked

    def question(self, difference: Difference, readings: Sequence[Reading]) -> ClarifyingQuestion | None:
        """None where two options would read alike."""
        words = option_words(difference, readings)
        if len(set(words)) < len(words):
            return None
        shared = frozenset.intersection(*(each.elements for each in readings))
        options = tuple(
            self._option(text, reading, shared.union(*map(self._incidental, readings)))
            for text, reading in zip(words, readings, strict=True)
        )
        apart = frozenset(element for option in options for element in option.elements)
        return ClarifyingQuestion(
            ambiguity(difference), question_words(difference, apart, self.asked), options
        )

    def _option(self, words: str, reading: Reading, without: frozenset[ColumnKey]) -> Option:
        chosen = [self.candidates[each] for each in self._ranked(reading)]
        return Option(
            words + self._terms(reading),
            tuple(each.sql for each in chosen),
            reading.elements - without,
            chosen[0].preview if chosen else None,
            frozenset(each.database for each in chosen),
        )

    def _terms(self, reading: Reading) -> str:
        """The terms of the question that its statements use, and no other one."""
        named = [frozenset(term.name for term in each.terms) for each in self.candidates]
        inside = [named[place] for place in reading.members]
        others = [names for place, names in enumerate(named) if place not in reading.members]
        own = frozenset[str]().union(*inside[:1]).intersection(*inside).difference(*others)
        return f" ({', '.join(sorted(own))})" if own else ""

    def _ranked(self, reading: Reading) -> list[int]:
        """The positions of its candidates, likeliest first."""
        return sorted(reading.members, key=lambda each: -self.probability[each])

    def _incidental(self, reading: Reading) -> frozenset[ColumnKey]:
        """What its likeliest statement reads and the reading is not about."""
        likeliest = self.said[self._ranked(reading)[0]] if reading.members else ()
        return frozenset(column for fact in likeliest for column in fact.columns) - reading.elements
