"""What a statement leaves out of its rows unasked: those that tie with its last row, and those without a partner.

Owns which rows may be so, and the statement that counts them. Who runs it is `engine.findings.looks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.grain import without_using
from engine.statement.read import Draft
from engine.statement.scope import Scopes, TableRef, equality, from_parts, identifier, tests_of, written
from engine.values import wording
from schema_catalog.foreign_keys import Edge, ForeignKeyGraph
from schema_catalog.types import Table


@dataclass(frozen=True, slots=True)
class Countable:
    """Rows that a statement may leave out: the scalar query that counts them, and what is said of that many."""

    sql: str
    words: str


def left_out(_statement: Draft, context: Context) -> Iterator[str]:
    """In words, the rows that were counted, where there are any."""
    for words, number in context.counted:
        if number > 0:
            yield words.format(f"{number} row{'' if number == 1 else 's'}")


def countable(statement: Draft, context: Context, total: int | None) -> list[Countable]:
    """What may be counted of a statement. `total`: the rows that it gives, None where that is not known."""
    return [*_tied(statement.tree, total), *_without_partner(without_using(statement), context.references)]


def _tied(tree: exp.Query, total: int | None) -> Iterator[Countable]:
    """The rows behind the last one that are sorted as it is (docs 7.6)."""
    limit, order = tree.args.get("limit"), tree.args.get("order")
    if not isinstance(limit, exp.Limit) or order is None or tree.args.get("offset"):
        return
    most = limit.expression
    if not isinstance(most, exp.Literal) or not most.is_int or total not in (None, int(most.name)):
        return
    ties = exp.LimitOptions(rows=True, with_ties=True)
    with_ties = tree.copy()
    with_ties.set("limit", exp.Fetch(direction="FIRST", count=most.copy(), limit_options=ties))
    counted = exp.select(f"COUNT(*) - {most.name}").from_(exp.Subquery(this=with_ties, alias="tied"))
    yield Countable(counted.sql(dialect="postgres"), wording.LEAVES_OUT_TIED)


def _without_partner(statement: Draft, references: ForeignKeyGraph) -> Iterator[Countable]:
    """The rows of a table, of those that its own tests let through, whose reference leads to no row joined to them."""
    select, scopes = statement.tree, statement.scopes
    if not isinstance(select, exp.Select):
        return
    reads, tests = scopes.reads[id(select)], tests_of(select)
    for at, join in enumerate(from_parts(select)[1:], 1):
        equal = join.args.get("on")
        if join.args.get("side") or not isinstance(equal, exp.EQ):
            continue
        ends = [scopes.reading(each) for each in (equal.left, equal.right) if isinstance(each, exp.Column)]
        if reads[at] not in ends or len(ends) != 2 or None in ends or ends[0] is ends[1]:  # noqa: PLR2004
            continue
        for one, column, other, key in (
            (ends[0], equal.left.name, ends[1], equal.right.name),
            (ends[1], equal.right.name, ends[0], equal.left.name),
        ):
            edge = _lossy(one, column, other, key, references)
            if edge is not None and one is not None and other is not None and other.table is not None:
                yield from _lost(one, other, edge, tests, scopes)


def _lossy(
    one: TableRef | None, column: str, other: TableRef | None, key: str, references: ForeignKeyGraph
) -> Edge | None:
    """The reference by which a table is joined, where a row may lack what it refers to."""
    if one is None or other is None or one.table is None or other.table is None:
        return None
    sides = (one.table.key, (column,), other.table.key, (key,))
    for edge in references.edges(one.table.key):
        its = (edge.table, edge.columns, edge.other, edge.other_columns)
        if edge.referring and its == sides and not _is_total(one.table, edge):
            return edge
    return None


def _is_total(table: Table, edge: Edge) -> bool:
    """Whether the server sees to it that every row has a partner."""
    enforced = any(
        each.enforced
        for each in table.foreign_keys
        if (each.columns, (each.ref_schema, each.ref_table)) == (edge.columns, edge.other)
    )
    return enforced and not any(
        each.nullable and each.name not in table.primary_key
        for each in table.columns
        if each.name in edge.columns
    )


def _lost(
    one: TableRef, other: TableRef, edge: Edge, tests: Sequence[exp.Expr], scopes: Scopes
) -> Iterator[Countable]:
    """Nothing where the other table is tested: rows without a partner were not meant."""
    own = []
    for test in tests:
        columns = list(test.find_all(exp.Column))
        names = {None if (read := scopes.reading(each)) is None else read.name for each in columns}
        if other.name in names or test.find(exp.Query) is not None:
            return
        if names == {one.name}:
            own.append(test.copy())
    if one.table is None or other.table is None:
        return
    name = "partner" if one.name != "partner" else "other"
    partner = exp.select("1").from_(
        exp.alias_(written(other.table, scopes.snapshot), identifier(name), table=True)
    )
    partner = partner.where(equality(name, edge.other_columns, one.name, edge.columns))
    rows = exp.alias_(written(one.table, scopes.snapshot), identifier(one.name), table=True)
    counted = exp.select("COUNT(*)").from_(rows).where(*own, exp.not_(exp.Exists(this=partner)))
    words = wording.LEAVES_OUT_ALONE.format("{}", one.table.name, other.table.name)
    yield Countable(counted.sql(dialect="postgres"), words)
