"""Rules about columns of which one row holds several values: arrays and ranges (PostgreSQL docs 9.19, 9.20)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import Scopes, from_parts, keep_tests, tests_of, without_tests
from engine.text.tokens import identifier_words

_PARTS = {
    "daterange": "date",
    "tsrange": "timestamp",
    "tstzrange": "timestamptz",
    "int4range": "int",
    "int8range": "bigint",
    "numrange": "numeric",
}
"""Type of a range → type of what it holds."""

_FROM, _UNTIL = (exp.GT, exp.GTE), (exp.LT, exp.LTE)
_TEXTS = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
_EDGES = re.compile(r"^%|%$")


def in_range(statement: Statement, _context: Context) -> str | None:
    """A range that is compared with a value holds it; one between two overlaps what lies between them."""
    changed = []
    scopes = statement.scopes
    for select in list(statement.tree.find_all(exp.Select)):
        for column, low, high in list(_spans(select, scopes)):
            within = _within(column, low.expression, high.expression, scopes)
            keep_tests(select, [*without_tests(tests_of(select), (low, high)), within])
            changed.append(column.name)
    for node in list(statement.tree.find_all(exp.EQ, exp.Between)):
        if _type(node.this, scopes) in _PARTS:
            low, high = (node.args.get(name) or node.expression for name in ("low", "high"))
            if not isinstance(low, exp.Column):
                node.replace(_within(node.this, low, high, scopes))
                changed.append(node.this.name)
    return f"looks into the range {', '.join(dict.fromkeys(changed))}" if changed else None


def _within(column: exp.Expr, low: exp.Expr, high: exp.Expr, scopes: Scopes) -> exp.Expr:
    """That a range holds a value, or overlaps what lies between two."""
    kind = _type(column, scopes)
    if low == high:
        typed = (
            low.copy()
            if isinstance(low, exp.Cast)
            else exp.cast(low.copy(), _PARTS[kind], dialect="postgres")
        )
        return exp.ArrayContainsAll(this=column.copy(), expression=typed)
    bounds = [low.copy(), high.copy(), exp.Literal.string("[]")]
    made = exp.Anonymous(this=kind.upper(), expressions=bounds)
    return exp.ArrayOverlaps(this=column.copy(), expression=made)


def _spans(select: exp.Select, scopes: Scopes) -> Iterator[tuple[exp.Column, exp.Expr, exp.Expr]]:
    """Ranges of which a query tests that they are at least one value and at most another."""
    tests = [each for each in tests_of(select) if _type(each.this, scopes) in _PARTS]
    for low in (each for each in tests if isinstance(each, _FROM)):
        for high in (each for each in tests if isinstance(each, _UNTIL) and each.this == low.this):
            yield low.this, low, high


def in_array(statement: Statement, _context: Context) -> str | None:
    """An array that is compared with a text has it as a member, of several texts any."""
    changed = []
    for node in list(statement.tree.find_all(*_TEXTS)):
        texts = _texts(node)
        if not texts or not _type(node.this, statement.scopes).endswith("[]"):
            continue
        array = node.this.copy()
        member: exp.Expr = exp.EQ(this=texts[0], expression=exp.Any(this=exp.paren(array)))
        if len(texts) > 1:
            member = exp.ArrayOverlaps(this=array, expression=exp.Array(expressions=texts))
        node.replace(exp.not_(member) if isinstance(node, exp.NEQ) else member)
        changed.append(node.this.name)
    return f"looks for a member of {', '.join(dict.fromkeys(changed))}" if changed else None


def _texts(node: exp.Expr) -> list[exp.Expr]:
    """The texts that a node compares with, of a pattern what stands between its percent signs."""
    given = node.expressions if isinstance(node, exp.In) else [node.expression]
    if not all(isinstance(each, exp.Literal) and each.is_string for each in given):
        return []
    if not isinstance(node, exp.Like | exp.ILike):
        return [each.copy() for each in given]
    return [exp.Literal.string(_EDGES.sub("", given[0].name))]


def by_member(statement: Statement, _context: Context) -> str | None:
    """Groups by each member of an array in place of whole arrays."""
    tree = statement.tree
    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    arrays = [each for each in group.expressions if _is_array(each, statement.scopes)] if group else []
    for column in list(tree.find_all(exp.Column)) if arrays else ():
        if column in arrays and column.parent_select is tree:
            member = exp.Explode(this=column.copy())
            shown = isinstance(column.parent, exp.Select)
            column.replace(exp.alias_(member, "member") if shown else member)
    return f"each member of {', '.join(each.name for each in arrays)} by itself" if arrays else None


def members_counted(statement: Statement, context: Context) -> str | None:
    """Counts an array's members where the question asks how many, and `COUNT` counts the rows that have an array."""
    tree = statement.tree
    counts = [
        each
        for each in tree.find_all(exp.Count)
        if _is_array(each.this, statement.scopes) and _asks_how_many(each.this.name, context.question)
    ]
    if not counts or not isinstance(tree, exp.Select) or len(from_parts(tree)) > 1 or tree.args.get("having"):
        return None
    if tree.args.get("group") and len(counts) < len(list(tree.find_all(exp.AggFunc))):
        return None
    for each in counts:
        size = exp.Anonymous(this="CARDINALITY", expressions=[each.this.copy()])
        each.replace(size if tree.args.get("group") else exp.Sum(this=size))
    tree.set("group", None)
    return f"counts the members of {', '.join(dict.fromkeys(each.this.name for each in counts))}"


def _asks_how_many(name: str, question: str) -> bool:
    words = identifier_words(name)
    asked = re.findall(r"\b(?:how many|number of|count of)\s+((?:[\w-]+\s+)?[\w-]+)", question.lower())
    return any(set(words) <= set(identifier_words(each)) for each in asked)


def _is_array(node: object, scopes: Scopes) -> bool:
    return _type(node, scopes).endswith("[]")


def _type(node: object, scopes: Scopes) -> str:
    """The type of a stored column; empty for anything else."""
    column = scopes.stored(node)
    return "" if column is None else column.type
