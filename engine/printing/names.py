"""Names of one statement: which ones a server is asked about before it can be printed, and what one says of them.

Owns the values. `engine.upstream.frame` asks; the printer puts the answers into the statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.guard import Analysis, Rules, allowed
from schema_catalog.naming import dotted
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


@dataclass(frozen=True, slots=True)
class Uses:
    """What has to be asked of a server: the names that somebody's types or a DBA's permission can give a meaning."""

    functions: tuple[str, ...]
    operators: tuple[str, ...]
    own: bool


def bare_names(analysis: Analysis) -> tuple[str, ...]:
    """The relations that are named without a schema, each once."""
    found = {each.name[0] for each in analysis.relations if not each.cte and len(each.name) == 1}
    return tuple(sorted(found))


def uses(analysis: Analysis, relations: Iterable[Relation], rules: Rules) -> Uses:
    """The names of functions and operators in a statement; `own`: somebody's overloads of them may be meant."""
    functions = {name[-1] for name in analysis.functions}
    operators = {name[-1] for name in analysis.operators} - allowed.CONSTRUCT_OPERATORS | _IMPLIED
    types = {each.name[-1] for each in analysis.types} - allowed.TYPES
    own = (
        any(t.own for relation in relations for _, t in relation.columns)
        or bool(types & {name for _, name in rules.types})
        or bool(functions & {name for _, name in rules.functions})
        or bool(operators & {name for _, name in rules.operators})
    )
    return Uses(tuple(sorted(functions)), tuple(sorted(operators)), own)


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
