"""Literals of a statement beside the values that the question means (`engine.linking`).

Owns two rewritings: a literal as the database spells it, and a literal moved to a column that holds it, from one of
which nobody knows that it does. The second is another reading, not a correction: the index need not know every value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from engine.core.elements import ValueLink
from engine.rewrite.scope import Scopes, identifier, parsed
from schema_catalog.types import ColumnKey, Snapshot


def as_stored(tree: exp.Query, links: Sequence[ValueLink], scopes: Scopes) -> bool:
    """Spells literals as their columns do where only the case differs; whether there were any."""
    changed = False
    for _, key, literal in _compared(tree, scopes):
        spelt = {
            value
            for link in links
            if link.column == key
            for value in link.values
            if value.casefold() == literal.name.casefold()
        }
        if len(spelt) == 1 and literal.name not in spelt:
            literal.set("this", spelt.pop())
            changed = True
    return changed


def moved(sql: str, links: Sequence[ValueLink], snapshot: Snapshot) -> str | None:
    """`sql` with its first such literal compared with a column that holds it; None where there is none.

    The column is of a table that the same select reads, the column's own before others.
    """
    tree = parsed(sql)
    if tree is None:
        return None
    scopes = Scopes(tree, snapshot)
    for column, key, literal in _compared(tree, scopes):
        holding = _holding(literal.name, links)
        if not holding or key in holding:
            continue
        reads = [read for read in scopes.reads[id(column.parent_select)] if read.table is not None]
        there = [
            (read, other)
            for read in sorted(reads, key=lambda read: read.table is None or read.table.key != key[:2])
            for other in holding
            if read.table is not None and read.table.key == other[:2]
        ]
        if there:
            read, other = there[0]
            column.set("this", identifier(other[2]))
            if column.table or len(reads) > 1:
                column.set("table", identifier(read.name))
            return tree.sql(dialect="postgres")
    return None


def _holding(text: str, links: Sequence[ValueLink]) -> list[ColumnKey]:
    found = [
        link.column
        for link in links
        if link.span and any(value.casefold() == text.casefold() for value in link.values)
    ]
    return list(dict.fromkeys(found))


def _compared(tree: exp.Query, scopes: Scopes) -> Iterator[tuple[exp.Column, ColumnKey, exp.Literal]]:
    """Columns of tables, and the text literals that they are said to equal or not."""
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In):
        column = node.this
        others = node.expressions if isinstance(node, exp.In) else [node.expression]
        if not isinstance(column, exp.Column):
            continue
        read = scopes.reading(column)
        if read is None or read.table is None:
            continue
        for other in others:
            if isinstance(other, exp.Literal) and other.is_string:
                yield column, (*read.table.key, column.name), other
