"""The schema graph of one database (DBCopilot §4.1), as an asker sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import permutations

from engine.text.tokens import identifier_words
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import Snapshot, Table

SIBLINGS = 48
"""Tables that share one column and are linked pairwise, at most: more are linked to the referenced table alone."""

GENERIC = frozenset(
    "id code no nr num number key uuid guid ref name type title date time year status value".split()  # noqa: SIM905
)
"""Names of one of these words alone link no tables."""

_KEY_ENDINGS = frozenset("id code no nr num number key uuid guid ref isbn ssn".split())  # noqa: SIM905  readable so
_NUMBERS = frozenset(("smallint", "integer", "bigint", "numeric", "int", "int4", "int8"))
_TEXTS = frozenset(("text", "character varying", "character", "varchar", "char", "citext", "bpchar"))


class EdgeKind(IntEnum):
    """The kind of a link; of several the lowest holds."""

    FOREIGN_PRIMARY = 0
    """The first has a foreign key to the second."""
    PRIMARY_FOREIGN = 1
    """The second has a foreign key to the first."""
    FOREIGN_FOREIGN = 2
    """Both have a foreign key to the same columns of a third, so they join without it."""
    IMPLIED = 3
    """By names and types, without a foreign key."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link to table number `table`: `columns` here equal `other_columns` there, pairwise."""

    table: int
    kind: EdgeKind
    columns: tuple[str, ...]
    other_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """Tables by number; `edges[t]` leave table t, none to itself or twice to the same, each with its opposite."""

    edges: tuple[tuple[Edge, ...], ...]

    @staticmethod
    def of(snapshot: Snapshot) -> Graph:
        """The graph of a snapshot; linear in its columns, and in its foreign keys times `SIBLINGS` at most."""
        best: dict[tuple[int, int], Edge] = {}
        for source, edge in _links(snapshot):
            held = best.get((source, edge.table))
            if source != edge.table and (held is None or edge.kind < held.kind):
                best[source, edge.table] = edge
        leaving: list[list[Edge]] = [[] for _ in snapshot.tables]
        for (source, _), edge in sorted(best.items(), key=lambda item: item[0]):
            leaving[source].append(edge)
        return Graph(tuple(map(tuple, leaving)))

    def __len__(self) -> int:
        """The number of tables."""
        return len(self.edges)

    def neighbours(self, table: int) -> tuple[int, ...]:
        """The tables linked to `table`, ascending."""
        return tuple(edge.table for edge in self.edges[table])

    def connected(self, tables: Collection[int]) -> bool:
        """Whether every one of `tables` can be reached from any other within them; true of none and of one."""
        left = set(tables)
        stack = [left.pop()] if left else []
        while stack:
            found = left.intersection(self.neighbours(stack.pop()))
            left -= found
            stack.extend(found)
        return not left


def _links(snapshot: Snapshot) -> Iterator[tuple[int, Edge]]:
    yield from _references(snapshot)
    yield from _shared_names(snapshot)
    yield from _named_after(snapshot)


def _references(snapshot: Snapshot) -> Iterator[tuple[int, Edge]]:
    """Foreign keys both ways, and pairs of tables with one to the same columns."""
    references = foreign_key_graph(snapshot)
    numbers = {table.key: number for number, table in enumerate(snapshot.tables)}
    referrers: dict[tuple[int, tuple[str, ...]], dict[int, tuple[str, ...]]] = defaultdict(dict)
    for key, number in numbers.items():
        for edge in references.edges(key):
            other = numbers.get(edge.other)
            if other is None:
                continue
            kind = EdgeKind.FOREIGN_PRIMARY if edge.referring else EdgeKind.PRIMARY_FOREIGN
            yield number, Edge(other, kind, edge.columns, edge.other_columns)
            if edge.referring:
                referrers[other, edge.other_columns].setdefault(number, edge.columns)
    for sharing in referrers.values():
        yield from _pairs(sharing, EdgeKind.FOREIGN_FOREIGN)


def _pairs(sharing: dict[int, tuple[str, ...]], kind: EdgeKind) -> Iterator[tuple[int, Edge]]:
    if len(sharing) <= SIBLINGS:
        for one, other in permutations(sharing, 2):
            yield one, Edge(other, kind, sharing[one], sharing[other])


def _shared_names(snapshot: Snapshot) -> Iterator[tuple[int, Edge]]:
    """Columns of one name and kind of type that is a key in a table, or is named as one."""
    groups: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for number, table in enumerate(snapshot.tables):
        for column in table.columns:
            groups[column.name.casefold(), family(column.type)][number] = column.name
    for (name, _), holders in groups.items():
        words = identifier_words(name) if len(holders) > 1 else ()
        if not words or (len(words) == 1 and words[0] in GENERIC):
            continue
        keyed = [n for n, column in holders.items() if (column,) in _keys(snapshot.tables[n])]
        if keyed or named_as_key(name):
            yield from _pairs({n: (column,) for n, column in holders.items()}, EdgeKind.IMPLIED)
            if len(holders) > SIBLINGS and len(keyed) == 1:
                yield from _star(keyed[0], holders)


def _star(centre: int, holders: dict[int, str]) -> Iterator[tuple[int, Edge]]:
    for number, column in holders.items():
        yield centre, Edge(number, EdgeKind.IMPLIED, (holders[centre],), (column,))
        yield number, Edge(centre, EdgeKind.IMPLIED, (column,), (holders[centre],))


def _named_after(snapshot: Snapshot) -> Iterator[tuple[int, Edge]]:
    """`singer_id` or `singer` beside a table singer whose key is `id`."""
    targets: dict[tuple[str, ...], list[tuple[int, str, str]]] = defaultdict(list)
    for number, table in enumerate(snapshot.tables):
        if len(table.primary_key) == 1 and identifier_words(table.primary_key[0])[-1:] == ("id",):
            kind = next((family(c.type) for c in table.columns if c.name == table.primary_key[0]), "")
            targets[identifier_words(table.name)].append((number, table.primary_key[0], kind))
    if not targets:
        return
    for number, table in enumerate(snapshot.tables):
        for column in table.columns:
            words = identifier_words(column.name)
            stem = words[:-1] if words[-1:] == ("id",) else words
            for target, key, kind in targets.get(stem, ()):
                if kind == family(column.type):
                    yield number, Edge(target, EdgeKind.IMPLIED, (column.name,), (key,))
                    yield target, Edge(number, EdgeKind.IMPLIED, (key,), (column.name,))


def named_as_key(name: str) -> bool:
    """Whether a column of this name is named as keys are."""
    return not _KEY_ENDINGS.isdisjoint(identifier_words(name)[-1:]) or name.endswith("id")


def _keys(table: Table) -> tuple[tuple[str, ...], ...]:
    return (table.primary_key, *table.unique_keys)


def family(type_name: str) -> str:
    """The kind of a type: comparable types have one, as `varchar(20)` and `text`."""
    bare = type_name.split("(", 1)[0].strip().casefold()
    if bare in _NUMBERS:
        return "number"
    return "text" if bare in _TEXTS else bare
