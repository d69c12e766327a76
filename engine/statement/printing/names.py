"""Names of one statement: which ones a server is asked about before it can be printed, and what one says of them.

Owns the values. `engine.upstream.frame` asks; the printer puts the answers into the statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.guard import Analysis, allowed
from schema_catalog.naming import dotted
from schema_catalog.types import TableKey

SYSTEM = "pg_catalog"


class Kind(StrEnum):
    """What a name outside of pg_catalog is of."""

    FUNCTION = "function"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that the statement names; `columns`, in order; `own`: those of a base type that somebody made."""

    schema: str
    name: str
    columns: tuple[str, ...]
    own: frozenset[str] = frozenset()

    @property
    def key(self) -> TableKey:
        """(schema, name)."""
        return (self.schema, self.name)


@dataclass(frozen=True, slots=True)
class Names:
    """What a server says of the names in one statement.

    `schemas`: bare name of a relation → its schema. `types`: bare name of somebody's type → its schema. `foreign`: name
    of a function or operator → the first schema of the trusted path, pg_catalog apart, that has one.
    """

    schemas: Mapping[str, str] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    foreign: Mapping[tuple[Kind, str], str] = field(default_factory=dict)


def bare_names(analysis: Analysis) -> tuple[str, ...]:
    """The relations that are named without a schema, each once."""
    found = {each.name[0] for each in analysis.relations if not each.cte and len(each.name) == 1}
    return tuple(sorted(found))


def functions(analysis: Analysis) -> list[str]:
    """The names of the functions that a statement calls, or may call as a field (docs 8.16.5)."""
    called = {name[-1] for name in (*analysis.functions, *analysis.attributes)}
    return sorted(called | set(analysis.field_selections))


def operators(analysis: Analysis) -> list[str]:
    """The names of the operators in a statement, and of those that words stand for."""
    return sorted({name[-1] for name in analysis.operators} - allowed.CONSTRUCT_OPERATORS | _IMPLIED)


_IMPLIED = frozenset({"=", "<>", "<", ">", "<=", ">="})
"""Operators that words stand for (IN, BETWEEN, USING …)."""


def relation_names(analysis: Analysis, schemas: Mapping[str, str]) -> tuple[str, ...]:
    """The relations as SQL writes them, each once; those that no schema is known of are left out."""
    names = (each.name[-2:] for each in analysis.relations if not each.cte)
    whole = (
        name if len(name) > 1 else (schemas[name[0]], *name)
        for name in names
        if len(name) > 1 or name[0] in schemas
    )
    return tuple(dict.fromkeys(dotted(name) for name in whole))
