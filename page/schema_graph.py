"""A picture of a schema: tables in layers below what they refer to, as numbers for a template to draw.

Owns the layout alone: layers by the longest way along foreign keys, each ordered by the mean place of what its tables
refer to (Sugiyama, Tagawa and Toda 1981, steps 2 and 3). Tables that nothing joins stand in a grid below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST = 150
"""Tables that are drawn: those with the most joins."""

WIDTH, HEIGHT = 168, 36
"""Of a box, in pixels."""

_ACROSS, _DOWN, _MARGIN = 24, 56, 12
_ROW = 6
_LETTERS = 21

Name = tuple[str, str]
"""(schema, table)."""


@dataclass(frozen=True, slots=True)
class Join:
    """A table refers to another. `words`: by which columns; `declared`: by a DBA, not by a key."""

    table: Name
    referred: Name
    words: str
    declared: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A table, its upper left corner. `label` fits into the box."""

    name: Name
    label: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """A join as an SVG path."""

    path: str
    words: str
    declared: bool


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
    return Graph(
        2 * _MARGIN + most * (WIDTH + _ACROSS) - _ACROSS,
        2 * _MARGIN + len(rows) * (HEIGHT + _DOWN) - _DOWN,
        tuple(boxes.values()),
        tuple(_line(join, boxes) for join in inside),
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
        label = name[1] if len(name[1]) <= _LETTERS else name[1][: _LETTERS - 1] + "…"
        yield Box(name, label, _MARGIN + indent + x * (WIDTH + _ACROSS), _MARGIN + y * (HEIGHT + _DOWN))


def _line(join: Join, boxes: Mapping[Name, Box]) -> Line:
    one, other = boxes[join.table], boxes[join.referred]
    x, to = one.x + WIDTH // 2, other.x + WIDTH // 2
    if one is other:
        side = one.x + WIDTH
        path = f"M{side} {one.y + 10} c16 -4 16 20 0 16"
    elif one.y > other.y:
        top, bottom = other.y + HEIGHT, one.y
        path = f"M{x} {bottom} C{x} {bottom - 28} {to} {top + 28} {to} {top}"
    else:
        path = f"M{x} {one.y + HEIGHT} C{x} {one.y + HEIGHT + 44} {to} {other.y - 44} {to} {other.y}"
    return Line(path, join.words, join.declared)
