"""Rules about what is shown of groups and rows: the groups themselves, and names where a statement shows keys."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from engine.rewrite.rule import Context, Statement
from engine.rewrite.rules.grouping import GROUPING_SETS, LABELS, plain_columns
from engine.rewrite.scope import TableRef, equality, identifier, written
from engine.text.tokens import identifier_words
from schema_catalog.types import ColumnKey, Table

_KEY_WORDS = frozenset("code id ids identifier identification key no nr number".split())  # noqa: SIM905  easier to read
"""Words of a question that asks for keys. "number of" is a count."""

_TEXT = re.compile(r"^(?:text|citext|character|varchar)")


@dataclass(frozen=True, slots=True)
class _ShownKey:
    """A column that is shown, where it is `read`, and the `table` whose `key` it is; `label`: what calls its rows."""

    column: exp.Column
    read: TableRef
    table: Table
    key: str
    label: str


def show_groups(statement: Statement, context: Context) -> str | None:
    """Shows what is grouped by before the numbers of each group, where the question asks for one of each."""
    select = statement.tree
    group = select.args.get("group") if isinstance(select, exp.Select) else None
    if group is None or group.find(*GROUPING_SETS) or not context.dimensions:
        return None
    if not all(isinstance(item.unalias(), exp.Count | exp.Sum | exp.Avg) for item in select.expressions):
        return None
    keys, called = group.expressions, set(select.named_selects)
    read = [{column.name for column in key.find_all(exp.Column)} for key in keys]
    if not all(names and called.isdisjoint(names) for names in read):
        return None
    select.set("expressions", [*(key.copy() for key in keys), *select.expressions])
    return f"shows {', '.join(key.sql(dialect='postgres') for key in keys)}"


def name_for_key(statement: Statement, context: Context) -> str | None:
    """Shows what rows are called by where a question that asks for no key is answered with one; groups by both."""
    select = statement.tree
    if not isinstance(select, exp.Select) or select.args.get("distinct") or _asks_for_keys(context):
        return None
    found = [
        each
        for column in plain_columns(select.expressions)
        if (each := _shown_key(column, statement, context)) is not None
    ]
    read = {column.name for column in select.find_all(exp.Column)}
    if not found or any(each.label in read or _is_named(each.column, context) for each in found):
        return None
    statement.scopes.qualify(select)
    return "; ".join(_show(each, select, statement) for each in found)


def _asks_for_keys(context: Context) -> bool:
    asked = context.question.lower().replace("number of", "")
    return not _KEY_WORDS.isdisjoint(identifier_words(asked))


def _is_named(column: exp.Column, context: Context) -> bool:
    """Whether the question says the key's own name."""
    return set(identifier_words(column.name)) <= set(identifier_words(context.question))


def _shown_key(column: exp.Column, statement: Statement, context: Context) -> _ShownKey | None:
    read = statement.scopes.reading(column)
    if read is None or read.table is None:
        return None
    key: ColumnKey = (*read.table.key, column.name)
    own = [each for each in context.references.edges(read.table.key) if not each.referring]
    if (column.name,) == read.table.primary_key or any(each.columns == (column.name,) for each in own):
        label = _label(read.table)
        return None if label is None else _ShownKey(column, read, read.table, column.name, label)
    target = context.references.root(key)
    table = statement.scopes.tables.get(target[:2])
    label = None if table is None or target == key else _label(table)
    if table is None or label is None or label == target[2]:
        return None
    return _ShownKey(column, read, table, target[2], label)


def _label(table: Table) -> str | None:
    """The one column of text by which the rows of `table` are called; None where there is none, or several may be."""
    own = LABELS | set(identifier_words(table.name))
    texts = [each.name for each in table.columns if _TEXT.search(each.type)]
    words = {name: set(identifier_words(name)) for name in texts}
    called = [name for name, parts in words.items() if parts & LABELS and parts <= own]
    return called[0] if len(called) == 1 else None


def _show(found: _ShownKey, select: exp.Select, statement: Statement) -> str:
    """Shows the label in the key's place, joined where its table is not read, and grouped by where groups are."""
    column, read, table = found.column, found.read, found.table
    there = [each.name for each in statement.scopes.reads[id(select)] if each.table is table]
    name = read.name if table is read.table else next(iter(there), table.name)
    if name not in {read.name, *there}:
        on = equality(read.name, [column.name], name, [found.key])
        select.join(written(table, statement.scopes.snapshot), on=on, copy=False)
    shown = exp.column(identifier(found.label), identifier(name))
    group = select.args.get("group")
    if group is not None:
        group.append("expressions", shown.copy())
    column.replace(shown)
    return f"shows {table.name}.{found.label} for {column.name}"
