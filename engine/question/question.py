"""A question, read once.

Everybody else in the engine takes this value and asks it what the question says; the words of English by which that is
told are the other modules' of this room. Nothing is read before somebody asks for it, and nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Generic, TypeVar

from engine.question.cues import DENIAL, INTERROGATIVE, NOW, ORDERED, asks_for_all
from engine.question.data_questions import data_question
from engine.question.dimensions import dimensions_in
from engine.question.follow_ups import goes_on
from engine.question.language import foreign_language
from engine.question.periods import Period, periods_in, relative_periods
from engine.question.requests import Request, request_kind
from engine.question.spans import entities_in, numbers_in, spans_in
from engine.question.tokens import (
    cues_in,
    names_in,
    normal_form,
    pieces_in,
    question_words,
    topics_in,
    without_possessives,
)
from schema_catalog.words import identifier_words

T = TypeVar("T")


class _Kept(Generic[T]):
    """A property that is computed once for each question, and without a lock that others would wait for.

    Two threads that ask at once compute it twice, which `functools.cached_property` spares in Python 3.11 by a lock of
    all questions together.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, question: Any, _owner: type) -> T:
        made: T = question.__dict__.setdefault(self._name, self._make(question))
        return made


def _read(reader: Callable[[str], T]) -> _Kept[T]:
    """What `reader` makes of the text of a question, kept."""
    return _Kept(lambda question: reader(question.text))


@dataclass(frozen=True)
class Question:
    """`text`: in the words in which it is answered, which may be others than the asker's (`State.question`).

    `today`: in UTC, the day on which it is asked. Without slots, which what is kept does not fit in.
    """

    text: str
    today: date = field(default_factory=lambda: datetime.now(UTC).date())

    words = _read(identifier_words)
    """All of them, folded, in order."""
    bare_words = _read(lambda text: frozenset(without_possessives(text)))
    """The same, without the marks of possessives."""
    pieces = _read(pieces_in)
    """Words and marks as they are written, in order."""
    cues = _read(lambda text: frozenset(cues_in(text)))
    """Words and pairs of them, by which the kind of a statement is told."""
    content_words = _read(question_words)
    """Of these all but stop words, each once."""
    topics = _read(topics_in)
    """Of these all but what may be said of anything."""
    names = _read(names_in)
    """The words that have a capital wherever they stand, in lower case; quoted ones apart."""
    entities = _read(entities_in)
    """Its phrases (Odin §5.3)."""
    spans = _read(spans_in)
    """What of it may be a value."""
    numbers = _read(numbers_in)
    dimensions = _read(dimensions_in)
    """What it asks a number for each of."""
    named_periods = _read(periods_in)
    """Periods with a year."""
    key = _read(normal_form)
    """Questions that have the same are the same."""
    language = _read(foreign_language)
    """Where it is surely not English. The first call takes tenths of a second."""
    request = _read(request_kind)
    """What it is where it is no question; parses what opens as SQL does."""
    about_data = _read(data_question)
    """What it asks about the data itself."""
    interrogative = _read(INTERROGATIVE.fullmatch)
    """Where it has the form of a question."""
    denial = _read(DENIAL.search)
    """The first word that denies something."""
    speaks_of_order = _read(ORDERED.search)
    """Where it says in which order all rows are wanted."""
    asks_for_all = _read(asks_for_all)
    """Whether it speaks of an order for all rows, or of no choice among them."""

    @_Kept
    def periods(self) -> tuple[Period, ...]:
        """The named ones, and those relative to `today`."""
        return (*self.named_periods, *relative_periods(self.text, self.today))

    @_Kept
    def depends_on_today(self) -> bool:
        """Whether what it asks for is another thing tomorrow."""
        return NOW.search(self.text) is not None or any(each.relative for each in self.periods)

    @_Kept
    def goes_on(self) -> bool:
        """Whether it is to be read with what was asked before it; "add the names" is then no order."""
        return self.request in {None, Request.ORDER} and goes_on(self.text)

    @property
    def maybe_goes_on(self) -> bool:
        """Whether a model is to say if it goes on: not of an order, nor of what the catalog answers by itself."""
        return (self.request is None and self.about_data is None) or self.goes_on
