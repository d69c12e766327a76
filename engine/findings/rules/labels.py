"""Rules about what is shown of groups and rows: the groups themselves, and names in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from engine.findings.rule import Context, Statement
from engine.findings.rules.grouping import GROUPING_SETS, LABELS
from engine.question.tokens import identifier_words
from engine.statement.scope import (
    has_column,
    identifier,
    says_more,
)

_FIRST, _LAST = (
    frozenset({"first", "fst", "given", "forename"}),
    frozenset({"last", "lst", "family", "surname"}),
)
"""Words of the columns in which names of people are in parts."""


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


def _name_parts(columns: Iterable[str]) -> tuple[str, ...]:
    """Those of a first and a last name; none where one is missing."""
    words = {name: set(identifier_words(name)) for name in columns}
    found = [next((name for name, parts in words.items() if parts & half), "") for half in (_FIRST, _LAST)]
    return tuple(found) if all(found) else ()


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
