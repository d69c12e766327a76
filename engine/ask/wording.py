"""A difference in words for a person: the question back and its options. No SQL; tables only where names read alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from engine.ask.differences import COLUMN_MARK, LITERAL_MARK, Aspect, Difference, Reading
from engine.question.names import name_words
from engine.question.plain import excerpt
from engine.question.question import Question
from engine.statement.expressions import Part
from engine.statement.facts import Fact, Matter
from engine.values.dialogue import Ambiguity, Option
from engine.values.elements import WHOLE_TABLE, Entity
from schema_catalog.types import ColumnKey
from schema_catalog.words import identifier_words

NEAR = 0.4
"""A phrase is about elements to each of which it has at least this cosine."""

TEXT_LENGTH = 200
_CELL = 30
_FACTS = 4
"""Facts of a statement that are told at most."""
_PLAIN = 3
"""Parts of a condition that a column is a value."""
_ROWS = 3

_KINDS = {
    Matter.DATABASE: Ambiguity.COLUMN,
    Matter.TABLE: Ambiguity.COLUMN,
    Matter.CONNECTION: Ambiguity.COLUMN,
    Matter.OUTPUT: Ambiguity.OUTPUT,
    Matter.ORDER: Ambiguity.OUTPUT,
    Matter.REPETITION: Ambiguity.OUTPUT,
    Matter.CONDITION: Ambiguity.QUESTION,
    Matter.GROUP: Ambiguity.QUESTION,
    Matter.COMBINATION: Ambiguity.QUESTION,
}

WHICH = "Which of these do you mean?"

_ON_A_MATTER = {
    Matter.DATABASE: "Which database is the question about?",
    Matter.TABLE: "Which tables should the answer come from?",
    Matter.CONNECTION: "How should the tables be joined?",
    Matter.OUTPUT: "What should be shown?",
    Matter.ORDER: "Which rows, and in which order?",
    Matter.REPETITION: "Should equal rows be shown once?",
    Matter.CONDITION: "Which rows count?",
    Matter.GROUP: "How should the rows be grouped?",
    Matter.COMBINATION: "How should the two parts be combined?",
}

_NOTHING = {
    Matter.TABLE: "no table",
    Matter.CONNECTION: "not joined",
    Matter.OUTPUT: "nothing",
    Matter.ORDER: "every row, in any order",
    Matter.REPETITION: "every row, also equal ones",
    Matter.CONDITION: "without a condition",
    Matter.GROUP: "all rows together",
    Matter.COMBINATION: "only one of the two",
}


_LACKING: Mapping[Matter | None, str] = {
    Matter.CONDITION: "not only where",
    Matter.ORDER: "not only",
    Matter.CONNECTION: "not",
}
"""Before what only others say."""

_LEADS = {
    Matter.TABLE: "with ",
    Matter.OUTPUT: "showing ",
    Matter.CONDITION: "only if ",
    Matter.GROUP: "for each ",
}
"""Before a fact that stands among others."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of columns and tables in words, apart from each other; `tables`: those that a column stands for."""

    elements: frozenset[ColumnKey]
    tables: Mapping[ColumnKey, frozenset[str]] = field(default_factory=dict)
    plain: Counter[str] = field(init=False)
    qualified: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", Counter(map(_plain, self.elements)))
        object.__setattr__(self, "qualified", Counter(map(_qualified, self.elements)))

    def words(self, element: ColumnKey) -> str:
        """One element."""
        if self.plain[_plain(element)] <= 1:
            return _plain(element)
        if len(tables := self.tables.get(element, ())) > 1:
            return f"{_plain(element)} of {' or '.join(sorted(map(name_words, tables)))}"
        if self.qualified[_qualified(element)] <= 1:
            return _qualified(element)
        return f"{_qualified(element)} ({'.'.join(part for part in element if part != WHOLE_TABLE)})"

    def said(self, parts: Iterable[Part]) -> str:
        """Parts as one text."""
        return " ".join(self.words(part) if isinstance(part, tuple) else str(part) for part in parts)


def _plain(element: ColumnKey) -> str:
    return name_words(element[1] if element[2] == WHOLE_TABLE else element[2])


def _qualified(element: ColumnKey) -> str:
    if element[2] == WHOLE_TABLE:
        return name_words(f"{element[0]} {element[1]}")
    column, table = name_words(element[2]), name_words(element[1])
    return f"{column} of {table}" if column not in table else f'{column} of "{table}"'


def option_words(difference: Difference, readings: Sequence[Reading]) -> tuple[str, ...]:
    """What each of `readings` says, without what all of them say."""
    named = [frozenset(_named(each, difference)) for each in readings]
    tables = {
        element: frozenset(each[1] for each in reading.elements if each[2] == element[2] != WHOLE_TABLE)
        for reading, elements in zip(readings, named, strict=True)
        for element in elements
    }
    names = Names(frozenset[ColumnKey]().union(*named), tables if difference.aspect is Aspect.COLUMN else {})
    return tuple(_option(difference, each, readings, names) for each in readings)


def _named(reading: Reading, difference: Difference) -> Iterator[ColumnKey]:
    for said in (*reading.said, *((difference.example,) if difference.example is not None else ())):
        parts = said.parts if isinstance(said, Fact) else (said,)
        yield from (part for part in parts if isinstance(part, tuple))


def _option(difference: Difference, reading: Reading, readings: Sequence[Reading], names: Names) -> str:
    example = difference.example
    if difference.aspect is Aspect.WAY and example is not None:
        return " or ".join(_filled(str(pattern), example, names) for pattern in reading.said)
    if example is not None and len(reading.said) == 1 and _whole_fact(difference, example):
        said = (*example.parts[: difference.place], *reading.said, *example.parts[difference.place + 1 :])
        return names.said(part for part in said if not isinstance(part, Fact))
    if difference.aspect is Aspect.VALUE and example is not None and example.columns:
        return f"{_listed(names, reading.said)} as {names.words(example.columns[0])}"
    if difference.aspect < Aspect.MATTER:
        return _listed(names, reading.said)
    return _facts(difference, reading, readings, names)


def _whole_fact(difference: Difference, example: Fact) -> bool:
    """Whether a column or value is told apart only by what is said of it: "average age", "more than 20"."""
    if difference.aspect is Aspect.VALUE:
        return len(example.parts) != _PLAIN or example.parts[1] != "is"
    plain = example.matter in (Matter.TABLE, Matter.GROUP, Matter.ORDER)
    alone = example.matter is Matter.CONDITION and example.columns == example.parts[:1]
    return not plain and not alone


def _listed(names: Names, said: Iterable[Part | Fact]) -> str:
    return " and ".join(names.said(each.parts if isinstance(each, Fact) else (each,)) for each in said)


def _facts(difference: Difference, reading: Reading, readings: Sequence[Reading], names: Names) -> str:
    """A matter in whole where it is what is shown or read; else what not all of the options have."""
    said = [fact for fact in reading.said if isinstance(fact, Fact)]
    others = [frozenset(each.said) for each in readings]
    long = max(len(each) for each in others) > _FACTS
    if long or difference.matter not in (Matter.OUTPUT, Matter.TABLE, Matter.GROUP):
        said = [fact for fact in said if not all(fact in each for each in others)]
    if difference.matter is None:
        return _statement(said, names)
    words = " and ".join(dict.fromkeys(names.said(fact.parts) for fact in said))
    if not words:
        return _without(difference, reading, others, names) if reading.said else _NOTHING[difference.matter]
    fewer = any(frozenset(reading.said) < other for other in others)
    if difference.matter is Matter.CONDITION:
        return f"{words}, and no other condition" if fewer else words
    return f"{words} alone" if fewer and not long else words


def _without(
    difference: Difference, reading: Reading, others: Sequence[frozenset[Part | Fact]], names: Names
) -> str:
    """What others say and a reading does not, which says nothing but what all of them do."""
    more = dict.fromkeys(each for other in others for each in other if each not in reading.said)
    words = sorted(names.said(each.parts) for each in more if isinstance(each, Fact))[:_FACTS]
    return f"{_LACKING.get(difference.matter, 'without')} {' or '.join(words)}"


def _statement(said: Sequence[Fact], names: Names) -> str:
    """Facts of all kinds; how tables are connected is left to what else differs."""
    told = [fact for fact in said if fact.matter is not Matter.CONNECTION] or said
    words = [f"{_LEADS.get(fact.matter, '')}{names.said(fact.parts)}" for fact in told[:_FACTS]]
    return ", ".join([*words, *["…"] * (len(told) > _FACTS)]) or "nothing else"


def _filled(pattern: str, example: Fact, names: Names) -> str:
    columns, literals = iter(example.columns), iter(example.literals)
    filled = ""
    for letter in pattern:
        if letter == COLUMN_MARK:
            filled += names.words(next(columns))
        else:
            filled += str(next(literals)) if letter == LITERAL_MARK else letter
    return filled


def wording_of(difference: Difference, elements: frozenset[ColumnKey], asked: Asked) -> str:
    """The question back. `elements`: those that tell the options apart."""
    if difference.matter is None:
        return WHICH
    if difference.aspect is Aspect.TABLE:
        phrase = asked.phrase(elements)
        return f'Which table do you mean by "{phrase}"?' if phrase else "Which table do you mean?"
    if difference.aspect is Aspect.COLUMN:
        return _on_a_column(difference, elements, asked)
    small = {
        (Aspect.VALUE, Matter.CONDITION): "Which value do you mean?",
        (Aspect.WAY, Matter.CONDITION): "How should it be compared?",
        (Aspect.WAY, Matter.OUTPUT): "What should be computed?",
    }
    return small.get((difference.aspect, difference.matter), _ON_A_MATTER[difference.matter])


def _on_a_column(difference: Difference, elements: frozenset[ColumnKey], asked: Asked) -> str:
    if any(len(reading.said) > 1 for reading in difference.readings):
        return _ON_A_MATTER[difference.matter or Matter.OUTPUT]
    if phrase := asked.phrase(elements):
        return f'What do you mean by "{phrase}"?'
    literals = difference.example.literals if difference.example is not None else ()
    if difference.matter is Matter.CONDITION and len(literals) == 1:
        return f"What should be compared with {literals[0]}?"
    if shared := _shared_words(elements):
        return f"Which {shared} do you mean?"
    questions = {
        Matter.CONDITION: "What should be compared?",
        Matter.GROUP: "By what should the rows be grouped?",
        Matter.ORDER: "What decides the order?",
    }
    return questions.get(difference.matter or Matter.OUTPUT, "What should be shown?")


@dataclass(frozen=True, slots=True)
class Asked:
    """The asker's question, and its phrases with their similarities."""

    question: Question
    entities: Sequence[Entity] = ()

    def phrase(self, elements: frozenset[ColumnKey]) -> str:
        """The question's phrase that may mean any of `elements`; empty where there is none."""
        if not elements:
            return ""
        near = [
            (margin, each.text) for each in self.entities if (margin := _margin(each, elements)) is not None
        ]
        if near:
            return max(near)[1]
        names = [frozenset(identifier_words(_plain(each))) for each in elements]
        runs = [run for run in self.question.entities if min(map(len, run.split())) > 1]
        return next((run for run in runs if all(name & set(identifier_words(run)) for name in names)), "")


def _margin(entity: Entity, elements: frozenset[ColumnKey]) -> float | None:
    """By how much the phrase is nearer to each element than to its table; None where it is not."""
    cosines = entity.similarities
    nearest = min(cosines.get(each, 0.0) for each in elements)
    tables = [cosines.get((*each[:2], WHOLE_TABLE), 0.0) for each in elements if each[2] != WHOLE_TABLE]
    margin = nearest - max(tables, default=0.0)
    return margin if nearest >= NEAR and margin > 0 else None


def _shared_words(elements: frozenset[ColumnKey]) -> str:
    """The last words that the names of all `elements` have in common."""
    endings = zip(*(reversed(_plain(each).split()) for each in elements), strict=False)
    shared = [words[0] for words in takewhile(lambda words: len(set(words)) == 1, endings)]
    return " ".join(reversed(shared))


def ambiguity(difference: Difference) -> Ambiguity:
    """The kind of a difference (Sphinteract §5)."""
    if difference.aspect in (Aspect.COLUMN, Aspect.TABLE):
        several = any(len(reading.said) > 1 for reading in difference.readings)
        return Ambiguity.OUTPUT if several and difference.matter is Matter.OUTPUT else Ambiguity.COLUMN
    if difference.aspect is Aspect.VALUE or (
        difference.aspect is Aspect.WAY and difference.matter is Matter.CONDITION
    ):
        return Ambiguity.VALUE
    if difference.matter is None or (difference.aspect is Aspect.WAY and difference.matter is Matter.OUTPUT):
        return Ambiguity.QUESTION
    return _KINDS[difference.matter]


def option_text(option: Option) -> str:
    """An option in whole, with its likeliest statement's first rows as far as `TEXT_LENGTH` characters leave room."""
    preview = option.preview
    if preview is None:
        return option.words
    rows = [", ".join(_cell(cell) for cell in row) for row in preview.rows[:_ROWS]]
    if preview.more or len(preview.rows) > _ROWS:
        rows.append("…")
    room = max(TEXT_LENGTH - len(f"{option.words}: "), _CELL)
    return f"{option.words}: {excerpt(' · '.join(rows) or 'no rows', room)}"


def _cell(cell: str | None) -> str:
    return "\N{EN DASH}" if cell is None else excerpt(cell, _CELL)
