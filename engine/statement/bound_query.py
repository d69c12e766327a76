"""A statement with its names bound to tables, columns and queries: the binder's result.

Owns the values only; `engine.statement.binder` makes them, `engine.statement.resolution` and
`engine.statement.canonical` read it.
A parse tree's nodes are keyed by `id`, which holds as long as `Bound.root` is alive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from engine.statement.problems import Problem
from schema_catalog.types import Table


class Join(Enum):
    """The join type, which decides the value of a merged column."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"


@dataclass(slots=True, eq=False)
class Query:
    """A bound SELECT, VALUES or set operation. `outputs`: (name, reference or expression), in order."""

    node: Any
    outputs: list[tuple[str, Ref | Any]] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The output columns' names."""
        return tuple(name for name, _ in self.outputs)


@dataclass(slots=True, eq=False)
class Cte:
    """A WITH query. `query`: None until it is bound; `recursive`: it reads itself; `binding`: it is being bound."""

    name: str
    node: Any
    columns: tuple[str, ...] | None = None
    query: Query | None = None
    recursive: bool = False
    binding: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One entry of FROM. `open`: it may have further columns, whose names are not known.

    `origin`: None of a function (JSON_TABLE included), and of a table that the catalog does not have.
    """

    name: str
    columns: tuple[str, ...]
    origin: Table | Query | Cte | None
    open: bool = False
    aliased: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a source; `position` from 0, None for a column of an open source that has only a name."""

    source: Source
    name: str
    position: int | None


@dataclass(frozen=True, slots=True)
class Merged:
    """The column that USING or NATURAL makes of two."""

    left: Ref
    right: Ref
    join: Join


@dataclass(frozen=True, slots=True)
class Row:
    """A whole row of a source (None: of a join, whose columns are then `refs`)."""

    source: Source | None
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """An output column of the query itself, by position from 0."""

    position: int


@dataclass(frozen=True, slots=True)
class Star:
    """The expansion of `*` or `t.*`: (name, reference) of each column."""

    refs: tuple[tuple[str, Ref], ...]


@dataclass(frozen=True, slots=True)
class Unbound:
    """A name that could not be bound; `Bound.problems` tells why."""


Ref = Cell | Merged | Row | Output | Star | Unbound


@dataclass(slots=True)
class Bound:
    """A statement with its names bound, keyed by `id` of the parse tree's nodes.

    `refs`: column references, and the numbers of ORDER BY and GROUP BY that mean an output. `sources`: what
    FROM holds. `queries`: every SELECT. `merges`: the pairs that a JOIN's USING or NATURAL equates.
    """

    root: Any
    query: Query
    refs: dict[int, Ref]
    sources: dict[int, Source]
    queries: dict[int, Query]
    merges: dict[int, tuple[Merged, ...]]
    problems: list[Problem]
