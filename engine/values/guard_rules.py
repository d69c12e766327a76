"""Facts about one server: its version, and the names that were confirmed there; the reasons of a refusal.

Owns the values alone. `engine.guard.server_rules` reads it from a server; `BUILT_IN` holds without one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a statement is refused."""

    EMPTY = "empty"
    TOO_LONG = "too long"
    TOO_DEEP = "too deep"
    TOO_MANY_RELATIONS = "too many relations"
    UNREADABLE = "unreadable"
    SEVERAL_STATEMENTS = "several statements"
    NOT_A_QUERY = "not a query"
    WRITES = "writes"
    LOCKS = "locks"
    CONSTRUCT = "construct"
    RELATION = "relation"
    FUNCTION = "function"
    OPERATOR = "operator"
    TYPE = "type"
    COLLATION = "collation"
    FIELD = "field"
    VERSION = "version"
    COST = "cost"


QualifiedName = tuple[str, str]
"""(schema, name)."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A name that a DBA allowed, by itself or with its extension, and that stays refused; `why` is a clause."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The names that are safe on one database, beside the built-in lists.

    `version`: the server's major version. `database`: its name, which may qualify a relation. `functions` and
    `operators`: allowed by the settings and confirmed by the server. `types`: the same, and user types of trusted
    owners. `relations`: user relations whose names begin with `pg_`. `ambiguous`: bare names of these that other
    objects share: allowed with their schema only. `callable_fields`: names for which `(x).f` may call a function that
    is not allowed; None: not known, so every one may. `dropped`: allowed by the settings, refused all the same.
    """

    version: int = 18
    database: str | None = None
    functions: frozenset[QualifiedName] = frozenset()
    operators: frozenset[QualifiedName] = frozenset()
    types: frozenset[QualifiedName] = frozenset()
    relations: frozenset[QualifiedName] = frozenset()
    ambiguous: frozenset[str] = frozenset()
    callable_fields: frozenset[str] | None = None
    dropped: tuple[Dropped, ...] = ()

    def bare(self, confirmed: frozenset[QualifiedName]) -> frozenset[str]:
        """Those of `confirmed` that may be written without their schema."""
        return frozenset(name for _, name in confirmed) - self.ambiguous


BUILT_IN = Rules()
"""PostgreSQL 18 without user-defined names."""
