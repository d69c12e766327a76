"""A dialogue: what a question may mean, what its asker is asked and answered. Stored as JSON between two turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from engine.question.question import Question
from engine.values.candidate import Candidate, Preview
from engine.values.messages import AskReply, AskRequest
from schema_catalog.types import ColumnKey


class Ambiguity(StrEnum):
    """What is open about a question (Sphinteract §5)."""

    COLUMN = "AmbColumn"
    """Which column or table is meant."""
    VALUE = "AmbValue"
    """Which stored value is meant, or how it is compared."""
    OUTPUT = "AmbOutput"
    """Which columns are shown, in which order, each row once or not."""
    QUESTION = "AmbQuestion"
    """What is computed."""


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a question back.

    `words`: its meaning without SQL. `statements`: the candidates' SQL that agree with it; none where it was found by
    other means, and statements are still to be written. `elements`: what it stands on and the other options do not.
    `preview`: of the likeliest of `statements`. `databases`: of `statements`; none stands for any.
    """

    words: str
    statements: tuple[str, ...] = ()
    elements: frozenset[ColumnKey] = frozenset()
    preview: Preview | None = None
    databases: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ClarifyingQuestion:
    """A question back with two or three options; the asker may answer in their own words as well."""

    ambiguity: Ambiguity
    words: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A question back and its answer: option number `chosen`, from 1, or the asker's own `text`, or none of them."""

    question: ClarifyingQuestion
    chosen: int | None = None
    text: str | None = None

    @property
    def option(self) -> Option | None:
        """The option that was chosen; None for a text."""
        return None if self.chosen is None else self.question.options[self.chosen - 1]

    @property
    def forbidden(self) -> frozenset[ColumnKey]:
        """The elements of the options that were not chosen, without those of the chosen one; none for a text."""
        if self.option is None:
            return frozenset()
        others = (each.elements for each in self.question.options if each is not self.option)
        return frozenset[ColumnKey]().union(*others) - self.option.elements


Chances = tuple[float, ...]
"""The probabilities, in [0, 1] and at most 1 together, that each candidate is the right one, in their order."""


@dataclass(frozen=True, slots=True)
class Parting:
    """How options part candidates: `groups` of positions; `twins`: they stand for what the schema holds twice."""

    groups: tuple[tuple[int, ...], ...]
    twins: bool = False

    def potential(self, chances: Chances) -> float:
        """The probability that the first is wrong and the likeliest that agrees with a truthful answer is right."""
        best = (max((chances[place] for place in group), default=0.0) for group in self.groups)
        return max(0.0, sum(best) - chances[0])


@dataclass(frozen=True, slots=True)
class Before:
    """A turn of a session: a question in full words, the statement that was taken, and what a model said it means."""

    question: str
    sql: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a question goes on from: the one before, in full words, and its statement; `then`: its own words.

    `meaning`: of the statement, in a model's words. `earlier`: what the one before went on from, the oldest first.
    """

    question: str
    sql: str
    then: str
    meaning: str = ""
    earlier: tuple[Before, ...] = ()

    @property
    def turns(self) -> tuple[Before, ...]:
        """All before it, the oldest first."""
        return (*self.earlier, Before(self.question, self.sql, self.meaning))


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What a question's asker has said about it so far, and what it goes on from.

    `turns`: answered. `rejected`: statements that they called wrong, and `remarks`: why, in their words. `survivors`:
    candidates that agree with all of that; None where statements are to be written. `pending`: the question that waits
    for an answer. `fingerprints`: of each database's schema as the asker could read it, by name. `follow_up`: None of a
    question by itself; `read_as`: a follow-up in full words, as far as it has been read. `database`: of the session's
    last answer, in which a question by itself may go on. `local`: it holds something of a local database.
    """

    turns: tuple[Turn, ...] = ()
    rejected: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    survivors: tuple[Candidate, ...] | None = None
    pending: ClarifyingQuestion | None = None
    fingerprints: tuple[tuple[str, str], ...] = ()
    follow_up: FollowUp | None = None
    read_as: str = ""
    database: str | None = None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """A question as it was asked, its answer, and what its asker has said about it."""

    request: AskRequest
    reply: AskReply
    dialogue: Dialogue = field(default_factory=Dialogue)

    @property
    def question(self) -> Question:
        """In full words."""
        return Question(self.dialogue.read_as or self.request.question)
