"""In what candidates differ: each difference parts them by what they say on one matter, the smallest first."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

from engine.statement.expressions import Literal, Part
from engine.statement.facts import Fact, Matter, connection
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import ColumnKey, TableKey


class Aspect(IntEnum):
    """The size of a difference, the smallest first."""

    TABLE = 0
    """One table in place of another, and the same said about it."""
    COLUMN = 1
    """One column in place of another."""
    VALUE = 2
    """One value in place of another."""
    WAY = 3
    """The same columns and values, compared, computed or sorted in another way."""
    MATTER = 4
    """What is said on a matter as a whole."""
    STATEMENT = 5
    """The statements as wholes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What some candidates say. `members`: their positions; none for what no candidate says yet.

    `said`: of a table, column or value the parts; of a way its pattern; else the facts, of the matter or those that not
    all candidates have. `elements`: what `said` names in their statements. `share` in [0, 1]: the probability of a
    reading without members against all that are offered with it.
    """

    said: tuple[Part, ...] | tuple[Fact, ...]
    members: tuple[int, ...]
    elements: frozenset[ColumnKey] = frozenset()
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """Readings without a common member. `example`: a fact that differs, at `place` of a column or value."""

    aspect: Aspect
    matter: Matter | None
    readings: tuple[Reading, ...]
    example: Fact | None = None
    place: int = 0


COLUMN_MARK, LITERAL_MARK = "\ue000", "\ue001"
"""Where a pattern of `Aspect.WAY` has a column or a value of the example."""

_MARKS: Mapping[type, str] = {tuple: COLUMN_MARK, Literal: LITERAL_MARK}


@dataclass(frozen=True, slots=True)
class _Opening:
    """A part of a fact that may differ: `frame` is what may not, `site` where alternatives to it are sought."""

    part: Part
    frame: Hashable
    site: Hashable
    fact: Fact
    place: int


Said = Sequence[tuple[Fact, ...]]
"""The facts of each candidate."""


def differences(said: Said) -> tuple[Difference, ...]:
    """All differences, each partition of the candidates once, by its smallest aspect."""
    standing_in = _stand_ins(said)
    alike = [tuple(dict.fromkeys(_renamed(fact, standing_in) for fact in each)) for each in said]
    found = list(_tables(said, standing_in))
    for aspect in (Aspect.COLUMN, Aspect.VALUE, Aspect.WAY):
        found += _exchanged(alike, aspect)
    found += [each for matter in Matter if (each := _on_matter(alike, matter)) is not None]
    if (whole := _on_statements(said)) is not None:
        found.append(whole)
    kept: dict[frozenset[tuple[int, ...]], Difference] = {}
    for each in sorted(found, key=lambda one: one.aspect):
        kept.setdefault(frozenset(reading.members for reading in each.readings), each)
    return tuple(_with_elements(each, said, standing_in) for each in kept.values())


def _stand_ins(said: Said) -> dict[TableKey, TableKey]:
    """Tables of which one candidate says what another says of the other, each by the first of its kind."""
    near: dict[Part, set[Part]] = {}
    for one, other in combinations(said, 2):
        mine, theirs = (
            [fact for fact in these if fact.matter is Matter.TABLE and fact not in those]
            for these, those in ((one, other), (other, one))
        )
        if len(mine) != 1 or len(theirs) != 1 or one[:1] != other[:1]:
            continue
        this, that = mine[0].columns[0], theirs[0].columns[0]
        exchanged = {_renamed(fact, {this[:2]: that[:2]}) for fact in one if _mentions(fact, this[:2])}
        if exchanged == {fact for fact in other if _mentions(fact, that[:2])}:
            _join(near, this, that)
    return {part[:2]: min(kind)[:2] for kind in map(_elements, _components(near)) for part in kind}


def _elements(parts: Iterable[Part | Fact]) -> frozenset[ColumnKey]:
    return frozenset(part for part in parts if isinstance(part, tuple))


def _mentions(fact: Fact, table: TableKey) -> bool:
    return any(column[:2] == table for column in fact.columns)


def _renamed(fact: Fact, tables: Mapping[TableKey, TableKey]) -> Fact:
    if not any(column[:2] in tables for column in fact.columns):
        return fact
    parts = tuple(_canonical(part, tables) if isinstance(part, tuple) else part for part in fact.parts)
    if fact.matter is Matter.CONNECTION and len(fact.columns) == len(parts) - 1:
        return connection(parts[:1], parts[-1:])
    return Fact(fact.matter, parts)


def _canonical(column: ColumnKey, tables: Mapping[TableKey, TableKey]) -> ColumnKey:
    return (*tables.get(column[:2], column[:2]), column[2])


def _tables(said: Said, standing_in: Mapping[TableKey, TableKey]) -> Iterator[Difference]:
    for kind in dict.fromkeys(standing_in.values()):
        keys = [
            tuple(
                fact.parts[0]
                for fact in each
                if fact.matter is Matter.TABLE and standing_in.get(fact.columns[0][:2]) == kind
            )
            for each in said
        ]
        readings = _readings(keys)
        if len(readings) > 1:
            yield Difference(
                Aspect.TABLE, Matter.TABLE, readings, Fact(Matter.TABLE, ((*kind, WHOLE_TABLE),))
            )


def _exchanged(said: Said, aspect: Aspect) -> Iterator[Difference]:
    """The differences that come of exchanging one part of a fact, of any two candidates."""
    openings = [[each for fact in facts for each in _openings(fact, aspect)] for facts in said]
    sites: dict[Hashable, dict[Part, set[Part]]] = {}
    examples: dict[Hashable, _Opening] = {}
    for one, other in combinations(range(len(said)), 2):
        for mine, theirs in _counterparts(
            [each for each in openings[one] if each.fact not in said[other]],
            [each for each in openings[other] if each.fact not in said[one]],
        ):
            _join(sites.setdefault(mine.site, {}), mine.part, theirs.part)
            examples.setdefault(mine.site, mine)
    for site, near in sites.items():
        for alternatives in _components(near):
            keys = [
                tuple(
                    dict.fromkeys(
                        each.part for each in own if each.site == site and each.part in alternatives
                    )
                )
                for own in openings
            ]
            readings, example = _readings(keys), examples[site]
            # Who says both says more than one thing about the matter: as outputs that is an answer of its own.
            single = all(len(each.said) == 1 for each in readings)
            if len(readings) > 1 and (single or example.fact.matter is Matter.OUTPUT):
                yield Difference(aspect, example.fact.matter, readings, example.fact, example.place)


def _openings(fact: Fact, aspect: Aspect) -> Iterator[_Opening]:
    if fact.matter in (Matter.DATABASE, Matter.TABLE, Matter.CONNECTION):
        return
    if aspect is Aspect.WAY:
        if fact.columns or fact.literals:
            named = (fact.matter, fact.columns, fact.literals)
            yield _Opening(_pattern(fact), named, named, fact, 0)
        return
    kind: type = tuple if aspect is Aspect.COLUMN else Literal
    for place, part in enumerate(fact.parts):
        if isinstance(part, kind) and part not in fact.parts[:place]:
            frame = (fact.matter, tuple(_MARKS[kind] if each == part else each for each in fact.parts))
            yield _Opening(part, frame, (fact.matter, _pattern(fact), place), fact, place)


def _counterparts(
    mine: Sequence[_Opening], theirs: Sequence[_Opening]
) -> Iterator[tuple[_Opening, _Opening]]:
    """What stands in the same frame in both; outputs have an order, of anything else only a single one is sure."""
    framed: dict[Hashable, tuple[list[_Opening], list[_Opening]]] = {}
    for side, openings in enumerate((mine, theirs)):
        for each in openings:
            framed.setdefault(each.frame, ([], []))[side].append(each)
    for these, those in framed.values():
        if len(these) == len(those) and (len(these) == 1 or these[0].fact.matter is Matter.OUTPUT):
            yield from zip(these, those, strict=True)


def _join(near: dict[Part, set[Part]], this: Part, that: Part) -> None:
    near.setdefault(this, {this}).add(that)
    near.setdefault(that, {that}).add(this)


def _components(near: Mapping[Part, set[Part]]) -> Iterator[frozenset[Part]]:
    left = dict.fromkeys(near)
    while left:
        reached: set[Part] = set()
        front = {next(iter(left))}
        while front:
            reached |= front
            front = {each for part in front for each in near[part]} - reached
        for part in reached:
            del left[part]
        yield frozenset(reached)


def _on_matter(said: Said, matter: Matter) -> Difference | None:
    keys = [tuple(fact for fact in each if fact.matter is matter) for each in said]
    readings = _readings(keys, silent=_understood(said))
    return Difference(Aspect.MATTER, matter, readings) if len(readings) > 1 else None


def _on_statements(said: Said) -> Difference | None:
    understood = _understood(said)
    common = frozenset[Fact]().union(*said).intersection(*(said[each] for each in understood))
    keys = [tuple(fact for fact in each if fact not in common) for each in said]
    readings = _readings(keys, silent=understood)
    return Difference(Aspect.STATEMENT, None, readings) if len(readings) > 1 else None


def _understood(said: Said) -> frozenset[int]:
    """The candidates that say more than their database."""
    return frozenset(place for place, each in enumerate(said) if len(each) > 1)


def _readings(
    keys: Sequence[tuple[Part, ...]] | Sequence[tuple[Fact, ...]], silent: Container[int] = ()
) -> tuple[Reading, ...]:
    """Candidates by what they say, in whatever order. `silent`: those for whom saying nothing is a reading as well."""
    groups: dict[frozenset[Hashable], list[int]] = {}
    for position, key in enumerate(keys):
        if key or position in silent:
            groups.setdefault(frozenset(key), []).append(position)
    return tuple(Reading(keys[members[0]], tuple(members)) for members in groups.values())


def _with_elements(
    difference: Difference, said: Said, standing_in: Mapping[TableKey, TableKey]
) -> Difference:
    readings = []
    for reading in difference.readings:
        named = {column for each in reading.said if isinstance(each, Fact) for column in each.columns}
        named |= _elements(reading.said)
        found = frozenset(
            column
            for member in reading.members
            for fact in said[member]
            for column in fact.columns
            if column in named or _canonical(column, standing_in) in named
        )
        readings.append(Reading(reading.said, reading.members, found))
    return Difference(
        difference.aspect, difference.matter, tuple(readings), difference.example, difference.place
    )


def _pattern(fact: Fact) -> str:
    return " ".join(part if isinstance(part, str) else _MARKS[type(part)] for part in fact.parts)
