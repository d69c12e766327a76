"""A statement over one schema, read once: its tree, what its names stand for, whether its rows repeat, its normal form.

Each part is made where it is first asked for, in whichever thread, and kept with the schema. It is shared, and not to
be changed: what changes a statement does so to a `Draft`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp
from sqlglot.errors import SqlglotError

from engine.statement.binder import bind
from engine.statement.bound_query import Bound
from engine.statement.canonical import canonical
from engine.statement.resolution import Resolution, resolved
from engine.statement.scope import Scopes
from engine.statement.tree import KEPT, KEPT_CHARACTERS, Determinism, determinism, parsed
from engine.values.recent import Recent
from engine.values.state import Route
from schema_catalog.types import ColumnKey, Snapshot, once_per_snapshot


class Draft:
    """A statement taken apart: one tree, and what its names mean there."""

    def __init__(self, tree: exp.Query, snapshot: Snapshot) -> None:
        self.tree = tree
        self.scopes = Scopes(tree, snapshot)

    def bind(self) -> None:
        """Looks the names up again, after a FROM clause was changed."""
        self.scopes = Scopes(self.tree, self.scopes.snapshot)

    @property
    def sql(self) -> str:
        """The statement as text."""
        return self.tree.sql(dialect="postgres")


@dataclass(frozen=True, eq=False)
class Statement:
    """`sql` over `snapshot`; made by `statement_of`."""

    sql: str
    snapshot: Snapshot

    @cached_property
    def tree(self) -> exp.Query | None:
        """None where it is no query that sqlglot can parse."""
        return parsed(self.sql)

    @cached_property
    def apart(self) -> Draft | None:
        """The tree and its names, to be looked at; None where it has no tree, or one that cannot be taken apart."""
        try:
            return None if self.tree is None else Draft(self.tree, self.snapshot)
        except (SqlglotError, RecursionError):
            return None

    def draft(self) -> Draft | None:
        """As `apart`, to be changed. Raises what taking a tree apart raises."""
        return None if self.tree is None else Draft(self.tree.copy(), self.snapshot)

    @cached_property
    def bound(self) -> Bound:
        """Its names by PostgreSQL's rules; raises `engine.guard.analyse.UnreadableError` where it is no query."""
        return bind(self.sql, self.snapshot)

    @cached_property
    def resolution(self) -> Resolution:
        """The columns and tables that it reads, and the problems with its names; raises as `bound`."""
        return resolved(self.bound)

    @cached_property
    def determinism(self) -> Determinism:
        """Whether it gives the same rows each time; raises as `bound`."""
        return determinism(self.sql)

    @cached_property
    def form(self) -> str:
        """Its normal form, to be compared alone."""
        return canonical(self.sql, self.snapshot)

    @property
    def shown(self) -> frozenset[ColumnKey]:
        """The columns that it gives as they are; none where it cannot be taken apart."""
        return frozenset() if self.apart is None else self.apart.scopes.shown(self.apart.tree)


@once_per_snapshot
def _statements(_snapshot: Snapshot) -> Recent[str, Statement]:
    return Recent(KEPT)


def statement_of(sql: str, snapshot: Snapshot) -> Statement:
    """The statement: the same one, with what is known of it, for the last `KEPT` texts over a schema."""
    if len(sql) > KEPT_CHARACTERS:
        return Statement(sql, snapshot)
    known = _statements(snapshot)
    return known.get(sql) or known.keep(sql, Statement(sql, snapshot))


def normal_form(sql: str, route: Route) -> tuple[str, str]:
    """The route's database, and the normal form of `sql` there."""
    return route.database.name, statement_of(sql, route.snapshot).form
