"""In what candidates differ: each difference parts them by what they say on one matter.

The smallest differences are found first: two statements that say the same but for one column, one value or one way of
computing are told apart by that. A matter as a whole, and the statements as wholes, are what remains.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

from engine.core.candidate import Candidate
from engine.dialogue.expressions import Literal, Part
from engine.dialogue.facts import Fact, Matter, facts
from schema_catalog.types import Snapshot


class Aspect(IntEnum):
    """The size of a difference, the smallest first."""

    COLUMN = 0
    """One column in place of another."""
    TABLE = 1
    """One table in place of another."""
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
    """What some candidates say. `members`: their positions.

    `said`: of a column, table or value the parts; of a way its pattern; else the facts, of the matter or those that not
    all candidates have.
    """

    said: tuple[Part, ...] | tuple[Fact, ...]
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Readings without a common member; who says nothing here is in none. `example`: a fact that differs."""

    aspect: Aspect
    matter: Matter | None
    example: Fact | None
    readings: tuple[Reading, ...]


COLUMN_MARK, LITERAL_MARK = "\ue000", "\ue001"
"""Where a pattern of `Aspect.WAY` has a column or a value of the example."""

_MARKS: Mapping[type, str] = {tuple: COLUMN_MARK, Literal: LITERAL_MARK}

_Frame = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class _Exchange:
    """How facts are compared: `what` may differ, `frame` may not; `place` is where alternatives are sought."""

    aspect: Aspect
    what: Callable[[Fact], tuple[Part, ...]]
    frame: Callable[[Fact], _Frame]
    place: Callable[[Fact], _Frame]


def differences(candidates: Sequence[Candidate], snapshots: Mapping[str, Snapshot]) -> tuple[Difference, ...]:
    """All differences, each partition of the candidates once, by its smallest aspect. `snapshots`: by database."""
    said = [facts(each.sql, each.database, snapshots.get(each.database)) for each in candidates]
    found = [each for exchange in _EXCHANGES for each in _exchanged(said, exchange)]
    found += [each for matter in Matter if (each := _matter(said, matter)) is not None]
    if (whole := _statements(said)) is not None:
        found.append(whole)
    kept: dict[frozenset[tuple[int, ...]], Difference] = {}
    for each in sorted(found, key=_size):
        kept.setdefault(frozenset(reading.members for reading in each.readings), each)
    return tuple(kept.values())


def _size(difference: Difference) -> tuple[int, int]:
    """By aspect; columns of one name behind the tables that hold them, if those stand in for each other."""
    if difference.aspect is not Aspect.COLUMN:
        return difference.aspect, 0
    names = {part[2] for reading in difference.readings for part in reading.said if isinstance(part, tuple)}
    return (Aspect.TABLE, 1) if len(names) == 1 else (Aspect.COLUMN, 0)


def _exchanged(said: Sequence[Sequence[Fact]], exchange: _Exchange) -> Iterator[Difference]:
    """The differences that come of exchanging one thing, of any two candidates."""
    places: dict[_Frame, dict[Part, set[Part]]] = {}
    examples: dict[_Frame, Fact] = {}
    for one, other in combinations(said, 2):
        for fact, counterpart in _counterparts(one, other, exchange):
            swapped = {
                pair
                for pair in zip(exchange.what(fact), exchange.what(counterpart), strict=True)
                if pair[0] != pair[1]
            }
            if len(swapped) == 1:
                place, (this, that) = exchange.place(fact), next(iter(swapped))
                near = places.setdefault(place, {})
                near.setdefault(this, {this}).add(that)
                near.setdefault(that, {that}).add(this)
                examples.setdefault(place, fact)
    for place, near in places.items():
        for alternatives in _components(near):
            readings = _readings(
                [
                    tuple(
                        dict.fromkeys(
                            part
                            for fact in each
                            if exchange.place(fact) == place
                            for part in exchange.what(fact)
                            if part in alternatives
                        )
                    )
                    for each in said
                ]
            )
            if len(readings) > 1:
                yield Difference(exchange.aspect, examples[place].matter, examples[place], readings)


def _counterparts(
    one: Sequence[Fact], other: Sequence[Fact], exchange: _Exchange
) -> Iterator[tuple[Fact, Fact]]:
    """Facts of one statement and those that stand in their places in the other one.

    Outputs have an order; of anything else only a single fact has a counterpart.
    """
    mine, theirs = _framed(one, set(other), exchange), _framed(other, set(one), exchange)
    for frame, these in mine.items():
        those = theirs.get(frame, [])
        if len(these) == len(those) and (len(these) == 1 or these[0].matter is Matter.OUTPUT):
            yield from zip(these, those, strict=True)


def _framed(given: Iterable[Fact], common: set[Fact], exchange: _Exchange) -> dict[_Frame, list[Fact]]:
    framed: dict[_Frame, list[Fact]] = {}
    for fact in given:
        if fact not in common and exchange.what(fact) and _applies(fact, exchange.aspect):
            framed.setdefault(exchange.frame(fact), []).append(fact)
    return framed


def _applies(fact: Fact, aspect: Aspect) -> bool:
    if aspect in (Aspect.COLUMN, Aspect.TABLE):
        return (fact.matter is Matter.TABLE) == (
            aspect is Aspect.TABLE
        ) and fact.matter is not Matter.CONNECTION
    return aspect is Aspect.VALUE or bool(fact.columns or fact.literals)


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


def _matter(said: Sequence[Sequence[Fact]], matter: Matter) -> Difference | None:
    keys = [tuple(fact for fact in each if fact.matter is matter) for each in said]
    readings = _readings(keys, silent=True)
    differing = [fact for reading in readings for fact in reading.said if isinstance(fact, Fact)]
    if len(readings) < 2:  # noqa: PLR2004  one reading is no difference
        return None
    return Difference(Aspect.MATTER, matter, differing[0], readings)


def _statements(said: Sequence[Sequence[Fact]]) -> Difference | None:
    common = frozenset(said[0]).intersection(*said[1:]) if said else frozenset()
    readings = _readings([tuple(fact for fact in each if fact not in common) for each in said], silent=True)
    return None if len(readings) < 2 else Difference(Aspect.STATEMENT, None, None, readings)  # noqa: PLR2004  as above


def _readings(
    keys: Sequence[tuple[Part, ...]] | Sequence[tuple[Fact, ...]], *, silent: bool = False
) -> tuple[Reading, ...]:
    """Candidates by what they say, whatever its order. `silent`: saying nothing is a reading as well."""
    groups: dict[frozenset[Hashable], list[int]] = {}
    for position, key in enumerate(keys):
        if key or silent:
            groups.setdefault(frozenset(key), []).append(position)
    return tuple(Reading(keys[members[0]], tuple(members)) for members in groups.values())


def _shape(fact: Fact) -> str:
    return "".join(part if isinstance(part, str) else _MARKS[type(part)] for part in fact.parts)


def _pattern(fact: Fact) -> str:
    return " ".join(part if isinstance(part, str) else _MARKS[type(part)] for part in fact.parts)


def _but(fact: Fact, kind: type) -> tuple[Part, ...]:
    return tuple(_MARKS[kind] if isinstance(part, kind) else part for part in fact.parts)


_EXCHANGES = (
    *(
        _Exchange(
            aspect,
            lambda fact: fact.columns,
            lambda fact: (fact.matter, *_but(fact, tuple)),
            lambda fact: (fact.matter, _shape(fact)),
        )
        for aspect in (Aspect.COLUMN, Aspect.TABLE)
    ),
    _Exchange(
        Aspect.VALUE,
        lambda fact: fact.literals,
        lambda fact: (fact.matter, *_but(fact, Literal)),
        lambda fact: (fact.matter, _shape(fact)),
    ),
    _Exchange(
        Aspect.WAY,
        lambda fact: (_pattern(fact),),
        lambda fact: (fact.matter, fact.columns, fact.literals),
        lambda fact: (fact.matter, fact.columns, fact.literals),
    ),
)
