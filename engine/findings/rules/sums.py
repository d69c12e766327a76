"""Rules about sums and shares: whole numbers that are divided, and numbers that say which row, not how much.

PostgreSQL divides whole numbers without what is behind the point (docs 9.3).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sqlglot import exp

from engine.findings.lint import Context
from engine.link.legends import legends
from engine.statement.read import Draft
from engine.statement.scope import Scopes
from engine.statement.tree import unwrapped
from engine.values import wording
from engine.values.elements import WHOLE_NUMBERS
from schema_catalog.types import ColumnKey, Table

_KEPT = (
    exp.Sum,
    exp.Paren,
    exp.Filter,
    exp.Window,
    exp.Min,
    exp.Max,
    exp.Abs,
    exp.Neg,
    exp.Nullif,
    exp.Alias,
)
"""What gives a whole number of a whole number, its first argument."""


def exact_division(statement: Draft, _context: Context) -> str | None:
    """Divides numbers of rows and sums of whole numbers exactly."""
    found = list(_whole_divisions(statement))
    for each in found:
        each.set("this", exp.cast(each.this.copy(), "numeric"))
    return wording.DIVIDES_EXACTLY if found else None


def divided_whole(statement: Draft, _context: Context) -> Iterator[str]:
    """In words, that whole numbers are divided."""
    if any(_whole_divisions(statement)):
        yield wording.DIVIDES_WHOLE


def _whole_divisions(statement: Draft) -> Iterator[exp.Div]:
    """The divisions of whole numbers one of which is of several rows."""
    for each in statement.tree.find_all(exp.Div):
        if each.left.find(exp.AggFunc) and all(
            _is_whole(side, statement.scopes) for side in (each.left, each.right)
        ):
            yield each


def _is_whole(node: exp.Expr, scopes: Scopes) -> bool:
    """Whether PostgreSQL has a whole number for it. A sum of bigint, which counts are, is numeric."""
    if isinstance(node, exp.Literal):
        return bool(node.is_int)
    if isinstance(node, exp.Column):
        return scopes.type_of(node) in WHOLE_NUMBERS
    if isinstance(node, exp.Sum) and _is_long(node, scopes):
        return False
    parts, cast = _parts(node), isinstance(node, exp.Cast) and node.is_type("int", "smallint", "bigint")
    return (
        cast
        or isinstance(node, exp.Count)
        or (bool(parts) and all(_is_whole(each, scopes) for each in parts))
    )


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """What has to be whole for a node to be so; nothing where that does not follow."""
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return [node.left, node.right]
    if isinstance(node, exp.Case):
        default = node.args.get("default")
        given = [branch.args["true"] for branch in node.args["ifs"]] + ([default] if default else [])
        return [each for each in given if not isinstance(each, exp.Null)]
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
        return node.this.expressions if len(node.this.expressions) == 1 else []
    return [node.this] if isinstance(node, _KEPT) else []


def _is_long(node: exp.Sum, scopes: Scopes) -> bool:
    summed = map(scopes.type_of, node.find_all(exp.Column))
    cast = any(each.is_type("bigint") for each in node.find_all(exp.Cast))
    return cast or node.find(exp.Count) is not None or "bigint" in summed


_FLAGS = frozenset({"0", "1"})
"""The codes whose sum is a number of rows, and whose average is a share."""


def adds_up_keys(statement: Draft, context: Context) -> Iterator[str]:
    """In words, the keys, references and codes that are added up or averaged."""
    references, codes = context.references, legends(statement.scopes.snapshot)
    for each in statement.tree.find_all(exp.Sum, exp.Avg):
        key = statement.scopes.key(unwrapped(each.this))
        table = None if key is None else statement.scopes.tables[key[:2]]
        if key is None or table is None:
            continue
        own = key[2] in table.primary_key
        refers = any(edge.referring and key[2] in edge.columns for edge in references.edges(table.key))
        named = {meaning.code for meaning in codes.get(key, ())}
        coded = not named <= _FLAGS and not _is_scale(key, table, named, context)
        if own or refers or coded:
            said = wording.ADDS_KEYS if isinstance(each, exp.Sum) else wording.AVERAGES_KEYS
            yield said.format(
                key[2], wording.A_KEY if own else wording.A_REFERENCE if refers else wording.A_CODE
            )


_LOW, _HIGH = re.compile(r"(?<!<)>=? \(*'?-?\d"), re.compile(r"<=? \(*'?-?\d")
"""Bounds as PostgreSQL writes them in a check."""


def _is_scale(key: ColumnKey, table: Table, named: Collection[str], context: Context) -> bool:
    """Whether the catalog says that a column of explained codes tells how much: a legend may explain a scale's ends.

    Then it has a unit, or numbers between the explained ones are stored, or a check allows them.
    """
    column = next(each for each in table.columns if each.name == key[2])
    if column.attributes is not None and column.attributes.unit:
        return True
    codes = {int(each) for each in named if each.lstrip("-").isdigit()}
    if len(codes) < len(named) or max(codes) - min(codes) < len(codes):
        return False
    stored = (value for each in context.told if each.column == key for value in each.values)
    others = {int(each) for each in stored if each.lstrip("-").isdigit()} - codes
    if any(min(codes) < each < max(codes) for each in others):
        return True
    checks = (column.domain, *(each.sql for each in table.checks if each.columns == (column.name,)))
    return any(_LOW.search(each) and _HIGH.search(each) for each in checks)
