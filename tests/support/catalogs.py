"""A catalog of made-up databases, and a server that lets Ann read them: where a test is about neither."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.values.messages import Asker
from schema_catalog.types import Column, Database, ReadableColumns, Snapshot, Table, TableKey, TableKind


def table(name: str, *columns: str, description: str | None = None) -> Table:
    """Of columns of text."""
    return Table(
        "public", name, TableKind.TABLE, tuple(Column(c, "text") for c in columns), description=description
    )


def entry(name: str, *tables: Table, dbname: str | None = None) -> tuple[Database, Snapshot]:
    """A registered database with its schema."""
    ordered = tuple(sorted(tables, key=lambda each: each.key))
    return Database(name, "postgresql://h", dbname or name, ("public",)), Snapshot(name, ("public",), ordered)


@dataclass
class FakeCatalog:
    """Gives the entries it holds, or fails."""

    held: tuple[tuple[Database, Snapshot], ...]
    failure: Exception | None = None

    async def entries(self) -> tuple[tuple[Database, Snapshot], ...]:
        """What it holds."""
        if self.failure:
            raise self.failure
        return self.held


@dataclass
class FakeUpstream:
    """Lets everybody read everything but `hidden`: names of databases, (database, table) or (…, column)."""

    catalog: FakeCatalog
    hidden: set[object] = field(default_factory=set)
    unreachable: set[str] = field(default_factory=set)

    async def readable(self, database: Database, asker: Asker, _: Snapshot | None = None) -> ReadableColumns:
        """As the server would say; all roles are alike here."""
        assert asker.user == "ann"
        if database.name in self.unreachable:
            raise OSError("no route to host")
        snapshot = next(snapshot for known, snapshot in self.catalog.held if known == database)
        return frozenset(
            (*t.key, c.name)
            for t, c in snapshot.columns()
            if not {database.name, (database.name, t.name), (database.name, t.name, c.name)} & self.hidden
        )

    async def row_secured(self, _: Database) -> frozenset[TableKey]:
        """No table."""
        return frozenset()
