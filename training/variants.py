"""Schemas of views in which an element has two interpretations, and a gold statement rewritten for each.

Owns the three kinds of AmbiQT: a column under two names, a table under two names, a column that also stands in a
table of its own. Which element, and under which names, is the caller's choice; nothing is run here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.rewrite.scope import Scopes, TableRef, equality
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
        outputs = (
            _quoted(read) if read == column.name else f"{_quoted(read)} AS {_quoted(column.name)}"
            for read, column in zip(self.reads, self.table.columns, strict=True)
        )
        base = f"{_quoted(self.table.schema)}.{_quoted(self.source)}"
        return (
            f"CREATE VIEW {{schema}}.{_quoted(self.table.name)} AS SELECT {', '.join(outputs)} FROM {base};"  # noqa: S608 - names of a benchmark
        )


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


def two_columns(
    snapshot: Snapshot, gold: exp.Query, table: Table, column: str, names: tuple[str, str]
) -> Variants:
    """A column, no part of a key, under two names."""

    def views(given: Sequence[str]) -> tuple[View, ...]:
        return tuple(
            _doubled(each, column, given) if each.key == table.key else _plain(each)
            for each in snapshot.tables
        )

    def renamed(name: str) -> str:
        tree = gold.copy()
        for node in Scopes(tree, snapshot).columns(tree, table.key, column):
            node.set("this", _identifier(name))
        return tree.sql(dialect="postgres")

    return Variants(views(names), views(names[:1]), views(names[1:]), *(renamed(name) for name in names))


def two_tables(snapshot: Snapshot, gold: exp.Query, table: Table, names: tuple[str, str]) -> Variants:
    """A table under two names; what refers to it refers to both."""

    def views(given: Sequence[str]) -> tuple[View, ...]:
        pointed = [_pointed(each, table, given) for each in snapshot.tables]
        return tuple(
            replace(_plain(each), table=replace(each, name=name))
            for each in pointed
            for name in (given if each.key == table.key else [each.name])
        )

    return Variants(
        views(names),
        views(names[:1]),
        views(names[1:]),
        *(_with_table(snapshot, gold, table, name) for name in names),
    )


def own_table(snapshot: Snapshot, gold: exp.Query, table: Table, column: str) -> Variants:
    """A column, no part of a key, also in a table `<table>_<column>` to be joined by `table`'s primary key."""
    base = tuple(_plain(each) for each in snapshot.tables)
    own = _own_view(table, column)
    both = tuple(view for each in base for view in ([each, own] if each.table is table else [each]))
    second = tuple(_doubled(view.table, column, ()) if view.table is table else view for view in both)
    return Variants(both, base, second, gold.sql(dialect="postgres"), _joined(snapshot, gold, table, column))


def own_name(table: Table, column: str) -> str:
    """The name of the table of its own that a column gets."""
    return f"{table.name}_{column}"


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


def _own_view(table: Table, column: str) -> View:
    kept = (*table.primary_key, column)
    columns = tuple(each for each in table.columns if each.name in kept)
    keys = tuple(ForeignKey((key,), table.schema, table.name, (key,)) for key in table.primary_key)
    own = replace(table, name=own_name(table, column), columns=columns, foreign_keys=keys)
    return View(own, table.name, tuple(each.name for each in columns))


def _with_table(snapshot: Snapshot, gold: exp.Query, table: Table, name: str) -> str:
    """The statement reading `name` instead of `table`."""
    tree = gold.copy()
    scopes = Scopes(tree, snapshot)
    read = [each for _, each in _references(tree, scopes, table)]
    qualified = [node for node in scopes.columns(tree, table.key) if node.table == table.name]
    unaliased = {id(each.node) for each in read if not each.node.alias}
    for node in qualified:
        owner = scopes.reading(node)
        if owner is not None and id(owner.node) in unaliased:
            node.set("table", _identifier(name))
    for each in read:
        each.node.set("this", _identifier(name))
    return tree.sql(dialect="postgres")


def _joined(snapshot: Snapshot, gold: exp.Query, table: Table, column: str) -> str:
    """The statement reading the column from the table of its own, which each reading select joins last.

    A join's condition that reads the column then names what is joined later: such a statement does not run.
    """
    tree = gold.copy()
    scopes = Scopes(tree, snapshot)
    nodes = scopes.columns(tree, table.key, column)
    owners = [scopes.reading(node) for node in nodes]
    read = {id(owner.node) for owner in owners if owner is not None}
    joined = [(select, each) for select, each in _references(tree, scopes, table) if id(each.node) in read]
    for select, _ in joined:
        scopes.qualify(select)
    for node, owner in zip(nodes, owners, strict=True):
        if owner is not None:
            node.set("table", _identifier(f"{owner.name}_{column}"))
    for select, each in joined:
        alias = f"{each.name}_{column}"
        source = exp.table_(
            own_name(table, column), quoted=True, alias=None if alias == own_name(table, column) else alias
        )
        condition = equality(each.name, table.primary_key, alias, table.primary_key)
        select.join(source, on=condition, copy=False)
    return tree.sql(dialect="postgres")


def _references(tree: exp.Query, scopes: Scopes, table: Table) -> Iterator[tuple[exp.Select, TableRef]]:
    """The entries of FROM that name `table`, each with its select."""
    for select in tree.find_all(exp.Select):
        for each in scopes.reads.get(id(select), ()):
            if each.table is not None and each.table.key == table.key:
                yield select, each


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
