"""What one server says of the names in one statement.

Owns the values. `engine.upstream.frame` reads them; the printer puts them into the statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from schema_catalog.types import TableKey

SYSTEM = "pg_catalog"


@dataclass(frozen=True, slots=True)
class Type:
    """A type, domains as what they are over. `own`: a base type that somebody made, with operators of its own."""

    schema: str
    name: str
    array: bool = False
    own: bool = False


class Kind(StrEnum):
    """What an overload is of."""

    FUNCTION = "function"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Overload:
    """A function or operator outside of pg_catalog, with its argument types.

    `arguments` of a prefix operator: one. `exact`: it has neither defaults nor a variadic argument. `trusted`: it, and
    the functions behind it, belong to owners whose code may run with the asker's rights.
    """

    kind: Kind
    schema: str
    name: str
    arguments: tuple[Type, ...]
    result: Type
    exact: bool
    trusted: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that the statement names; `columns`: (name, type), in order."""

    schema: str
    name: str
    columns: tuple[tuple[str, Type], ...]

    @property
    def key(self) -> TableKey:
        """(schema, name)."""
        return (self.schema, self.name)


@dataclass(frozen=True, slots=True)
class Names:
    """`schemas`: bare name of a relation → its schema. `types`: bare name of somebody's type → its schema."""

    schemas: Mapping[str, str] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    overloads: tuple[Overload, ...] = ()
