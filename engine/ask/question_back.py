"""The question back that candidates give rise to, its answer, and whether the schemas that it is about still hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.ask.choice import (
    Errors,
    Evidence,
    believed,
    errors,
    held_twice,
    misread,
    offered,
    probabilities,
    unread,
)
from engine.ask.differences import Difference, Reading, Said, differences
from engine.ask.wording import WHICH, Asked, ambiguity, option_words, wording_of
from engine.question.question import Question
from engine.question.tokens import question_words
from engine.statement.facts import facts
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.dialogue import Ambiguity, ClarifyingQuestion, Dialogue, Option, Parting, Turn
from engine.values.elements import Entity, SchemaLinks
from engine.values.errors import InvalidSettingError, SyntaxProblemError, UnsupportedError
from engine.values.state import State
from schema_catalog.knowledge import unmade
from schema_catalog.types import ColumnKey, Snapshot

Rows = tuple[tuple[tuple[str | None, ...], ...]]


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
    question: Question,
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
    for its, difference, meant in sorted(worth, key=lambda one: -one[0].gain):
        readings = _apart(meant, candidates)
        if len(readings) < 2:  # noqa: PLR2004 - nothing to choose
            continue
        made = asking.question(difference, readings)
        useful = its.gain > 0 or difference not in beyond
        if made is not None and useful and not asked_before(made, turns):
            parting = Parting(
                tuple(each.members for each in readings), bool(held_twice(readings, evidence.columns))
            )
            return Proposal(made, parting, its, misread(difference))
    return None


def _apart(readings: Sequence[Reading], candidates: Sequence[Candidate]) -> tuple[Reading, ...]:
    """The readings with different rows, as far as there was time to know; none if one shows all that the others show.

    Statements that ignore a word of the asker are left out while others use it: who asked for singers from France and
    now chooses a column still wants France.
    """
    kept: list[Reading] = []
    heard = any(not candidates[each].evidence.words for reading in readings for each in reading.members)
    for reading in readings:
        members = tuple(each for each in reading.members if not (heard and candidates[each].evidence.words))
        if reading.members and not members:
            continue
        rows = _whole(candidates, members)
        twin = next(
            (
                place
                for place, each in enumerate(kept)
                if (rows and rows == _whole(candidates, each.members))
                or _perhaps_same(candidates, members, each.members)
            ),
            None,
        )
        if twin is None:
            kept.append(replace(reading, members=members))
        else:
            both, elements = (*kept[twin].members, *members), kept[twin].elements & reading.elements
            kept[twin] = replace(kept[twin], members=both, elements=elements)
    shown = [_whole(candidates, each.members) for each in kept]
    return () if any(all(_holds(wide, each) for each in shown) for wide in shown) else tuple(kept)


def _holds(wide: Rows | None, narrow: Rows | None) -> bool:
    """Whether one shows all that the other does, row for row: then there is nothing to choose."""
    if wide is None or narrow is None or len(wide[0]) != len(narrow[0]):
        return False
    return all(Counter(few) <= Counter(many) for many, few in zip(wide[0], narrow[0], strict=True))


def _perhaps_same(candidates: Sequence[Candidate], members: Sequence[int], others: Sequence[int]) -> bool:
    """Whether the likeliest of both might give the same rows, which there was no time to compare."""
    if not members or not others:
        return False
    one, other = (candidates[_likeliest(candidates, each)] for each in (members, others))
    return one.sql in other.perhaps or other.sql in one.perhaps


def _likeliest(candidates: Sequence[Candidate], members: Sequence[int]) -> int:
    return max(members, key=lambda each: candidates[each].confidence)


def _whole(candidates: Sequence[Candidate], members: Sequence[int]) -> Rows | None:
    """The rows of the likeliest of `members`, where its preview shows all of them."""
    first = _likeliest(candidates, members) if members else None
    preview = None if first is None else candidates[first].preview
    return None if preview is None or preview.more else (preview.rows,)


OFFERED = 3
"""Meanings that a question back offers at most."""


def by_meanings(candidates: Sequence[Candidate], turns: Sequence[Turn]) -> Proposal | None:
    """The question which of the given meanings is meant; None for one, two that read alike, or if asked before.

    What rules made of a reading has no meaning of its own.
    """
    shown: dict[object, Candidate] = {}
    for place, each in enumerate(candidates):
        if not each.is_twin:
            shown.setdefault(_whole(candidates, (place,)) or place, each)
    offered = list(shown.values())[:OFFERED]
    if len(offered) < 2 or len({each.meaning.says.casefold() for each in offered}) < len(offered):  # noqa: PLR2004 - none to choose
        return None
    options = tuple(
        Option(
            each.meaning.says.rstrip("."),
            (each.sql,),
            preview=each.preview,
            databases=frozenset({each.database}),
        )
        for each in offered
    )
    question = ClarifyingQuestion(Ambiguity.QUESTION, WHICH, options)
    if asked_before(question, turns):
        return None
    first, some = candidates[0].confidence, sum(each.confidence for each in offered)
    groups = tuple((candidates.index(each),) for each in offered)
    return Proposal(question, Parting(groups), Errors(1 - first, 1 - some), 0.0)


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
        return ClarifyingQuestion(ambiguity(difference), wording_of(difference, apart, self.asked), options)

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
        named = [frozenset(term.name for term in each.evidence.used) for each in self.candidates]
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


def resolve(dialogue: Dialogue, answer: int | str, question: Question) -> Turn:
    """The pending question with its answer: the number of an option, from 1, or a text in the asker's own words.

    `question`: the asker's first one. Raises `UnsupportedError` (0A000) where no question waits, `InvalidSettingError`
    (22023) for a number that no option has and for an empty text, `SyntaxProblemError` (42601) for a text that is a
    question of its own.
    """
    pending = dialogue.pending
    if pending is None:
        raise UnsupportedError.told(wording.NOTHING_ASKED_BACK)
    told = {"options": _listed(pending), "answers": wording.ANSWER_WITH.format(len(pending.options))}
    if isinstance(answer, int):
        if not 1 <= answer <= len(pending.options):
            raise InvalidSettingError.told(wording.NO_OPTION, n=answer, **told)
        return Turn(pending, chosen=answer)
    text = " ".join(answer.split())
    if not text:
        raise InvalidSettingError.told(wording.EMPTY_ANSWER, **told)
    if asks_anew(Question(text), pending, question):
        raise SyntaxProblemError.told(wording.ANSWER_ASKS, asked=pending.words)
    return Turn(pending, text=text)


def asks_anew(answer: Question, pending: ClarifyingQuestion, question: Question) -> bool:
    """Whether an answer is a question that shares no content word with the pending one, its options or `question`."""
    context = " ".join([question.text, pending.words, *(option.words for option in pending.options)])
    return answer.interrogative is not None and set(answer.content_words).isdisjoint(question_words(context))


def _listed(pending: ClarifyingQuestion) -> str:
    options = "; ".join(f"{number} {option.words}" for number, option in enumerate(pending.options, 1))
    return f"{pending.words} {options}."


def agrees(option: Option, candidate: Candidate) -> bool:
    """Whether `candidate` is one of those that the option stands for."""
    of = not option.databases or candidate.database in option.databases
    return of and candidate.sql in option.statements


def agreeing(candidates: Sequence[Candidate], turn: Turn) -> tuple[Candidate, ...] | None:
    """The candidates that agree with an answer, in order; None for a text, or an option without a statement."""
    option = turn.option
    if option is None or not option.statements:
        return None
    return tuple(each for each in candidates if agrees(option, each))


Fingerprints = tuple[tuple[str, str], ...]
"""Of each database's schema as the asker may read it, by name."""


def fingerprints(state: State) -> Fingerprints:
    """Of the databases that candidates read, else of all that may answer. Blocks: call it in a thread."""
    read = {candidate.database for candidate in state.considered}
    return tuple(
        (route.database.name, unmade(route.snapshot).fingerprint)
        for route in state.routes
        if not read or route.database.name in read
    )
