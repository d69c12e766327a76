"""A picture of a schema: tables in layers below what they refer to, as numbers for a template to draw.

Owns the layout alone: layers by the longest way along foreign keys, each ordered by the mean place of what its tables
refer to (Sugiyama, Tagawa and Toda 1981, steps 2 and 3). Tables that nothing joins stand in a grid below. A join that
passes a row goes through a gap between its boxes, in a lane of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

MOST = 150
"""Tables that are drawn: those with the most joins."""

WIDTH, HEIGHT = 168, 48
"""Of a box, in pixels."""

_ACROSS, _DOWN, _MARGIN = 36, 64, 24
_ROW = 6
_LETTERS, _SMALL_LETTERS = 20, 26
"""Characters of a box's two lines."""

Name = tuple[str, str]
"""(schema, table)."""


class Origin(StrEnum):
    """Who says that a table refers to another: the database, a DBA, or nobody yet."""

    KEY = "key"
    DECLARED = "declared"
    PROPOSED = "proposed"


@dataclass(frozen=True, slots=True)
class Join:
    """A table refers to another. `words`: by which columns."""

    table: Name
    referred: Name
    words: str
    origin: Origin = Origin.KEY


@dataclass(frozen=True, slots=True)
class Box:
    """A table, its upper left corner. `label` fits into the box, as `noted` cuts a line below it."""

    name: Name
    label: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """A join as an SVG path."""

    path: str
    words: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Graph:
    """The picture. `left_out`: tables that are not drawn."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    left_out: int


def schema_graph(tables: Sequence[Name], joins: Sequence[Join]) -> Graph:
    """The picture of `tables` and of the joins among them."""
    degree: dict[Name, int] = defaultdict(int)
    for join in joins:
        degree[join.table] += 1
        degree[join.referred] += 1
    drawn = sorted(sorted(tables, key=lambda name: -degree[name])[:MOST])
    inside = [join for join in joins if join.table in set(drawn) and join.referred in set(drawn)]
    refers = {name: {j.referred for j in inside if j.table == name} - {name} for name in drawn}
    joined = {name for name in drawn if refers[name]} | set().union(*refers.values())
    layers = _ordered(_layers({name: refers[name] for name in drawn if name in joined}), refers)
    rows = [row for layer in layers for row in _cut(layer)] + list(
        _cut([n for n in drawn if n not in joined])
    )
    boxes = {box.name: box for y, row in enumerate(rows) for box in _placed(row, y, max(map(len, rows)))}
    most = max((len(row) for row in rows), default=0)
    width = 2 * _MARGIN + most * (WIDTH + _ACROSS) - _ACROSS
    return Graph(
        width,
        2 * _MARGIN + len(rows) * (HEIGHT + _DOWN) - _DOWN,
        tuple(boxes.values()),
        _lines(inside, boxes, width),
        len(tables) - len(drawn),
    )


def _layers(refers: Mapping[Name, set[Name]]) -> list[list[Name]]:
    """Tables by the longest way to one that refers to nothing; of a circle the one that lacks least goes first."""
    depth: dict[Name, int] = {}
    left = dict(refers)
    while left:
        ready = [name for name, others in left.items() if not others - depth.keys()]
        if not ready:
            ready = [min(left, key=lambda name: (len(left[name] - depth.keys()), name))]
        for name in ready:
            depth[name] = max((depth[each] + 1 for each in left[name] & depth.keys()), default=0)
        for name in ready:
            del left[name]
    layers: dict[int, list[Name]] = defaultdict(list)
    for name in sorted(depth):
        layers[depth[name]].append(name)
    return [layers[number] for number in sorted(layers)]


def _ordered(layers: list[list[Name]], refers: Mapping[Name, set[Name]]) -> list[list[Name]]:
    place: dict[Name, float] = {}
    done = []
    for layer in layers:
        means = {
            name: sum(place.get(each, 0.0) for each in refers[name]) / max(len(refers[name]), 1)
            for name in layer
        }
        row = sorted(layer, key=lambda name: (means[name], name))
        place |= {name: position / len(row) for position, name in enumerate(row)}
        done.append(row)
    return done


def _cut(layer: Sequence[Name]) -> Iterable[Sequence[Name]]:
    return (layer[start : start + _ROW] for start in range(0, len(layer), _ROW))


def _placed(row: Sequence[Name], y: int, most: int) -> Iterable[Box]:
    indent = (most - len(row)) * (WIDTH + _ACROSS) // 2
    for x, name in enumerate(row):
        yield Box(
            name,
            _cut_to(".".join(name[name[0] == "public" :]), _LETTERS),
            _MARGIN + indent + x * (WIDTH + _ACROSS),
            _MARGIN + y * (HEIGHT + _DOWN),
        )


def noted(text: str) -> str:
    """As much of a description as fits below a table's name."""
    return _cut_to(text, _SMALL_LETTERS)


def _cut_to(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _lines(joins: Sequence[Join], boxes: Mapping[Name, Box], width: int) -> tuple[Line, ...]:
    """The joins as paths that touch no box but their own two."""
    lanes, ports = _lanes(joins, boxes, width), _ports(joins, boxes)
    lines = []
    for number, join in enumerate(joins):
        one, other = boxes[join.table], boxes[join.referred]
        start, end = ports.get((number, 0), 0), ports.get((number, 1), 0)
        if one is other:
            path = f"M{one.x + WIDTH} {one.y + 10} c16 -4 16 20 0 16"
        elif one.y == other.y:
            rise = one.y - min(_DOWN, _MARGIN) - 6
            path = f"M{start} {one.y} C{start} {rise} {end} {rise} {end} {one.y}"
        else:
            path = _through(start, end, (one.y, other.y), lanes[number])
        lines.append(Line(path, join.words, join.origin))
    return tuple(lines)


def _through(start: int, end: int, rows: tuple[int, int], lanes: Sequence[tuple[int, int]]) -> str:
    """From the row at `rows[0]` to that at `rows[1]`; `lanes`: (row, x) of those between, on the way."""
    up = rows[0] > rows[1]
    x, y = start, rows[0] if up else rows[0] + HEIGHT
    path = f"M{x} {y}"
    for row, to in (*lanes, (rows[1], end)):
        near, far = (row + HEIGHT, row) if up else (row, row + HEIGHT)
        middle = (y + near) // 2
        path += f" C{x} {middle} {to} {middle} {to} {near}"
        x, y = to, near
        if row != rows[1]:
            path, y = f"{path} V{far}", far
    return path


def _lanes(
    joins: Sequence[Join], boxes: Mapping[Name, Box], width: int
) -> Mapping[int, Sequence[tuple[int, int]]]:
    """Of each join, by its number, (row, x) for the rows that it passes: in the gap nearest to its straight line."""
    across: dict[int, list[int]] = defaultdict(list)
    for box in boxes.values():
        across[box.y].append(box.x)
    taken: dict[tuple[int, int, int], list[tuple[float, int]]] = defaultdict(list)
    for number, join in enumerate(joins):
        one, other = boxes[join.table], boxes[join.referred]
        for y, begins in across.items():
            if min(one.y, other.y) < y < max(one.y, other.y):
                straight = one.x + WIDTH / 2 + (other.x - one.x) * (y - one.y) / (other.y - one.y)
                gap = min(_gaps(begins, width), key=lambda gap: abs(sum(gap) / 2 - straight))
                taken[y, *gap].append((straight, number))
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (y, left, right), passing in taken.items():
        for place, (_, number) in enumerate(sorted(passing), 1):
            found[number].append((y, left + (right - left) * place // (len(passing) + 1)))
    return defaultdict(
        list,
        {
            n: sorted(row, reverse=boxes[joins[n].table].y > boxes[joins[n].referred].y)
            for n, row in found.items()
        },
    )


def _gaps(across: Sequence[int], width: int) -> Iterable[tuple[int, int]]:
    """(left, right) of what is free in a row whose boxes begin at `across`."""
    edges = sorted(across)
    yield (max(0, edges[0] - WIDTH // 2), edges[0])
    for one, other in pairwise(edges):
        yield (one + WIDTH, other)
    yield (edges[-1] + WIDTH, min(width, edges[-1] + WIDTH + WIDTH // 2))


def _ports(joins: Sequence[Join], boxes: Mapping[Name, Box]) -> Mapping[tuple[int, int], int]:
    """Where both ends of each join are, by its number and 0 or 1: x, side by side on an edge, in the others' order."""
    ends: dict[tuple[Name, bool], list[tuple[int, int, int]]] = defaultdict(list)
    for number, join in enumerate(joins):
        one, other = boxes[join.table], boxes[join.referred]
        if one is not other:
            ends[join.table, one.y >= other.y].append((other.x, number, 0))
            ends[join.referred, other.y >= one.y].append((one.x, number, 1))
    return {
        (number, end): boxes[name].x + WIDTH * place // (len(found) + 1)
        for (name, _), found in ends.items()
        for place, (_, number, end) in enumerate(sorted(found), 1)
    }
