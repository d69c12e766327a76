"""Ways to search for sets of tables with one trained network, so that the decoder's parts can be compared.

Owns what the engine's own search is compared with: other widths, no constraint, one beam over all databases, and the
penalty of diverse beam search (Vijayakumar et al., 2016; DBCopilot §4.4) within a database. The steps are the engine's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from time import process_time

import numpy as np

from engine.models.beams import Beams, Numbers, StepWeights, Vectors, begin
from engine.models.network import NOWHERE, Ground, Survey
from engine.routing.decoder import BeamSettings, Found, search
from engine.routing.graph import Edge, EdgeKind

PENALTY = 1.0
"""Taken from a table's log-probability for each beam of an earlier group that chose it at the same step."""

GROUP = 2
"""Beams of a group under the penalty; the groups together are as wide as the search."""

_EXACT = BeamSettings(width=8)


class Beam(StrEnum):
    """What competes for a place in the beam."""

    GROUPED = "grouped"
    """Sets of one database with each other: the engine's search."""
    PLAIN = "plain"
    """Sets of all databases."""
    PENALISED = "penalised"
    """Sets of one group within a database, made to differ from the groups before."""


@dataclass(frozen=True, slots=True)
class Search:
    """`width`: beams for each database, or for all under `Beam.PLAIN`. `constrained`: along the schema graph alone."""

    width: int = 4
    constrained: bool = True
    beam: Beam = Beam.GROUPED


@dataclass(frozen=True, slots=True)
class Searched:
    """`sets`: of each database that was searched, likeliest first; their probability is given the database.

    `milliseconds` of processor time.
    """

    sets: dict[int, tuple[Found, ...]]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Questions surveyed by one trained network over what `ground` holds; `free`: the same, see `unconstrained`."""

    step: StepWeights
    ground: Ground
    free: Ground
    survey: Survey


def searched(way: Search, scene: Scene, row: int, databases: Numbers, log_shares: Vectors) -> Searched:
    """Question `row` of a scene in `databases`, (h,); `log_shares`: (h,), their log-probabilities."""
    started = process_time()
    rows = np.full(len(databases), row, dtype=np.intp)
    ground = scene.ground if way.constrained else scene.free
    start = begin(scene.step, ground, scene.survey, rows, databases)
    settings = BeamSettings(width=way.width)
    match way.beam:
        case Beam.GROUPED:
            found = search(start, settings)
        case Beam.PLAIN:
            joined = Joined.of(start, scene.ground, databases, log_shares)
            found = joined.owned(search(joined, settings), log_shares)
        case Beam.PENALISED:
            found = _penalised(start, settings)
    taken = 1000 * (process_time() - started)
    if way.beam is Beam.PENALISED:
        found = _unpenalised(start, found)
    sets: dict[int, list[Found]] = defaultdict(list)
    for one in found:
        sets[int(databases[one.head])].append(one)
    return Searched(
        {
            database: tuple(sorted(some, key=lambda one: -one.log_probability))
            for database, some in sets.items()
        },
        taken,
    )


def unconstrained(ground: Ground) -> Ground:
    """A ground where any table of a database may follow any other: those without a link have an implied one."""
    field = ground.field
    links: list[tuple[Edge, ...]] = []
    for database in range(len(field.databases)):
        tables = field.tables_of(database)
        implied = tuple(Edge(number, EdgeKind.IMPLIED, (), ()) for number in range(len(tables)))
        links += [implied + field.links[table] for table in tables]
    return replace(ground, field=replace(field, links=tuple(links)))


@dataclass(frozen=True, slots=True)
class Joined:
    """`engine.routing.decoder.Sequences`: one question's beams in h databases, as if they were one.

    `firsts`: 0, so that a column is a table's number among those of the h databases, and `starts`, (h,), where each
    database's begin; `tables`, those tables' numbers in the field. The first table costs its database's `price`, (h,).
    """

    inner: Beams
    starts: Numbers
    tables: Numbers
    price: Vectors | None

    @staticmethod
    def of(start: Beams, ground: Ground, databases: Numbers, price: Vectors) -> Joined:
        """The empty set; `price`: (h,), log-probabilities of the databases."""
        ranges = [ground.field.tables_of(database) for database in databases.tolist()]
        starts = np.cumsum([0, *(len(each) for each in ranges[:-1])], dtype=np.intp)
        return Joined(start, starts, np.concatenate([np.array(each) for each in ranges]), price)

    @property
    def firsts(self) -> Numbers:
        """(n,)."""
        heads = len(self.inner.firsts) if self.price is None else 1
        return np.zeros(heads, dtype=np.intp)

    def log_probabilities(self) -> Vectors:
        """(n, t + 1), t over all the databases."""
        inner = self.inner.log_probabilities()
        found = np.full((len(inner), len(self.tables) + 1), NOWHERE, dtype=np.float32)
        sizes = np.diff(np.append(self.starts, len(self.tables)))
        for row, head in enumerate(self.inner.numbers.tolist()):
            first, size = self.starts[head], sizes[head]
            found[row, first : first + size] = inner[row, :size]
            found[row, -1] = inner[row, -1]
        if self.price is None:
            return found
        found[:, :-1] += self.price[:, None]
        whole: Vectors = found.max(axis=0, keepdims=True)
        return whole

    def follow(self, rows: Numbers, columns: Numbers) -> Joined:
        """See `Sequences`."""
        heads = np.searchsorted(self.starts, columns, side="right") - 1
        inner = self.inner.follow(heads if self.price is not None else rows, columns - self.starts[heads])
        return Joined(inner, self.starts, self.tables, None)

    def owned(self, found: Sequence[Found], price: Vectors) -> tuple[Found, ...]:
        """The sets with their databases as heads, and their probabilities given these."""
        heads = [int(np.searchsorted(self.starts, one.tables[0], side="right")) - 1 for one in found]
        return tuple(
            replace(
                one,
                head=head,
                tables=tuple(self.tables[list(one.tables)].tolist()),
                log_probability=one.log_probability - float(price[head]),
            )
            for one, head in zip(found, heads, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Penalised:
    """`Sequences` where a table costs what groups before have chosen at the same step.

    `spent`: for each step (h, t), how often; filled as the group goes on.
    """

    inner: Beams
    spent: tuple[Vectors, ...]
    depth: int = 0

    @property
    def firsts(self) -> Numbers:
        """(n,)."""
        return self.inner.firsts

    def log_probabilities(self) -> Vectors:
        """(n, t + 1)."""
        found = self.inner.log_probabilities()
        if self.depth < len(self.spent):
            found[:, :-1] -= PENALTY * self.spent[self.depth][self.inner.numbers]
        return found

    def follow(self, rows: Numbers, columns: Numbers) -> Penalised:
        """See `Sequences`."""
        np.add.at(self.spent[self.depth], (self.inner.numbers[rows], columns), 1)
        return Penalised(self.inner.follow(rows, columns), self.spent, self.depth + 1)


def _penalised(start: Beams, settings: BeamSettings) -> tuple[Found, ...]:
    """Group after group, every set once a head."""
    spent = tuple(np.zeros(start.chosen.shape, dtype=np.float32) for _ in range(settings.longest))
    found: dict[tuple[int, frozenset[int]], Found] = {}
    for _ in range(max(1, settings.width // GROUP)):
        for one in search(Penalised(start, spent), replace(settings, width=GROUP)):
            found.setdefault((one.head, frozenset(one.tables)), one)
    return tuple(found.values())


def _unpenalised(start: Beams, found: Sequence[Found]) -> tuple[Found, ...]:
    """The sets with the probabilities that a search without penalties gives them; as they are where it has them not."""
    known = {(one.head, frozenset(one.tables)): one.log_probability for one in search(start, _EXACT)}
    return tuple(
        replace(one, log_probability=known.get((one.head, frozenset(one.tables)), one.log_probability))
        for one in found
    )
