"""Which question back is worth asking: the difference whose answer leaves the least expected error.

A reading that the question names itself makes the others unlikely; a preference between columns that the schema
holds twice means little. What the linker holds for possible and no candidate reads is an option, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.ask.differences import Aspect, Difference, Reading, Said
from engine.question.names import name_words
from engine.question.question import Question
from engine.statement.facts import Fact, Matter
from engine.values.candidate import Candidate
from engine.values.elements import WHOLE_TABLE, BranchingPoint, SchemaLinks, elements_read
from schema_catalog.types import ColumnKey, Snapshot, TableKey
from schema_catalog.words import identifier_words

Words = frozenset[str]
"""The folded words of a name or of a question."""

UNNAMED = 0.25
"""The weight of a reading beside one that the question names."""

EVEN = 0.5
"""The share in which readings between which a preference means little are taken for equally probable."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The asker's question; the names of the columns of each table; the linker's decisions by database."""

    question: Question
    columns: Mapping[TableKey, frozenset[str]]
    links: Mapping[str, SchemaLinks]

    @staticmethod
    def of(question: Question, snapshots: Iterable[Snapshot], links: Mapping[str, SchemaLinks]) -> Evidence:
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


def named_reading(readings: Sequence[Reading], question: Question) -> Reading | None:
    """The only reading whose name (else its table's) the question has whole; None where another's is there in part."""
    asked = frozenset(question.words)
    if len(readings) < 2 or not all(each.elements for each in readings):  # noqa: PLR2004  one reading is no choice
        return None
    whole = _named([_words(each, _name) for each in readings], asked)
    if len(whole) > 1:
        tables = _named([_words(readings[each], _table_name) for each in whole], asked)
        whole = [whole[each] for each in tables]
    return readings[whole[0]] if len(whole) == 1 else None


def _named(names: Sequence[Sequence[Words]], asked: Words) -> list[int]:
    """Readings with a name that was said in full; none if a part of another's name was said too."""
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


NONE_RIGHT = 0.1
"""The probability that no candidate is right."""

OPTIONS = 3
MINOR = 0.002
"""A third option that is less probable is left to the asker's own words."""

REWRITTEN = 0.5
"""The probability that a statement which is written after an answer is right."""

_MISREAD: Mapping[Aspect, float] = {
    Aspect.TABLE: 0.02,
    Aspect.COLUMN: 0.02,
    Aspect.VALUE: 0.02,
    Aspect.WAY: 0.05,
    Aspect.MATTER: 0.08,
    Aspect.STATEMENT: 0.35,
}
"""How probably an answer goes wrong: the more there is to read and to tell apart, the more."""

_MISREAD_ON: Mapping[Matter | None, float] = {
    Matter.DATABASE: 0.02,
    Matter.OUTPUT: 0.05,
    Matter.TABLE: 0.15,
    Matter.CONNECTION: 0.2,
}
"""The same of some matters as wholes: people know what they want to see, and not how tables belong together."""


def probabilities(candidates: Sequence[Candidate]) -> list[float]:
    """Of each candidate that it is right, from the confidences; they sum to 1 - `NONE_RIGHT`."""
    total = sum(each.confidence for each in candidates)
    if total <= 0:
        return [(1 - NONE_RIGHT) / len(candidates) for _ in candidates]
    return [(1 - NONE_RIGHT) * each.confidence / total for each in candidates]


def right_after(groups: Iterable[Sequence[int]], probability: Sequence[float]) -> float:
    """The probability of a right answer if the asker names a group and its likeliest candidate is taken."""
    return sum(max((probability[each] for each in group), default=0.0) for group in groups)


def misread(difference: Difference) -> float:
    """How probably an answer about `difference` goes wrong."""
    usual = _MISREAD[difference.aspect]
    return _MISREAD_ON.get(difference.matter, usual) if difference.aspect is Aspect.MATTER else usual


def offered(difference: Difference, probability: Sequence[float]) -> tuple[Reading, ...]:
    """The likeliest two or three readings, likeliest first; behind the others what no statement says yet."""
    written = (1 - sum(each.share for each in difference.readings)) / sum(probability)

    def mass(reading: Reading) -> float:
        return reading.share + written * sum(probability[each] for each in reading.members)

    ranked = sorted(difference.readings, key=mass, reverse=True)[:OPTIONS]
    kept = [reading for place, reading in enumerate(ranked) if place < OPTIONS - 1 or mass(reading) >= MINOR]
    return tuple(sorted(kept, key=lambda reading: not reading.members))


@dataclass(frozen=True, slots=True)
class Errors:
    """The probability of a wrong answer, in [0, 1], without a question and after it is answered."""

    before: float
    after: float

    @property
    def gain(self) -> float:
        """By how much the answer lowers it."""
        return self.before - self.after


def errors(difference: Difference, probability: Sequence[float]) -> Errors:
    """Without a question about `difference`, and after its answer, which may be misread."""
    readings = offered(difference, probability)
    written = 1 - sum(each.share for each in difference.readings)
    right = written * right_after([each.members for each in readings], probability)
    right += REWRITTEN * sum(each.share for each in readings)
    return Errors(1 - written * max(probability), 1 - (1 - misread(difference)) * right)


def unread(
    candidates: Sequence[Candidate], said: Said, links: Mapping[str, SchemaLinks]
) -> tuple[Difference, ...]:
    """For each branching point of `links`, by database, elements that candidates read against those that none does."""
    reads = [
        elements_read(each.columns, each.tables).union(*(fact.columns for fact in facts))
        for each, facts in zip(candidates, said, strict=True)
    ]
    found = []
    for database, linked in links.items():
        members = [place for place, each in enumerate(candidates) if each.database == database]
        for point in linked.branching:
            readings = _readings(point, linked, {place: reads[place] for place in members})
            if len({bool(each.members) for each in readings}) > 1:
                whole = point.element[2] == WHOLE_TABLE
                example = Fact(Matter.TABLE if whole else Matter.OUTPUT, (point.element,))
                aspect = Aspect.TABLE if whole else Aspect.COLUMN
                found.append(Difference(aspect, example.matter, readings, example))
    return tuple(found)


def _readings(
    point: BranchingPoint, links: SchemaLinks, reads: Mapping[int, frozenset[ColumnKey]]
) -> tuple[Reading, ...]:
    """What each element of the point is read by; shares are the linker's probabilities among its elements."""
    family = dict.fromkeys((point.element, *point.alternatives))
    total = sum(links.probabilities.get(each, 0.0) for each in family) or 1.0
    known = frozenset(each for read in reads.values() for each in read)
    readings = []
    for each in family:
        members = tuple(place for place, read in reads.items() if read.intersection(family) == {each})
        share = 0.0 if each in known else links.probabilities.get(each, 0.0) / total
        if members or share:
            readings.append(Reading((each,), members, frozenset({each}), share))
    return tuple(readings)
