"""A select of tables that are joined by equalities: what hangs on what, and the select without a part of it.

Owns taking such statements apart. Why a part is taken out is its callers' to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.rewrite.scope import Scopes, TableRef, from_parts

SORTING = ("order", "limit", "offset")
"""The clauses of a select that come after its rows are known."""

GROUPING = ("group", "having")
"""The clauses of a select that make groups of its rows."""

_MORE = ("windows", "qualify", "with_", "with")
"""The clauses of a select that is more than a join tree with conditions, sorted or grouped."""


@dataclass(frozen=True, slots=True)
class JoinEdge:
    """A join's equality, from the column of one table to that of another."""

    near: exp.Column
    far: exp.Column

    def turned(self) -> JoinEdge:
        """The same from the other side."""
        return JoinEdge(self.far, self.near)


@dataclass(frozen=True, slots=True)
class Branch:
    """Tables that are joined to the others by one link alone, many rows of theirs to one of the others' or not."""

    reads: list[TableRef]
    link: JoinEdge
    many: bool


@dataclass(frozen=True, slots=True)
class JoinTree:
    """A select of tables joined by equalities: what it reads, by which links, and the parts of its WHERE."""

    tree: exp.Select
    scopes: Scopes
    reads: list[TableRef]
    links: list[JoinEdge]
    tests: list[exp.Expr]

    def ways(self) -> list[JoinEdge]:
        """The links, from either side."""
        return [*self.links, *(link.turned() for link in self.links)]

    def names(self, parts: Iterable[exp.Expr]) -> set[str]:
        """Of what FROM reads, that which `parts` speak of."""
        columns = (column for part in parts for column in part.find_all(exp.Column))
        return {read.name for column in columns if (read := self.scopes.reading(column)) is not None}

    def aggregates(self) -> bool:
        """Whether something shown is an aggregate."""
        return any(item.find(exp.AggFunc) for item in self.tree.expressions)

    def shown(self) -> list[exp.Expr]:
        """What is given, grouped by and sorted by."""
        parts = (self.tree.args.get(name) for name in (*GROUPING, *SORTING))
        return [*self.tree.expressions, *(part for part in parts if part)]

    def branch(self, column: exp.Column, kept: set[str]) -> Branch | None:
        """The tables from that of `column` up to those that are kept; None where it is kept, or more than one link."""
        start = self.scopes.reading(column)
        if start is None or start.name in kept:
            return None
        inside, ways = {start.name}, self.ways()
        while new := {self._name(way.far) for way in ways if self._name(way.near) in inside} - kept - inside:
            inside |= new
        border = [way for way in ways if self._name(way.near) in kept and self._name(way.far) in inside]
        far = self.scopes.reading(border[0].far) if len(border) == 1 else None
        if far is None or far.table is None:
            return None
        reads = [read for read in self.reads if read.name in inside]
        return Branch(reads, border[0], many=far.table.primary_key != (border[0].far.name,))

    def without(self, tests: Sequence[exp.Expr], reads: Sequence[TableRef]) -> exp.Select:
        """The select less some parts of its WHERE and less some tables."""
        names = {read.name for read in reads}
        select = self.over([read for read in self.reads if read.name not in names], self.tree.expressions)
        for each in without_tests(self.tests, tests):
            select.where(each.copy(), copy=False)
        for name in ("distinct", *GROUPING, *SORTING):
            if part := self.tree.args.get(name):
                select.set(name, part.copy())
        return select

    def over(self, reads: Sequence[TableRef], items: Sequence[exp.Expr]) -> exp.Select:
        """`items` of `reads`, joined by the links between them."""
        select = exp.select(*(item.copy() for item in items)).from_(reads[0].node.copy())
        there, ways = {reads[0].name}, self.ways()
        for _ in reads[1:]:
            read, way = next(
                (read, way)
                for way in ways
                for read in reads
                if self._name(way.near) in there
                and self._name(way.far) == read.name
                and read.name not in there
            )
            select.join(
                read.node.copy(), on=exp.EQ(this=way.near.copy(), expression=way.far.copy()), copy=False
            )
            there.add(read.name)
        return select

    def _name(self, column: exp.Column) -> str:
        read = self.scopes.reading(column)
        return "" if read is None else read.name


def join_tree(tree: exp.Query, scopes: Scopes, *, grouped: bool = False) -> JoinTree | None:
    """None where the statement is more than that, or a join compares other tables than its own with one before it.

    `grouped`: it may make groups of its rows.
    """
    more = _MORE if grouped else (*_MORE, *GROUPING)
    if not isinstance(tree, exp.Select) or any(tree.args.get(each) for each in more):
        return None
    reads, links = scopes.reads[id(tree)], []
    if not reads or any(read.table is None for read in reads):
        return None
    before = {reads[0].name}
    for read, join in zip(reads[1:], from_parts(tree)[1:], strict=True):
        on = join.args.get("on")
        if join.args.get("side") or not isinstance(on, exp.EQ):
            return None
        if not isinstance(on.left, exp.Column) or not isinstance(on.right, exp.Column):
            return None
        link = JoinEdge(on.left, on.right)
        ends = {found.name for end in (link.near, link.far) if (found := scopes.reading(end)) is not None}
        if read.name not in ends or not ends & before:
            return None
        links.append(link)
        before.add(read.name)
    return JoinTree(tree, scopes, reads, links, tests_of(tree))


def tests_of(query: exp.Query) -> list[exp.Expr]:
    """The parts of its WHERE, all of which have to hold; none of a set operation."""
    where = query.args.get("where")
    return [] if where is None else list(conjuncts(where.this))


def without_tests(tests: Sequence[exp.Expr], dropped: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Those of `tests` that are none of `dropped`; of two alike one may stay."""
    return [test for test in tests if all(test is not each for each in dropped)]


def keep_tests(query: exp.Query, tests: Sequence[exp.Expr]) -> None:
    """Leaves `tests` of its WHERE."""
    query.set("where", exp.Where(this=exp.and_(*tests, copy=False)) if tests else None)


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that all have to hold."""
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition
