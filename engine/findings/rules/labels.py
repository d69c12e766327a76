"""Rules about what is shown of groups and rows: the groups themselves, and names in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.grouping import GROUPING_SETS
from engine.findings.rules.references import LABELS
from engine.statement.read import Draft
from engine.statement.scope import (
    Scopes,
    has_column,
    identifier,
    says_more,
)
from engine.statement.tree import unwrapped
from engine.values import wording
from engine.values.elements import NUMBERS
from schema_catalog.words import identifier_words

_FIRST, _LAST = (
    frozenset({"first", "fst", "given", "forename"}),
    frozenset({"last", "lst", "family", "surname"}),
)
"""Words of the columns in which names of people are in parts."""


def show_groups(statement: Draft, _context: Context) -> str | None:
    """Shows what is grouped by before the numbers of the groups, where they are shown alone."""
    select = statement.tree
    if not _hides_groups(statement):
        return None
    keys = select.args["group"].expressions
    select.set("expressions", [*(key.copy() for key in keys), *select.expressions])
    return wording.of(wording.SHOWS, (key.sql(dialect="postgres") for key in keys))


def _hides_groups(statement: Draft) -> bool:
    """Whether a statement shows nothing but a number for each group, without HAVING and LIMIT."""
    tree = statement.tree
    group = tree.args.get("group")
    if not isinstance(tree, exp.Select) or group is None or not group.expressions:
        return False
    if group.find(*GROUPING_SETS, exp.Literal) or tree.args.get("limit") or tree.args.get("having"):
        return False
    return all(_is_number(each, statement.scopes) for each in tree.expressions)


def groups_hidden(statement: Draft, _context: Context) -> Iterator[str]:
    """In words, that a statement hides its groups."""
    if _hides_groups(statement):
        yield wording.HIDES_GROUPS


def _is_number(item: exp.Expr, scopes: Scopes) -> bool:
    """Whether an item is a count, sum or average, an extreme of a column of numbers, or made of such by arithmetic."""
    item = unwrapped(item)
    if isinstance(item, exp.Binary):
        sides = (item.left, item.right)
        return any(_is_number(each, scopes) for each in sides) and all(
            isinstance(each, exp.Literal) or _is_number(each, scopes) for each in sides
        )
    return isinstance(item, exp.Count | exp.Sum | exp.Avg) or (
        isinstance(item, exp.Max | exp.Min) and scopes.type_of(item.this).startswith((*NUMBERS, "money"))
    )


def _name_parts(columns: Iterable[str]) -> tuple[str, ...]:
    """Those of a first and a last name; none where one is missing."""
    words = {name: set(identifier_words(name)) for name in columns}
    found = [next((name for name, parts in words.items() if parts & half), "") for half in (_FIRST, _LAST)]
    return tuple(found) if all(found) else ()


def name_in_full(statement: Draft, _context: Context) -> str | None:
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
    return wording.of(wording.TAKES, changed)
