"""Rules about NULL: where it stands in an order, and what it does to NOT IN."""

from __future__ import annotations

from sqlglot import exp

from engine.rewrite.join_tree import tests_of
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import Scopes, TableRef
from schema_catalog.types import Table


def unknown_last(statement: Statement, _context: Context) -> str | None:
    """Where the greatest come first, PostgreSQL puts NULL before them (docs 7.5): puts it behind.

    Where the statement says NULLS FIRST, that is meant.
    """
    if "NULLS FIRST" in statement.written.upper():
        return None
    changed = False
    for order in statement.tree.find_all(exp.Ordered):
        if order.args.get("desc") and order.args.get("nulls_first") and _may_be_null(order, statement.scopes):
            order.set("nulls_first", False)  # noqa: FBT003 - sqlglot's
            changed = True
    return "sorts unknown values behind the others" if changed else None


def _may_be_null(order: exp.Ordered, scopes: Scopes) -> bool:
    if isinstance(order.this, exp.Count):
        return False
    read = scopes.reading(order.this) if isinstance(order.this, exp.Column) else None
    return read is None or read.table is None or nullable(read.table, order.this.name)


def known_excluded(statement: Statement, _context: Context) -> str | None:
    """Leaves NULL out of what NOT IN compares with: one alone, and no row is left (docs 9.24.2)."""
    changed = False
    for found in statement.scopes.exclusions(statement.tree):
        if found.query.args.get("having") or not nullable(found.other, found.inside.name):
            continue
        known = exp.Is(this=found.inside.copy(), expression=exp.Null(), negate=True)
        turned = exp.Not(this=exp.Is(this=found.inside.copy(), expression=exp.Null()))
        if not any(each in (known, turned) for each in found.query.find_all(exp.Is, exp.Not)):
            found.query.where(known, copy=False)
            changed = True
    return "leaves unknown values out of those that are excluded" if changed else None


def keep_unmatched(statement: Statement, _context: Context) -> str | None:
    """`JOIN lessons … WHERE lessons.id IS NULL`, which no row fulfils, as LEFT JOIN: rows without a lesson."""
    changed = []
    for select in statement.tree.find_all(exp.Select):
        for test in tests_of(select):
            read = _never_null(test, statement.scopes)
            join = None if read is None else read.node.parent
            if read is not None and isinstance(join, exp.Join) and not join.args.get("side"):
                join.set("side", "LEFT")
                changed.append(read.name)
    return f"keeps rows without {', '.join(changed)}" if changed else None


def _never_null(test: exp.Expr, scopes: Scopes) -> TableRef | None:
    """What FROM reads a column of that `test` wants to be NULL although none of its table's rows has it so."""
    if not isinstance(test, exp.Is) or not isinstance(test.expression, exp.Null) or test.args.get("negate"):
        return None
    read = scopes.reading(test.this) if isinstance(test.this, exp.Column) else None
    known = read is not None and read.table is not None and not nullable(read.table, test.this.name)
    return read if known else None


def nullable(table: Table, name: str) -> bool:
    """Whether a column of the table may be NULL."""
    return name not in table.primary_key and any(c.name == name and c.nullable for c in table.columns)
