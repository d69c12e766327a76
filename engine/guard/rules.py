"""What the guard knows of one server: its version, and the names that were confirmed there.

Owns the value alone. `engine.guard.server_rules` fills it by asking a server; `BUILT_IN` is what holds without one.
"""

from __future__ import annotations

from dataclasses import dataclass

QualifiedName = tuple[str, str]
"""(schema, name)."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A name that a DBA allowed, or that belongs to an allowed extension, and that stays refused; `why` is a clause."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts as safe on one database, beside the built-in lists.

    `version`: the server's major version. `database`: its name, which a relation may be written with. `functions` and
    `operators`: those that the settings allow and the server confirmed. `types`: the same, and user types of trusted
    owners. `relations`: the users' own whose names begin with `pg_`. `ambiguous`: bare names of these that something
    else bears as well: allowed with their schema only. `callable_fields`: names for which `(x).f` may call a
    function that is not allowed; None: not known, so every one may. `dropped`: what was allowed in vain.
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
"""PostgreSQL 18 with nothing of anybody's own."""
