"""Rules about columns of which one row holds several values: arrays and ranges (PostgreSQL docs 9.19, 9.20)."""

from __future__ import annotations

import re

from sqlglot import exp

from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import Scopes, from_parts
from engine.text.tokens import identifier_words

_PARTS = {"daterange": "date", "tsrange": "timestamp", "tstzrange": "timestamptz"}
_PARTS |= {"int4range": "int", "int8range": "bigint", "numrange": "numeric"}
"""Type of a range → type of what it holds."""

_TEXTS = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
_EDGES = re.compile(r"^%|%$")


def in_range(statement: Statement, _context: Context) -> str | None:
    """A range that is compared with a value holds it; one between two overlaps what lies between them."""
    changed = []
    for node in list(statement.tree.find_all(exp.EQ, exp.Between)):
        kind = statement.scopes.type_of(node.this)
        if kind not in _PARTS or isinstance(node.args.get("expression"), exp.Column):
            continue
        column = node.this.copy()
        if isinstance(node, exp.EQ):
            held = exp.cast(node.expression.copy(), _PARTS[kind], dialect="postgres")
            node.replace(exp.ArrayContainsAll(this=column, expression=held))
        else:
            bounds = [node.args["low"].copy(), node.args["high"].copy(), exp.Literal.string("[]")]
            node.replace(
                exp.ArrayOverlaps(
                    this=column, expression=exp.Anonymous(this=kind.upper(), expressions=bounds)
                )
            )
        changed.append(column.name)
    return f"looks into the range {', '.join(changed)}" if changed else None


def in_array(statement: Statement, _context: Context) -> str | None:
    """An array that is compared with a text has it as a member, of several texts any."""
    changed = []
    for node in list(statement.tree.find_all(*_TEXTS)):
        texts = _texts(node)
        if not texts or not _is_array(node.this, statement.scopes):
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
    tree, scopes = statement.tree, statement.scopes
    every = list(tree.find_all(exp.AggFunc))
    counts = [each for each in every if isinstance(each, exp.Count) and _is_array(each.this, scopes)]
    asked = all(_asks_how_many(each.this.name, context.question) for each in counts)
    alone = isinstance(tree, exp.Select) and len(from_parts(tree)) == 1 and not tree.args.get("having")
    grouped = tree.args.get("group")
    if not counts or not asked or not alone or (grouped and len(counts) < len(every)):
        return None
    for each in counts:
        size = exp.Anonymous(this="CARDINALITY", expressions=[each.this.copy()])
        each.replace(size if grouped else exp.Sum(this=size))
    tree.set("group", None)
    return f"counts the members of {', '.join(dict.fromkeys(each.this.name for each in counts))}"


def _asks_how_many(name: str, question: str) -> bool:
    asked = re.findall(r"\b(?:how many|number of)\s+((?:[\w-]+\s+)?[\w-]+)", question.lower())
    return any({*identifier_words(name)} <= {*identifier_words(each)} for each in asked)


def _is_array(node: object, scopes: Scopes) -> bool:
    return scopes.type_of(node).endswith("[]")
