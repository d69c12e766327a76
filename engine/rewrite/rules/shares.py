"""Rules about shares: of what rows a part is taken, and of what a whole."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from engine.rewrite.join_tree import keep_tests, tests_of, without_tests
from engine.rewrite.rule import Context, Statement
from engine.sql.tree import unwrapped


def share_of_group(statement: Statement, _context: Context) -> str | None:
    """Takes the share within each group where the tests leave rows out of the part and the whole is of all groups.

    "The share of late flights by carrier" may be what part of each carrier's flights are late, beside which part of all
    flights are late ones of the carrier.
    """
    select = statement.tree
    tests = tests_of(select)
    if not tests or not select.args.get("group"):
        return None
    for part, divisor in _quotients(select):
        whole = _whole_of_all(divisor)
        if whole is not None and _alike(part, whole):
            unwrapped(divisor).replace(part.copy())
            _filter(part, tests)
            keep_tests(select, [])
            return "takes the part within each group"
    return None


def share_of_itself(statement: Statement, _context: Context) -> str | None:
    """Takes the rows that are tested for a text as a part of all, where a number is divided by itself."""
    select = statement.tree
    tests = tests_of(select)
    named = [test for test in tests if _is_named(test)]
    for part, divisor in _quotients(select) if named else ():
        if part == unwrapped(divisor):
            _filter(part, named)
            keep_tests(select, without_tests(tests, named))
            return "takes them as a part of all"
    return None


def divided_by_itself(statement: Statement) -> bool:
    """Whether what is shown is a number divided by the same number."""
    return any(part == unwrapped(divisor) for part, divisor in _quotients(statement.tree))


def _quotients(select: exp.Query) -> Iterator[tuple[exp.AggFunc, exp.Expr]]:
    """Each aggregate that is shown divided, and what it is divided by."""
    items = select.expressions if isinstance(select, exp.Select) else []
    for division in (each for item in items for each in item.find_all(exp.Div)):
        part = _factor(division.left)
        if part is not None and division.parent_select is select:
            yield part, division.right


def _factor(node: exp.Expr) -> exp.AggFunc | None:
    """The one aggregate of a product with numbers."""
    node = unwrapped(node)
    if isinstance(node, exp.Mul):
        sides = [unwrapped(each) for each in (node.left, node.right)]
        rest = [each for each in sides if not isinstance(each, exp.Literal)]
        return _factor(rest[0]) if len(rest) == 1 else None
    return node if isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Filter) else None


def _whole_of_all(divisor: exp.Expr) -> exp.AggFunc | None:
    """The aggregate of a query for one number over whole tables."""
    node = unwrapped(divisor)
    query = node.this if isinstance(node, exp.Subquery) else None
    if not isinstance(query, exp.Select) or query.args.get("where") or query.args.get("group"):
        return None
    item = query.expressions[0].unalias()
    return item if isinstance(item, exp.AggFunc) else None


def _alike(one: exp.AggFunc, other: exp.AggFunc) -> bool:
    """Whether they are the same of columns of the same names."""
    bare = [each.copy() for each in (one, other)]
    for each in bare:
        for column in each.find_all(exp.Column):
            column.set("table", None)
    return bare[0] == bare[1]


def _is_named(test: exp.Expr) -> bool:
    """Whether a column is to be a text, or one of those of a query."""
    if isinstance(test, exp.In):
        return True
    literal = test.expression if isinstance(test, exp.EQ | exp.Like | exp.ILike) else None
    return isinstance(literal, exp.Literal) and literal.is_string


def _filter(part: exp.AggFunc, tests: list[exp.Expr]) -> None:
    rows = exp.Where(this=exp.and_(*(test.copy() for test in tests)))
    part.replace(exp.Filter(this=part.copy(), expression=rows))
