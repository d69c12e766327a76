"""Rules about rows that a statement takes or leaves out unsaid: those that do not count, and those without a value.

The former are `engine.link.exclusions`'s to find: deleted ones, and test orders. Of the latter nobody knows whether
they are what is denied; a list that holds NULL finds nothing (docs 9.24).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from engine.findings.rule import Context, Statement
from engine.findings.rules.repetition import NEGATION
from engine.link.exclusions import Exclusion, exclusions
from engine.question.tokens import identifier_words
from engine.statement.scope import (
    Scopes,
    conjuncts,
    from_parts,
    identifier,
    nullable,
    tests_of,
)
from engine.statement.tree import parsed


def leave_out_uncounted(statement: Statement, context: Context) -> str | None:
    """Tests what says which rows do not count, where the table is read and the question says nothing of such rows."""
    left = []
    for each in _unsaid(context):
        if statement.scopes.columns(statement.tree, each.column[:2], each.column[2]):
            continue
        selects = list(statement.tree.find_all(exp.Select))
        left += [each.rows for select in selects if _leave_out(select, each, statement)]
    return f"leaves {', '.join(dict.fromkeys(left))} out" if left else None


def _unsaid(context: Context) -> Iterator[Exclusion]:
    """What the schema excludes, of which the question does not speak."""
    asked = set(identifier_words(context.question))
    for each in exclusions(context.snapshot):
        own = set(identifier_words(each.rows)) - set(identifier_words(each.column[1]))
        if each.told and not own & asked:
            yield each


def _leave_out(select: exp.Select, each: Exclusion, statement: Statement) -> bool:
    """Adds the test for each time that the table is read: to the join where rows without a partner stay."""
    test, parts = parsed(f"SELECT 1 WHERE {each.tests[0]}"), from_parts(select)
    reads = statement.scopes.reads.get(id(select), [])
    found = [(r, p) for r, p in zip(reads, parts, strict=True) if r.table and r.table.key == each.column[:2]]
    sides = {part.args.get("side") for part in parts}
    left = [part for _, part in found if part.args.get("side") == "LEFT"]
    if test is None or sides & {"RIGHT", "FULL"} or not all(part.args.get("on") for part in left):
        return False
    for read, part in found:
        own = test.args["where"].this.copy()
        for column in list(own.find_all(exp.Column)):
            column.set("table", identifier(read.name))
        if part in left:
            part.set("on", exp.and_(*conjuncts(part.args["on"]), own, copy=False))
        else:
            select.where(own, copy=False)
    return bool(found)


def unknown_as_other(statement: Statement, context: Context) -> str | None:
    """Takes rows without a value as well, where the question denies one: `carrier IS DISTINCT FROM 'Nordfracht'`."""
    changed = []
    for select in statement.tree.find_all(exp.Select) if NEGATION.search(context.question) else ():
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
    return f"takes rows without {', '.join(changed)} as well" if changed else None


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


def highest_known(statement: Statement, _context: Context) -> str | None:
    """Puts rows without a value behind the highest one: nobody means them by the first few (docs 7.5)."""
    changed = []
    for ordered in statement.tree.find_all(exp.Ordered):
        order = ordered.parent
        around = order.parent if isinstance(order, exp.Order) else None
        first = isinstance(around, exp.Window) or (around is not None and around.args.get("limit"))
        if first and _puts_null_first(ordered, statement.scopes):
            ordered.set("nulls_first", value=False)
            changed.append(ordered.this.sql(dialect="postgres"))
    return f"puts rows without {', '.join(changed)} last" if changed else None


def _puts_null_first(ordered: exp.Ordered, scopes: Scopes) -> bool:
    """Whether what is sorted by may be NULL, as far as is known, and comes first then."""
    if not ordered.args.get("desc") or not ordered.args.get("nulls_first"):
        return False
    key = ordered.this
    if isinstance(key, exp.Column) and (select := key.parent_select) is not None and not key.table:
        key = next((each.unalias() for each in select.expressions if each.alias == key.name), key)
    return not key.find(exp.Count) and any(_may_be_null(each, scopes) for each in key.find_all(exp.Column))


def list_without_null(statement: Statement, _context: Context) -> str | None:
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
    return f"leaves out rows without {', '.join(changed)} there" if changed else None


def _may_be_null(column: exp.Column, scopes: Scopes) -> bool:
    key = scopes.key(column)
    return key is not None and nullable(scopes.tables[key[:2]], column.name)
