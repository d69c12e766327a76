"""Name resolution in nested scopes, by PostgreSQL's rules (docs 7.2.1, 7.8 and 10.5).

Owns the look-up of columns and qualifiers and the suggestions when it fails. The binder fills the scopes.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.statement.bound_query import Cell, Join, Merged, Ref, Row, Source, Star, Unbound
from engine.statement.problems import Names, Problem, ambiguous_column, not_in_from, unknown_column, whole_row
from schema_catalog.naming import dotted, quote_ident
from schema_catalog.types import Snapshot, Table


@dataclass(frozen=True, slots=True)
class Item:
    """A name in scope with its columns.

    `name` is None for a join without alias. `qualifies`: `name.column` finds it. `bare`: its columns are
    found without a qualifier (those of a join's arms are not, once the join has merged them).
    """

    name: str | None
    columns: tuple[tuple[str, Ref], ...]
    source: Source | None
    qualifies: bool = True
    bare: bool = True

    @property
    def open(self) -> bool:
        """Whether it may have further columns."""
        return self.source is not None and self.source.open


@dataclass(slots=True)
class Scope:
    """The names of one query level; `parent` is the level around it. `outputs`: names that SELECT gives."""

    parent: Scope | None
    items: list[Item] = field(default_factory=list)
    outputs: tuple[str, ...] = ()

    def levels(self) -> Iterator[Scope]:
        """This level and those around it, innermost first."""
        level: Scope | None = self
        while level is not None:
            yield level
            level = level.parent


@dataclass(slots=True)
class Lookup:
    """Finds columns; adds a problem to `problems` where there is none or too many."""

    snapshot: Snapshot
    problems: list[Problem]

    def column(self, scope: Scope, name: str) -> Ref:
        """The binding of a bare `name`: a column of the innermost level that has one, else a whole row."""
        for level in scope.levels():
            found = self.local(level, name)
            if len(found) > 1:
                written = Counter(_qualified(item, name, ref) for item, ref in found)
                choices = (each for each, times in written.items() if each and times == 1)
                self.problems.append(ambiguous_column(name, tuple(choices)))
                return Unbound()
            if found:
                return found[0][1]
            if _partial(ref for item in level.items for _, ref in item.columns) is not None:
                # The server knows more columns here: a bare name of a level further out could mean one of them.
                break
        for level in scope.levels():
            for item in level.items:
                if item.open and item.bare and item.source is not None:
                    return Cell(item.source, name, None)
        return self._row(scope, name)

    def _row(self, scope: Scope, name: str) -> Ref:
        for level in scope.levels():
            for item in level.items:
                if item.name == name and item.qualifies:
                    refs = tuple(ref for _, ref in item.columns)
                    self.check_whole(refs)
                    return Row(item.source, refs)
        self._unknown(scope, (name,))
        return Unbound()

    def local(self, level: Scope, name: str) -> list[tuple[Item, Ref]]:
        """The bindings of the bare `name` at one level, more than one where it is ambiguous."""
        return [
            (item, ref) for item in level.items if item.bare for column, ref in item.columns if column == name
        ]

    def qualified(self, scope: Scope, qualifier: Names, name: str) -> Ref:
        """The binding of `qualifier.name`; `Unbound` where there is none."""
        item = self._item(scope, qualifier)
        if item is None:
            return Unbound()
        found = [ref for column, ref in item.columns if column == name]
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            self.problems.append(ambiguous_column(name))
        elif item.open and item.source is not None:
            return Cell(item.source, name, None)
        else:
            self._unknown(scope, (*qualifier, name), item)
        return Unbound()

    def star(self, scope: Scope, qualifier: Names) -> Ref:
        """The expansion of `*` (no qualifier) or `qualifier.*`."""
        item = self._item(scope, qualifier) if qualifier else None
        if qualifier and item is None:
            return Unbound()
        shown = [item] if item else [each for each in scope.items if each.bare]
        pairs = tuple(pair for each in shown for pair in each.columns)
        self.check_whole(ref for _, ref in pairs)
        return Star(pairs)

    def check_whole(self, refs: Iterable[Ref]) -> None:
        """Adds a problem where `refs`, which stand for all columns of something, are not all that the server knows."""
        name = _partial(refs)
        if name is not None:
            self.problems.append(whole_row(name))

    def _item(self, scope: Scope, qualifier: Names) -> Item | None:
        for level in scope.levels():
            for item in level.items:
                if item.qualifies and _named(item, qualifier):
                    return item
        hidden = [
            item.name
            for level in scope.levels()
            for item in level.items
            if item.name and item.source and isinstance(item.source.origin, Table)
            if qualifier[-1] == item.source.origin.name
        ]
        visible = [
            item.name for level in scope.levels() for item in level.items if item.name and item.qualifies
        ]
        called = tuple(dict.fromkeys(map(quote_ident, hidden)))
        self.problems.append(not_in_from(qualifier, called, close(qualifier[-1], visible)))
        return None

    def _unknown(self, scope: Scope, name: Names, within: Item | None = None) -> None:
        column = name[-1]
        items = (
            [within] if within else [item for level in scope.levels() for item in level.items if item.bare]
        )
        visible = {
            other: dotted((item.name, other)) if item.name else quote_ident(other)
            for item in items
            for other, _ in item.columns
        }
        similar = tuple(visible[other] for other in difflib.get_close_matches(column, visible, 3, 0.6))
        elsewhere = tuple(
            f"{self.snapshot.display_name(table)}.{quote_ident(column)}"
            for table, other in self.snapshot.columns()
            if other.name == column
        )[:3]
        output = within is None and column in scope.outputs
        self.problems.append(unknown_column(name, similar, elsewhere, output=output))


def close(name: str, names: Iterable[str]) -> Names:
    """Up to three of `names` that are close to `name`, as SQL writes them."""
    return tuple(map(quote_ident, difflib.get_close_matches(name, list(dict.fromkeys(names)), 3, 0.6)))


def _qualified(item: Item, name: str, ref: Ref) -> str | None:
    """The column `name` of `item` with a qualifier: of the table that it is from, where the item has no name."""
    if item.name:
        return dotted((item.name, name))
    match ref:
        case Merged(left=left, right=right, join=join):
            return _qualified(item, name, right if join is Join.RIGHT else left)
        case Cell(source=source) if source.name:
            return dotted((source.name, ref.name))
    return None


def _partial(refs: Iterable[Ref]) -> str | None:
    """The name of a table that some of `refs` are columns of and that has others, which are kept from questions."""
    for ref in refs:
        match ref:
            case Cell(source=Source(origin=Table(partial=True, name=name))):
                return name
            case Merged(left=left, right=right) if (found := _partial((left, right))) is not None:
                return found
    return None


def _named(item: Item, qualifier: Names) -> bool:
    if len(qualifier) == 1:
        return item.name == qualifier[0]
    # schema.table.column finds a table that has no alias, by the table itself.
    source = item.source
    return (
        len(qualifier) == 2  # noqa: PLR2004 - schema and table
        and source is not None
        and isinstance(source.origin, Table)
        and not source.aliased
        and source.origin.key == qualifier
    )
