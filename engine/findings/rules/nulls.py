"""Rules about rows without a value: highest, denied, or in a list, which then finds nothing (docs 9.24)."""

from __future__ import annotations

from sqlglot import exp

from engine.findings.lint import Context
from engine.statement.read import Draft
from engine.statement.scope import (
    Scopes,
    nullable,
    tests_of,
)
from engine.values import wording


def unknown_as_other(statement: Draft, context: Context) -> str | None:
    """Takes rows without a value as well, where the question denies one: `carrier IS DISTINCT FROM 'Nordfracht'`."""
    changed = []
    for select in statement.tree.find_all(exp.Select) if context.question.denial else ():
        tests = tests_of(select)
        for test in tests:
            column = _denied(test)
            if column is None or not _may_be_null(column, statement.scopes):
                continue
            if any(column in each.find_all(exp.Column) for each in tests if each is not test):
                continue
            compared = test.this if isinstance(test, exp.Not) else test
            if isinstance(compared, exp.EQ | exp.NEQ):
                test.replace(exp.NullSafeNEQ(this=column.copy(), expression=compared.expression.copy()))
            else:
                test.replace(exp.paren(exp.or_(column.is_(exp.null()), test.copy()), copy=False))
            changed.append(column.name)
    return wording.of(wording.INCLUDES_WITHOUT, changed)


def _denied(test: exp.Expr) -> exp.Column | None:
    """What is said not to be a value, one of some, or like a text."""
    if isinstance(test, exp.Not) and isinstance(test.this, exp.EQ | exp.In | exp.Like | exp.ILike):
        test = test.this
        literal = all(
            isinstance(each, exp.Literal) for each in test.args.get("expressions") or [test.expression]
        )
    else:
        literal = isinstance(test, exp.NEQ) and isinstance(test.expression, exp.Literal)
    return test.this if literal and isinstance(test.this, exp.Column) else None


def highest_known(statement: Draft, _context: Context) -> str | None:
    """Puts rows without a value behind the highest one: nobody means them by the first few (docs 7.5)."""
    changed = []
    for ordered in statement.tree.find_all(exp.Ordered):
        order = ordered.parent
        around = order.parent if isinstance(order, exp.Order) else None
        first = isinstance(around, exp.Window) or (around is not None and around.args.get("limit"))
        if first and _puts_null_first(ordered, statement.scopes):
            ordered.set("nulls_first", value=False)
            changed.append(ordered.this.sql(dialect="postgres"))
    return wording.of(wording.LAST_WITHOUT, changed)


def _puts_null_first(ordered: exp.Ordered, scopes: Scopes) -> bool:
    """Whether what is sorted by may be NULL, as far as is known, and comes first then."""
    if not ordered.args.get("desc") or not ordered.args.get("nulls_first"):
        return False
    key = ordered.this
    if isinstance(key, exp.Column) and (select := key.parent_select) is not None and not key.table:
        key = next((each.unalias() for each in select.expressions if each.alias == key.name), key)
    return not key.find(exp.Count) and any(_may_be_null(each, scopes) for each in key.find_all(exp.Column))


def list_without_null(statement: Draft, _context: Context) -> str | None:
    """Leaves NULL out of what NOT IN looks through: with one in it, nothing at all is found."""
    changed = []
    for test in statement.tree.find_all(exp.In):
        query = test.args.get("query")
        inside = query.this if isinstance(query, exp.Subquery) else None
        if (
            not isinstance(test.parent, exp.Not)
            or not isinstance(inside, exp.Select)
            or len(inside.expressions) != 1
        ):
            continue
        column = inside.expressions[0].unalias()
        tested = [each for one in tests_of(inside) for each in one.find_all(exp.Column)]
        if isinstance(column, exp.Column) and column not in tested and _may_be_null(column, statement.scopes):
            inside.where(column.is_(exp.null()).not_(), copy=False)
            changed.append(column.name)
    return wording.of(wording.LEAVES_OUT_WITHOUT, changed)


def _may_be_null(column: exp.Column, scopes: Scopes) -> bool:
    key = scopes.key(column)
    return key is not None and nullable(scopes.tables[key[:2]], column.name)
