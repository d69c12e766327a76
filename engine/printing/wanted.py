"""What has to be asked of a server before a statement can be printed.

Owns the names that are looked up; `engine.upstream.frame` asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.guard import Analysis, Rules, allowed
from engine.printing.names import Relation
from schema_catalog.naming import dotted


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
