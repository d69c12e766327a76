"""Rules about what is shown of groups and rows: the groups themselves, and names where a statement shows keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.findings.rule import Context, Statement
from engine.findings.rules.grouping import GROUPING_SETS, LABELS, plain_columns
from engine.question.tokens import identifier_words
from engine.statement.scope import (
    TableRef,
    equality,
    has_column,
    identifier,
    says_more,
    written,
)
from schema_catalog.types import ColumnKey, Table

_KEY_WORDS = frozenset("code id ids identifier identification key no nr number".split())  # noqa: SIM905  easier to read
"""Words of a question that asks for keys. "number of" is a count."""

_TEXT = re.compile(r"^(?:text|citext|character|varchar)")


_FIRST, _LAST = (
    frozenset({"first", "fst", "given", "forename"}),
    frozenset({"last", "lst", "family", "surname"}),
)
"""Words of the columns in which names of people are in parts."""

_ROLE = re.compile(r"_?(?:id|no|nr|cd|code|key|ref)$", re.IGNORECASE)
"""What the name of a key says beside the part that the row it refers to plays: `boss_id`."""


@dataclass(frozen=True, slots=True)
class _ShownKey:
    """A column that is shown, where it is `read`, and the `table` whose `key` it is; `labels`: what calls its rows."""

    column: exp.Column
    read: TableRef
    table: Table
    key: str
    labels: tuple[str, ...]

    @property
    def of_another(self) -> bool:
        """Whether it is the key of another row of the same table: of somebody's boss."""
        return self.table is self.read.table and self.column.name != self.key


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
    if not isinstance(select, exp.Select) or _asks_for_keys(context):
        return None
    found = [
        each
        for column in plain_columns(select.expressions)
        if (each := _shown_key(column, statement, context)) is not None
    ]
    read = {column.name for column in select.find_all(exp.Column)}
    if not found or any(_is_named(each.column, context) for each in found):
        return None
    if any(not each.of_another and (select.args.get("distinct") or read & {*each.labels}) for each in found):
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
        target, table = key, read.table
    else:
        target = context.references.root(key)
        found = statement.scopes.tables.get(target[:2])
        if found is None or target == key:
            return None
        table = found
    labels = _labels(table)
    return None if not labels or target[2] in labels else _ShownKey(column, read, table, target[2], labels)


def _labels(table: Table) -> tuple[str, ...]:
    """What the rows of `table` are called by: one column of text, or two with a person's names; none where unsure."""
    own = LABELS | set(identifier_words(table.name))
    texts = [each.name for each in table.columns if _TEXT.search(each.type)]
    words = {name: set(identifier_words(name)) for name in texts}
    called = [name for name, parts in words.items() if parts & LABELS and parts <= own]
    return (called[0],) if len(called) == 1 else _name_parts(texts)


def _name_parts(columns: Iterable[str]) -> tuple[str, ...]:
    """Those of a first and a last name; none where one is missing."""
    words = {name: set(identifier_words(name)) for name in columns}
    found = [next((name for name, parts in words.items() if parts & half), "") for half in (_FIRST, _LAST)]
    return tuple(found) if all(found) else ()


def _show(found: _ShownKey, select: exp.Select, statement: Statement) -> str:
    """Shows the labels in the key's place, joined where its row is not read, and grouped by where groups are."""
    column, read, table = found.column, found.read, found.table
    names = [each.name for each in statement.scopes.reads[id(select)]]
    there = [each.name for each in statement.scopes.reads[id(select)] if each.table is table]
    if found.of_another:
        role = _ROLE.sub("", column.name).lower()
        name = role if role and role not in {*names, table.name} else f"{table.name}_{len(names) + 1}"
    else:
        name = read.name if table is read.table else next(iter(there), table.name)
    if name not in {read.name, *there}:
        on = equality(read.name, [column.name], name, [found.key])
        joined = written(table, statement.scopes.snapshot)
        select.join(exp.alias_(joined, identifier(name)) if found.of_another else joined, on=on, copy=False)
    shown = [exp.column(identifier(label), identifier(name)) for label in found.labels]
    if group := select.args.get("group"):
        group.set("expressions", [*group.expressions, *(each.copy() for each in shown)])
    column.replace(shown)
    return f"shows {', '.join(f'{table.name}.{label}' for label in found.labels)} for {column.name}"


def name_in_full(statement: Statement, _context: Context) -> str | None:
    """`name` of a table that has only `full_name` is that; of one with `first_name` and `last_name` both are shown."""
    changed: list[str] = []
    for column in list(statement.tree.find_all(exp.Column)):
        read = statement.scopes.reading(column) if column.table else None
        if read is None or read.table is None or has_column(read.table, column.name):
            continue
        longer: Sequence[str] = [
            each.name for each in read.table.columns if says_more(column.name, each.name)
        ]
        if len(longer) > 1 and column.name in LABELS and column.arg_key == "expressions":
            longer = _name_parts(longer)
        elif len(longer) > 1:
            continue
        if longer:
            shown = [exp.column(identifier(name), identifier(column.table)) for name in longer]
            column.replace(shown if len(shown) > 1 else shown[0])
            changed += longer
    return f"takes {', '.join(dict.fromkeys(changed))}" if changed else None
