"""A difference in words for a person: the question back, and its options. No SQL stands in either.

Names become words; where two would read alike, their tables stand beside them, and where those do too, the names as
the catalog has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.core.elements import WHOLE_TABLE, Entity
from engine.dialogue.differences import COLUMN_MARK, LITERAL_MARK, Aspect, Difference, Reading
from engine.dialogue.expressions import Part
from engine.dialogue.facts import Fact, Matter
from engine.dialogue.types import Ambiguity, ClarifyingQuestion, Option
from engine.linking.element_text import name_words
from engine.text.tokens import identifier_words
from schema_catalog.types import ColumnKey

NEAR = 0.4
"""A phrase is about elements to each of which it has at least this cosine."""

TEXT_LENGTH = 200
_CELL = 30
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

_ON_A_MATTER = {
    Matter.DATABASE: "Which database is the question about?",
    Matter.TABLE: "Which tables should the answer be drawn from?",
    Matter.CONNECTION: "How do the tables belong together?",
    Matter.OUTPUT: "What should be shown?",
    Matter.ORDER: "Which rows, and in which order?",
    Matter.REPETITION: "Should rows that are equal be shown once?",
    Matter.CONDITION: "Which rows count?",
    Matter.GROUP: "For each of what?",
    Matter.COMBINATION: "How do the two parts go together?",
}

_NOTHING = {
    Matter.TABLE: "no table",
    Matter.CONNECTION: "without a connection",
    Matter.OUTPUT: "nothing",
    Matter.ORDER: "every row, in any order",
    Matter.REPETITION: "every row, equal ones too",
    Matter.CONDITION: "without a condition",
    Matter.GROUP: "all rows together",
    Matter.COMBINATION: "only one of them",
}


@dataclass(frozen=True, slots=True)
class Names:
    """The names of columns and tables in words, apart from each other among `elements`."""

    elements: frozenset[ColumnKey]
    plain: Counter[str] = field(init=False)
    qualified: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", Counter(map(_plain, self.elements)))
        object.__setattr__(self, "qualified", Counter(map(_qualified, self.elements)))

    def words(self, element: ColumnKey) -> str:
        """One element."""
        if self.plain[_plain(element)] <= 1:
            return _plain(element)
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
    return f"{name_words(element[2])} of {name_words(element[1])}"


def option_words(difference: Difference, readings: Sequence[Reading]) -> tuple[str, ...]:
    """What each of `readings` says, without what all of them say."""
    names = Names(frozenset(element for each in readings for element in elements_said(difference, each)))
    return tuple(_option(difference, each, readings, names) for each in readings)


def elements_said(difference: Difference, reading: Reading) -> frozenset[ColumnKey]:
    """The columns and tables that a reading names."""
    if difference.aspect is Aspect.WAY and difference.example is not None:
        return frozenset(difference.example.columns)
    found = [part for said in reading.said for part in (said.parts if isinstance(said, Fact) else (said,))]
    named = frozenset(part for part in found if isinstance(part, tuple))
    return named | (
        frozenset(difference.example.columns) if _is_value(difference) and difference.example else named
    )


def _is_value(difference: Difference) -> bool:
    return difference.aspect is Aspect.VALUE


def _option(difference: Difference, reading: Reading, readings: Sequence[Reading], names: Names) -> str:
    example = difference.example
    if difference.aspect is Aspect.WAY and example is not None:
        return " or ".join(_filled(str(pattern), example, names) for pattern in reading.said)
    if _is_value(difference) and example is not None and example.columns:
        return f"{_listed(names, reading.said)} as {names.words(example.columns[0])}"
    if difference.aspect <= Aspect.VALUE:
        return _listed(names, reading.said)
    return _facts(difference, reading, readings, names)


def _listed(names: Names, said: Iterable[Part | Fact]) -> str:
    return " and ".join(names.said(each.parts if isinstance(each, Fact) else (each,)) for each in said)


def _facts(difference: Difference, reading: Reading, readings: Sequence[Reading], names: Names) -> str:
    """A matter in whole where it is what is shown or read; else what not all of the options have."""
    said = [fact for fact in reading.said if isinstance(fact, Fact)]
    if difference.matter not in (Matter.OUTPUT, Matter.TABLE, Matter.GROUP):
        others = [frozenset(each.said) for each in readings]
        said = [fact for fact in said if not all(fact in each for each in others)]
    words = ", ".join(dict.fromkeys(names.said(fact.parts) for fact in said))
    if words:
        alone = difference.matter in (Matter.OUTPUT, Matter.TABLE) and len(said) == 1
        return f"{words} alone" if alone else words
    if difference.matter is None or (reading.said and difference.matter is Matter.CONDITION):
        return "nothing more than that"
    return _NOTHING.get(difference.matter, "nothing")


def _filled(pattern: str, example: Fact, names: Names) -> str:
    columns, literals = iter(example.columns), iter(example.literals)
    filled = ""
    for letter in pattern:
        if letter == COLUMN_MARK:
            filled += names.words(next(columns))
        else:
            filled += str(next(literals)) if letter == LITERAL_MARK else letter
    return filled


def question_words(difference: Difference, elements: frozenset[ColumnKey], entities: Sequence[Entity]) -> str:
    """The question back. `elements`: those that the options name."""
    if difference.matter is None:
        return "Which of these do you mean?"
    phrase = meant_phrase(elements, entities)
    if difference.aspect is Aspect.TABLE:
        return f"Which table holds the {phrase}?" if phrase else "Which table is meant?"
    if difference.aspect is Aspect.COLUMN:
        return f"Which {phrase} do you mean?" if phrase else _on_a_column(difference)
    small = {
        (Aspect.VALUE, Matter.CONDITION): "Which value do you mean?",
        (Aspect.WAY, Matter.CONDITION): "How should it be compared?",
        (Aspect.WAY, Matter.OUTPUT): "What should be computed?",
    }
    return small.get((difference.aspect, difference.matter), _ON_A_MATTER[difference.matter])


def _on_a_column(difference: Difference) -> str:
    literals = difference.example.literals if difference.example is not None else ()
    if difference.matter is Matter.CONDITION and literals:
        return f"What should be compared with {literals[0]}?"
    questions = {
        Matter.CONDITION: "What do you mean?",
        Matter.GROUP: "By what should the rows be put together?",
        Matter.ORDER: "What decides the order?",
    }
    return questions.get(difference.matter or Matter.OUTPUT, "What should be shown?")


def meant_phrase(elements: frozenset[ColumnKey], entities: Sequence[Entity]) -> str:
    """The question's phrase that is near to all of `elements`, else the words that their names have in common."""
    near = [
        (min(entity.similarities.get(each, 0.0) for each in elements), entity.text)
        for entity in entities
        if elements
    ]
    best, text = max(near, default=(0.0, ""))
    if best >= NEAR:
        return text
    shared = [identifier_words(_plain(each)) for each in sorted(elements)]
    if not shared:
        return ""
    return " ".join(word for word in shared[0] if all(word in words for words in shared[1:]))


def ambiguity(difference: Difference) -> Ambiguity:
    """The kind of a difference (Sphinteract §5)."""
    if difference.aspect in (Aspect.COLUMN, Aspect.TABLE):
        return Ambiguity.COLUMN
    if difference.aspect is Aspect.VALUE or (
        difference.aspect is Aspect.WAY and difference.matter is Matter.CONDITION
    ):
        return Ambiguity.VALUE
    if difference.matter is None or (difference.aspect is Aspect.WAY and difference.matter is Matter.OUTPUT):
        return Ambiguity.QUESTION
    return _KINDS[difference.matter]


def option_text(question: ClarifyingQuestion, option: Option) -> str:  # noqa: ARG001
    """An option with the first rows of its likeliest statement, at most `TEXT_LENGTH` characters."""
    preview = option.preview
    if preview is None or not preview.rows:
        return _cut(option.words, TEXT_LENGTH)
    rows = [", ".join(_cell(cell) for cell in row) for row in preview.rows[:_ROWS]]
    if preview.more or len(preview.rows) > _ROWS:
        rows.append("…")
    return _cut(f"{option.words}: {' · '.join(rows)}", TEXT_LENGTH)


def _cell(cell: str | None) -> str:
    return "\N{EN DASH}" if cell is None else _cut(" ".join(cell.split()), _CELL)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
