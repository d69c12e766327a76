"""What a difference itself says about its readings, beside the candidates' confidences.

Where the question names one reading in its own words, the others are hardly meant. Where the schema holds the same
columns twice, or the linker says that it may go astray between two, a preference for either means little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.core.elements import WHOLE_TABLE, SchemaLinks
from engine.dialogue.differences import Difference, Reading
from engine.linking.element_text import name_words
from engine.text.tokens import identifier_words
from schema_catalog.types import ColumnKey, Snapshot, TableKey

Words = frozenset[str]
"""The folded words of a name or of a question."""

UNNAMED = 0.25
"""The weight of a reading beside one that the question names."""

EVEN = 0.5
"""The share in which readings between which a preference means little are taken for equally probable."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The asker's question; the names of the columns of each table; the linker's decisions by database."""

    question: str
    columns: Mapping[TableKey, frozenset[str]]
    links: Mapping[str, SchemaLinks]

    @staticmethod
    def of(question: str, snapshots: Iterable[Snapshot], links: Mapping[str, SchemaLinks]) -> Evidence:
        """Over these schemas."""
        columns = {
            table.key: frozenset(column.name for column in table.columns)
            for snapshot in snapshots
            for table in snapshot.tables
        }
        return Evidence(question, columns, links)


def believed(difference: Difference, probability: Sequence[float], evidence: Evidence) -> list[float]:
    """The candidates' probabilities as far as `difference` goes, of the same sum."""
    weights = [1.0] * len(probability)
    if (named := named_reading(difference.readings, evidence.question)) is not None:
        for reading in difference.readings:
            for each in reading.members if reading is not named else ():
                weights[each] = UNNAMED
    alike = held_twice(difference.readings, evidence.columns)
    for readings in alike or _left_open(difference.readings, evidence.links):
        masses = [sum(probability[each] for each in reading.members) for reading in readings]
        even = sum(masses) / len(masses)
        for reading, mass in zip(readings, masses, strict=True):
            for each in reading.members if mass > 0 else ():
                weights[each] *= 1 - EVEN + EVEN * even / mass
    weighed = [one * weight for one, weight in zip(probability, weights, strict=True)]
    scale = sum(probability) / (sum(weighed) or 1.0)
    return [one * scale for one in weighed]


def named_reading(readings: Sequence[Reading], question: str) -> Reading | None:
    """The only reading whose name stands in the question whole; None where another one is named in part.

    Of columns of one name the table's name decides, in the same way.
    """
    asked = frozenset(identifier_words(question))
    if len(readings) < 2 or not all(each.elements for each in readings):  # noqa: PLR2004  one reading is no choice
        return None
    whole = _named([_words(each, _name) for each in readings], asked)
    if len(whole) > 1:
        tables = _named([_words(readings[each], _table_name) for each in whole], asked)
        whole = [whole[each] for each in tables]
    return readings[whole[0]] if len(whole) == 1 else None


def _named(names: Sequence[Sequence[Words]], asked: Words) -> list[int]:
    """Those of which a name stands whole in what was asked; none where another's name does in part."""
    whole = [place for place, each in enumerate(names) if any(name <= asked for name in each)]
    told = frozenset[str]().union(*(name for place in whole for name in names[place]))
    partly = any((name - told) & asked for each in names for name in each)
    return [] if partly else whole


def _words(reading: Reading, name: Callable[[ColumnKey], str]) -> list[Words]:
    return [frozenset(identifier_words(name(each))) for each in reading.elements]


def _name(element: ColumnKey) -> str:
    return _table_name(element) if element[2] == WHOLE_TABLE else name_words(element[2])


def _table_name(element: ColumnKey) -> str:
    return name_words(element[1])


def held_twice(
    readings: Sequence[Reading], columns: Mapping[TableKey, frozenset[str]]
) -> list[tuple[Reading, ...]]:
    """Readings of one name whose tables hold the same columns, the wider table first."""
    single = [each for each in readings if len(each.elements) == 1 and each.members]
    wider = sorted(single, key=lambda each: -len(columns.get(_table(each), ())))
    found: list[tuple[Reading, ...]] = []
    for reading in wider:
        rest = [each for each in wider if each is not reading and _same(reading, each, columns)]
        if rest and not any(reading in each for each in found):
            found.append((reading, *rest))
    return found


def _left_open(readings: Sequence[Reading], links: Mapping[str, SchemaLinks]) -> list[tuple[Reading, ...]]:
    """Readings that are each other's alternatives at a branching point; each once."""
    found: list[tuple[Reading, ...]] = []
    for point in (each for linked in links.values() for each in linked.branching):
        family = {point.element, *point.alternatives}
        here = tuple(
            each
            for each in readings
            if each.members and len(each.elements & family) == 1 and not any(each in other for other in found)
        )
        if len(here) > 1:
            found.append(here)
    return found


def _table(reading: Reading) -> TableKey:
    [element] = reading.elements
    return element[:2]


def _same(reading: Reading, other: Reading, columns: Mapping[TableKey, frozenset[str]]) -> bool:
    [this], [that] = reading.elements, other.elements
    inner = columns.get(that[:2], frozenset())
    return this[2] == that[2] and len(inner) > 1 and inner <= columns.get(this[:2], frozenset())
