"""A user who answers questions back from the known result and its columns, and never from SQL.

Owns which option they choose, what they say in their own words where none fits, and how one who errs errs. What they
do about statements that are no question is `benchmarks.quality.dialogue.conversation`'s.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchmarks.harness.drawing import share
from benchmarks.quality.dialogue.intent import Intent
from benchmarks.quality.dialogue.preview_match import fits
from engine.values.dialogue import Ambiguity, ClarifyingQuestion, Option
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import ColumnKey
from schema_catalog.words import identifier_words


@dataclass(frozen=True, slots=True)
class Chosen:
    """An option by its number, from 1."""

    n: int


@dataclass(frozen=True, slots=True)
class OwnWords:
    """An answer in the user's own words."""

    text: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """Nothing that was shown is right."""


Reaction = Chosen | OwnWords | Rejected


@dataclass(frozen=True, slots=True)
class _Evidence:
    """How an option compares with what is meant. `rows`: None where it shows none. `named`: elements meant as well."""

    elements: bool
    rows: bool | None
    named: int

    def rank(self, ambiguity: Ambiguity) -> tuple[int, int, int]:
        """A question about columns is answered by what the option stands on, another one by its rows."""
        rows = 1 if self.rows is None else 2 * self.rows
        about = int(self.elements)
        return (about, rows, self.named) if ambiguity is Ambiguity.COLUMN else (rows, about, self.named)

    def consistent(self, ambiguity: Ambiguity, *, rows_tell: bool) -> bool:
        """Whether the user could mean it. Where rows tell, those that fit are what is meant, from wherever."""
        if ambiguity is Ambiguity.COLUMN:
            return self.elements or (rows_tell and self.rows is True)
        fits_or_unseen = self.rows is True or (self.rows is None and self.elements)
        return fits_or_unseen and (rows_tell or self.elements)


@dataclass(frozen=True, slots=True)
class SimulatedUser:
    """Answers questions back by `intent`. `errs` in [0, 1]: how often another option is chosen than is meant.

    `name`: of the question, with the seed; it decides when they err.
    """

    intent: Intent
    name: str
    errs: float = 0.0

    def answer(self, asked: ClarifyingQuestion, said: Sequence[Reaction]) -> tuple[Reaction, bool]:
        """The answer to a question back after what they have `said`, and whether it is not what they mean."""
        meant = self._meant(asked, said)
        if not asked.options or share(f"{self.name}:{len(said)}:errs") >= self.errs:
            return meant, False
        others = [Chosen(n) for n, _ in enumerate(asked.options, 1) if Chosen(n) != meant]
        if not others:
            return meant, False
        return others[int(share(f"{self.name}:{len(said)}:which") * len(others))], True

    def _meant(self, asked: ClarifyingQuestion, said: Sequence[Reaction]) -> Reaction:
        ranks = {
            number: found.rank(asked.ambiguity)
            for number, option in enumerate(asked.options, 1)
            if (found := self._evidence(option, asked.options)).consistent(
                asked.ambiguity, rows_tell=self.intent.rows_tell
            )
        }
        if ranks:
            # Of options that are equally good, the first: the user cannot tell them apart.
            return Chosen(max(ranks, key=ranks.__getitem__))
        words = self._own_words(asked)
        return Rejected() if words is None or words in said else words

    def _evidence(self, option: Option, options: Sequence[Option]) -> _Evidence:
        meant, own = self.intent.elements, self._telling(option)
        others = frozenset().union(*(self._telling(each) for each in options if each is not option))
        shown = option.preview
        rows = None if shown is None else fits(shown, self.intent.rows, ordered=self.intent.ordered)
        # An option that stands on nothing of its own is one without what the others stand on.
        agrees = own <= meant if own else not others & meant
        return _Evidence(agrees, rows, len(own & meant))

    def _telling(self, option: Option) -> frozenset[ColumnKey]:
        """What an option stands on, less keys where there is more: nobody means the columns of a join."""
        return option.elements - self.intent.keys or option.elements

    def _own_words(self, asked: ClarifyingQuestion) -> OwnWords | None:
        if asked.ambiguity is Ambiguity.OUTPUT:
            return OwnWords(f"show {' and '.join(self.intent.headings)}")
        offered = frozenset().union(*(option.elements for option in asked.options))
        open_elements = sorted(self.intent.elements - offered)
        columns = [element for element in open_elements if element[2] != WHOLE_TABLE]
        tables = [element for element in open_elements if element[2] == WHOLE_TABLE]
        about_tables = any(element[2] == WHOLE_TABLE for element in offered)
        named = _alike(tables, offered, 1) if about_tables else _alike(columns, offered, 2)
        if not named:
            return None
        return OwnWords(f"I mean {', '.join(map(_spoken, named))}")


def _alike(elements: Sequence[ColumnKey], offered: Collection[ColumnKey], part: int) -> list[ColumnKey]:
    """Those of `elements` whose name shares a word with one that was offered, all where none does.

    `part`: of the key, which holds the name.
    """
    words = {word for element in offered for word in identifier_words(element[part])}
    close = [element for element in elements if words & set(identifier_words(element[part]))]
    return close or list(elements)


def _spoken(element: ColumnKey) -> str:
    _, table, column = element
    return f"the table {table}" if column == WHOLE_TABLE else f"{column} of {table}"
