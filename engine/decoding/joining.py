"""A statement that reads columns of a table which its FROM does not hold, up to where that table's join begins.

The model goes on from there: by which columns the tables are joined it knows where no foreign key says so, and what it
wrote behind FROM it writes anew with the table in view. Joins along foreign keys are `engine.rewrite`'s, at no cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from engine.core.elements import WHOLE_TABLE
from engine.rewrite.scope import Scopes, has_column, identifier, means_one_of, written
from engine.sql.tree import parsed
from schema_catalog.types import ColumnKey, Snapshot, Table

_HERE = "going_on_from_here"


def begun_join(sql: str, snapshot: Snapshot, linked: Mapping[ColumnKey, float]) -> str | None:
    """The statement's beginning, the last words of which are `JOIN table ON`; None where no table is missing.

    Of the first select that misses one. The table has the most of the columns that are missing there; of several such
    it is the one that the question is most likely about, by `linked`.
    """
    tree = parsed(sql)
    if tree is None:
        return None
    scopes = Scopes(tree, snapshot)
    for select in tree.find_all(exp.Select, bfs=False):
        columns = [each for each in select.find_all(exp.Column) if each.parent_select is select]
        missing = [each for each in columns if _is_missing(each, select, scopes)]
        table = _missing_table(missing, select, scopes, linked)
        if table is not None:
            held = [each for each in missing if has_column(table, each.name)]
            return _up_to_join(tree, select, held, table, scopes)
    return None


def _is_missing(column: exp.Column, select: exp.Select, scopes: Scopes) -> bool:
    """Whether no table in FROM has the column, or one whose name says that and more, and no output is called so."""
    read = scopes.reading(column)
    if read is not None:
        tables = [read.table]
    elif column.table:
        return not isinstance(column.this, exp.Star)
    elif column.name in {each.alias for each in select.expressions}:
        return False
    else:
        tables = [each.table for each in scopes.reads.get(id(select), ())]
    return all(each is not None and not means_one_of(each, column.name) for each in tables)


def _missing_table(
    missing: Sequence[exp.Column], select: exp.Select, scopes: Scopes, linked: Mapping[ColumnKey, float]
) -> Table | None:
    reads = scopes.reads.get(id(select), [])
    there = {read.table.key for read in reads if read.table is not None}
    taken = {read.name for read in reads}
    if not there or any(read.table is None for read in reads):
        return None

    def fit(table: Table) -> tuple[int, float]:
        names = (WHOLE_TABLE, *(each.name for each in missing))
        likely = max(linked.get((*table.key, name), 0.0) for name in names)
        return sum(has_column(table, each.name) for each in missing), likely

    others = (each for each in scopes.snapshot.tables if each.key not in there and each.name not in taken)
    holders = (table for table in others if any(has_column(table, each.name) for each in missing))
    return max(holders, key=fit, default=None)


def _up_to_join(
    tree: exp.Query, select: exp.Select, held: Sequence[exp.Column], table: Table, scopes: Scopes
) -> str:
    scopes.qualify(select)
    for column in held:
        column.set("table", identifier(table.name))
    select.append("joins", exp.Join(this=written(table, scopes.snapshot), on=exp.column(_HERE)))
    # Without the space behind ON: it is part of a model's next token.
    return tree.sql(dialect="postgres").split(f" {_HERE}", maxsplit=1)[0]
