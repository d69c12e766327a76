"""Rows that a table holds and that do not count by themselves: deleted ones, and those of which a comment says so.

Owns finding the columns that tell, and what a statement does with them. A name that only says what is in use
(`is_active`) is no reason to leave rows out: of it the asker is told, and not the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp

from engine.link.legends import legends
from engine.question.comments import says_not_counted
from engine.statement.scope import Scopes
from engine.values import wording
from engine.values.elements import DATED
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, once_per_snapshot
from schema_catalog.words import identifier_words

_GONE = frozenset({"deleted", "removed", "archived", "voided", "trashed"})
_THERE = frozenset({"active", "enabled"})
_FLAGS = ("boolean", "smallint", "integer")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Rows of a table that do not count, called `rows`: all but those for which one of `tests` holds.

    Each test is SQL with the column's bare name, the first one as the model is told it. `told`: whether it is.
    """

    column: ColumnKey
    rows: str
    tests: tuple[str, ...]
    told: bool = True


@once_per_snapshot
def exclusions(snapshot: Snapshot) -> tuple[Exclusion, ...]:
    """Those of all tables, in catalog order."""
    return tuple(
        found for table, column in snapshot.columns() for found in _of_column(table, column, snapshot)
    )


def _of_column(table: Table, column: Column, snapshot: Snapshot) -> Iterator[Exclusion]:
    key, name, rows = (*table.key, column.name), quote_ident(column.name), table.name.replace("_", " ")
    words, said = {*identifier_words(column.name)}, bool(says_not_counted(column.description or ""))
    if codes := legends(snapshot).get(key, ()):
        for code in (each for each in codes if says_not_counted(each.said)):
            written = [code.code] if code.code.isdigit() else []
            tests = tuple(f"{name} <> {each}" for each in (*written, quote_literal(code.code)))
            yield Exclusion(key, f"{code.words} {rows}", tests)
    elif column.type.startswith(DATED) and column.nullable and (words & _GONE or said):
        yield Exclusion(key, f"{_called(words)} {rows}", (f"{name} IS NULL",))
    elif column.type.startswith(_FLAGS) and (said or (words & _GONE and len(words - {"is"}) == 1)):
        yield Exclusion(key, f"{_called(words)} {rows}", _denied(name, column))
    elif column.type == "boolean" and words <= _THERE | {"is"} and words & _THERE:
        tests = (name, f"{name} = TRUE", f"{name} IS TRUE")
        yield Exclusion(key, f"{rows} that are not {min(words & _THERE)}", tests, told=False)


def _called(words: Collection[str]) -> str:
    return min(_GONE.intersection(words), default=" ".join(sorted(set(words) - {"is", "at", "on"})))


def _denied(name: str, column: Column) -> tuple[str, ...]:
    if column.type != "boolean":
        return (f"{name} = 0", f"{name} <> 1")
    return (f"NOT {name}", f"{name} = FALSE", f"{name} IS FALSE", f"NOT {name} IS TRUE", f"{name} <> TRUE")


def excluded(tree: exp.Query, scopes: Scopes, *, counted_only: bool = False) -> Iterator[str]:
    """What a statement does with such rows, in words; nothing of a column that it tests otherwise.

    `counted_only`: nothing of those that it leaves out.
    """
    tables = {each.table.key for each in scopes.all_reads() if each.table is not None}
    for each in exclusions(scopes.snapshot):
        columns = scopes.columns(tree, each.column[:2], each.column[2]) if each.column[:2] in tables else []
        if each.column[:2] in tables and not columns:
            yield wording.INCLUDES.format(each.rows)
        elif not counted_only and any(test in each.tests for column in columns for test in _tested(column)):
            yield wording.LEAVES_OUT.format(each.rows)


def _tested(column: exp.Column) -> Iterator[str]:
    """The tests around a column as SQL with its bare name, the wider one first where it is a denial."""
    node: exp.Expr | None = (
        column if isinstance(column.parent, exp.Connector | exp.Where | exp.Join) else column.parent
    )
    if isinstance(node, exp.Expr) and isinstance(node.parent, exp.Not):
        node = node.parent
    if isinstance(node, exp.Expr):
        bare = node.copy()
        for each in bare.find_all(exp.Column):
            each.set("table", None)
        yield bare.sql(dialect="postgres")
