"""A question, read once.

Everybody else in the engine takes this value and asks it what the question says; the words of English by which that is
told are the other modules' of this room. Each property is computed where it is first asked for, and kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property

from engine.question.cues import NEGATION, asks_for_all, speaks_of_order
from engine.question.data_questions import DataQuestion, data_question
from engine.question.dimensions import Dimension, asks_for_first, dimensions_in
from engine.question.follow_ups import goes_on
from engine.question.language import Language, foreign_language
from engine.question.periods import Period, named_periods, relative_periods, speaks_of_now
from engine.question.requests import Request, request_kind
from engine.question.spans import Number, Span, entities, numbers_in, spans
from engine.question.tokens import (
    bare_words,
    identifier_words,
    names_in,
    normal_form,
    question_words,
    topics_in,
)


@dataclass(frozen=True)
class Question:
    """`text`: in the words in which it is answered, which may be others than the asker's (`State.question`).

    `today`: in UTC, the day on which it is asked. Without slots, which `cached_property` cannot fill.
    """

    text: str
    today: date = field(default_factory=lambda: datetime.now(UTC).date())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All of them, folded, in order."""
        return identifier_words(self.text)

    @cached_property
    def bare_words(self) -> frozenset[str]:
        """The same, without the marks of possessives."""
        return frozenset(bare_words(self.text))

    @cached_property
    def content_words(self) -> tuple[str, ...]:
        """Of these, all but stop words, each once, in order."""
        return question_words(self.text)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Of these, all but what may be said of anything."""
        return topics_in(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        """The words that have a capital wherever they stand, in lower case; quoted ones apart."""
        return names_in(self.text)

    @cached_property
    def entities(self) -> tuple[str, ...]:
        """Its phrases (Odin §5.3)."""
        return tuple(entities(self.text))

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """What of it may be a value."""
        return spans(self.text)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """In digits, then in words."""
        return tuple(numbers_in(self.text))

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """What it asks a number for each of."""
        return tuple(dict.fromkeys(dimensions_in(self.text)))

    @cached_property
    def asks_for_first(self) -> bool:
        """Whether it asks for what comes first by an order."""
        return asks_for_first(self.text)

    @cached_property
    def asks_for_all(self) -> bool:
        """Whether it speaks of an order for all rows, or of no choice among them."""
        return asks_for_all(self.text)

    @cached_property
    def speaks_of_order(self) -> bool:
        """Whether it says in which order all rows are wanted."""
        return speaks_of_order(self.text)

    @cached_property
    def denial(self) -> re.Match[str] | None:
        """The first word that denies something."""
        return NEGATION.search(self.text)

    @cached_property
    def named_periods(self) -> tuple[Period, ...]:
        """Those with a year."""
        return tuple(named_periods(self.text))

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """The named ones, and those relative to `today`."""
        return (*self.named_periods, *relative_periods(self.text, self.today))

    @cached_property
    def depends_on_today(self) -> bool:
        """Whether what it asks for is another thing tomorrow."""
        return speaks_of_now(self.text) or any(each.relative for each in self.periods)

    @cached_property
    def request(self) -> Request | None:
        """What it is where it is no question; parses what opens as SQL does."""
        return request_kind(self.text)

    @cached_property
    def about_data(self) -> DataQuestion | None:
        """What it asks about the data itself."""
        return data_question(self.text)

    @cached_property
    def goes_on(self) -> bool:
        """Whether it is to be read with what was asked before it; "add the names" is then no order."""
        return self.request in {None, Request.ORDER} and goes_on(self.text)

    @property
    def maybe_goes_on(self) -> bool:
        """Whether a model is to say if it goes on: not of an order, nor of what the catalog answers by itself."""
        return (self.request is None and self.about_data is None) or self.goes_on

    @cached_property
    def language(self) -> Language | None:
        """Its language where that is surely not English. The first call takes tenths of a second."""
        return foreign_language(self.text)

    @cached_property
    def normal_form(self) -> str:
        """Of the text: questions of one are the same."""
        return normal_form(self.text)
