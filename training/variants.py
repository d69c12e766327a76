"""Schemas of views in which an element has two interpretations, and a gold statement under each.

Owns the three kinds of AmbiQT: a column under two names, a table under two names, a column that also stands in a
table of its own. Which element, and under which names, is the caller's choice; nothing is run here. A statement keeps
its text: a WITH query of the table's own name stands for what the views show of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schema_catalog.naming import quote_ident
from schema_catalog.types import ForeignKey, Snapshot, Table


@dataclass(frozen=True, slots=True)
class View:
    """A view over the base table `source`.

    `table`: what it would declare were it a table. `reads`: the base columns behind its columns, in the same order.
    """

    table: Table
    source: str
    reads: tuple[str, ...]

    def ddl(self) -> str:
        """The statement that creates it in the schema put for `{schema}`."""
        pairs = zip(self.reads, self.table.columns, strict=True)
        outputs = ", ".join(_as(quote_ident(read), column.name) for read, column in pairs)
        base = f"{quote_ident(self.table.schema)}.{quote_ident(self.source)}"
        return f"CREATE VIEW {{schema}}.{quote_ident(self.table.name)} AS SELECT {outputs} FROM {base};"  # noqa: S608 - names of a benchmark


@dataclass(frozen=True, slots=True)
class Variants:
    """The schema in which both interpretations exist, those in which one does, and the gold under each."""

    both: tuple[View, ...]
    first: tuple[View, ...]
    second: tuple[View, ...]
    gold_1: str
    gold_2: str


def creation(views: Sequence[View]) -> str:
    """The statements that create a schema and its views, its name to be put for `{schema}`."""
    return " ".join(["CREATE SCHEMA {schema};", *(view.ddl() for view in views)])


def two_columns(snapshot: Snapshot, gold: str, table: Table, column: str, names: tuple[str, str]) -> Variants:
    """A column, no part of a key, under two names."""

    def views(given: Sequence[str]) -> tuple[View, ...]:
        return tuple(
            _doubled(each, column, given) if each.key == table.key else _plain(each)
            for each in snapshot.tables
        )

    golds = (_over(gold, table, {column: quote_ident(name)}, quote_ident(table.name)) for name in names)
    return Variants(views(names), views(names[:1]), views(names[1:]), *golds)


def two_tables(snapshot: Snapshot, gold: str, table: Table, names: tuple[str, str]) -> Variants:
    """A table under two names; what refers to it refers to both."""

    def views(given: Sequence[str]) -> tuple[View, ...]:
        pointed = [_pointed(each, table, given) for each in snapshot.tables]
        return tuple(
            replace(_plain(each), table=replace(each, name=name))
            for each in pointed
            for name in (given if each.key == table.key else [each.name])
        )

    golds = (_over(gold, table, {}, quote_ident(name)) for name in names)
    return Variants(views(names), views(names[:1]), views(names[1:]), *golds)


def own_table(snapshot: Snapshot, gold: str, table: Table, column: str) -> Variants:
    """A column, no part of a key, also in a table `<table>_<column>` to be joined by `table`'s primary key."""
    base = tuple(_plain(each) for each in snapshot.tables)
    kept = (*table.primary_key, column)
    keys = tuple(ForeignKey((key,), table.schema, table.name, (key,)) for key in table.primary_key)
    columns = tuple(each for each in table.columns if each.name in kept)
    own = replace(table, name=own_name(table, column), columns=columns, foreign_keys=keys)
    added = View(own, table.name, tuple(each.name for each in columns))
    both = tuple(view for each in base for view in ([each, added] if each.table is table else [each]))
    second = tuple(_doubled(view.table, column, ()) if view.table is table else view for view in both)
    joined = ", ".join(map(quote_ident, table.primary_key))
    source = f"{quote_ident(table.name)} AS t JOIN {quote_ident(own.name)} AS own USING ({joined})"
    reads = {each.name: f"t.{quote_ident(each.name)}" for each in table.columns}
    reads |= {column: f"own.{quote_ident(column)}"}
    return Variants(both, base, second, gold, _over(gold, table, reads, source))


def own_name(table: Table, column: str) -> str:
    """The name of the table of its own that a column gets."""
    return f"{table.name}_{column}"


def _over(gold: str, table: Table, reads: dict[str, str], source: str) -> str:
    """The statement with what `source` has in the place of a table. `reads`: columns that are there otherwise."""
    outputs = (_as(reads.get(each.name, quote_ident(each.name)), each.name) for each in table.columns)
    return f"WITH {quote_ident(table.name)} AS (SELECT {', '.join(outputs)} FROM {source}) {gold}"  # noqa: S608 - as above


def _as(read: str, name: str) -> str:
    return read if read == quote_ident(name) else f"{read} AS {quote_ident(name)}"


def _plain(table: Table) -> View:
    return View(table, table.name, tuple(column.name for column in table.columns))


def _doubled(table: Table, column: str, names: Sequence[str]) -> View:
    """The table with each of `names` in the place of one of its columns."""
    made = [
        (each.name, replace(each, name=name))
        for each in table.columns
        for name in (names if each.name == column else [each.name])
    ]
    columns = tuple(shown for _, shown in made)
    return View(replace(table, columns=columns), table.name, tuple(read for read, _ in made))


def _pointed(table: Table, target: Table, names: Sequence[str]) -> Table:
    """The table with its foreign keys to `target` leading to each of `names`."""
    keys = tuple(
        replace(key, ref_table=name)
        for key in table.foreign_keys
        for name in (names if (key.ref_schema, key.ref_table) == target.key else [key.ref_table])
    )
    return replace(table, foreign_keys=keys)
