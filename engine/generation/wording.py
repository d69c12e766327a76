"""What the words of a question settle about a statement that the model got wrong.

Owns three of them. "Not", where what is excluded is one of many: students without a cat are not those who own another
pet. "Both … and", where no one row can be both. And a table that the question calls by its name, of which the
statement reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.generation.scopes import Read, Scopes, from_parts, parsed
from engine.routing.words import identifier_words
from engine.state import TableKey
from schema_catalog.types import Snapshot, Table

_NEGATION = re.compile(
    r"\b(?:not|no|never|without|none|neither|nor|except|excluding)\b|n['\u2019]t\b", re.IGNORECASE
)
_BOTH = re.compile(r"\bboth\b", re.IGNORECASE)
_AND = re.compile(r"\band\b", re.IGNORECASE)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_MORE = ("group", "having", "windows", "qualify", "with_", "with")
_END = ("order", "limit", "offset")
_TWO = 2


def unread(question: str, tables: Iterable[TableKey], snapshot: Snapshot) -> list[Table]:
    """The tables called by name in `question` of which a statement over `tables` reads neither them nor a reference.

    A name that is part of a longer one of the schema, or ends a column's, is not taken for a table's: a "country" may
    be a column of cities.
    """
    read = frozenset(tables)
    known = [table for table in snapshot.tables if table.key in read]
    covered = read | {(key.ref_schema, key.ref_table) for table in known for key in table.foreign_keys}
    columns = {identifier_words(column.name) for _, column in snapshot.columns()}
    names = columns | {identifier_words(table.name) for table in snapshot.tables}
    endings = {column[-1] for column in columns if column}
    asked = identifier_words(question)
    return [
        table
        for table in snapshot.tables
        if table.key not in covered
        and (name := identifier_words(table.name))
        and name[-1] not in endings
        and _stands_alone(name, asked, names)
    ]


def _stands_alone(name: Sequence[str], asked: Sequence[str], names: Iterable[Sequence[str]]) -> bool:
    """Whether `name` is somewhere in `asked` and not as a part of a longer one of `names`."""
    inside = {
        place + at
        for longer in names
        if len(longer) > len(name)
        for at in _places(name, longer)
        for place in _places(longer, asked)
    }
    return any(place not in inside for place in _places(name, asked))


def _places(part: Sequence[str], whole: Sequence[str]) -> list[int]:
    return [n for n in range(len(whole) - len(part) + 1) if tuple(whole[n : n + len(part)]) == tuple(part)]


def reworded(sql: str, question: str, snapshot: Snapshot) -> str | None:
    """`sql` as "not" and "both" have it; None where they leave it as it is."""
    tree = parsed(sql)
    if not isinstance(tree, exp.Select) or any(tree.args.get(each) for each in _MORE):
        return None
    joined = _joined(tree, Scopes(tree, snapshot))
    if joined is None:
        return None
    other = _shared(joined, question) or (_excluded(joined) if _NEGATION.search(question) else None)
    return None if other is None else other.sql(dialect="postgres")


@dataclass(frozen=True, slots=True)
class _Link:
    """A join's equality, from the column of one table to that of another."""

    near: exp.Column
    far: exp.Column

    def turned(self) -> _Link:
        """The same from the other side."""
        return _Link(self.far, self.near)


@dataclass(frozen=True, slots=True)
class _Branch:
    """Tables that are joined to the others by one link alone, many rows of theirs to one of the others' or not."""

    reads: list[Read]
    link: _Link
    many: bool


@dataclass(frozen=True, slots=True)
class _Joined:
    """A select of tables joined by equalities: what it reads, by which links, and the parts of its WHERE."""

    tree: exp.Select
    scopes: Scopes
    reads: list[Read]
    links: list[_Link]
    tests: list[exp.Expr]

    def names(self, parts: Iterable[exp.Expr]) -> set[str]:
        """Of what FROM reads, that which `parts` speak of."""
        columns = (column for part in parts for column in part.find_all(exp.Column))
        return {read.name for column in columns if (read := self.scopes.reading(column)) is not None}

    def shown(self) -> list[exp.Expr]:
        """What is given and sorted by."""
        return [*self.tree.expressions, *(part for name in _END if (part := self.tree.args.get(name)))]

    def branch(self, column: exp.Column, kept: set[str]) -> _Branch | None:
        """The tables from that of `column` up to those that are kept; None where it is kept, or more than one link."""
        start = self.scopes.reading(column)
        if start is None or start.name in kept:
            return None
        inside, ways = {start.name}, [*self.links, *(link.turned() for link in self.links)]
        while new := {self._name(way.far) for way in ways if self._name(way.near) in inside} - kept - inside:
            inside |= new
        border = [way for way in ways if self._name(way.near) in kept and self._name(way.far) in inside]
        far = self.scopes.reading(border[0].far) if len(border) == 1 else None
        if far is None or far.table is None:
            return None
        reads = [read for read in self.reads if read.name in inside]
        return _Branch(reads, border[0], many=far.table.primary_key != (border[0].far.name,))

    def without(self, test: exp.Expr, reads: Sequence[Read]) -> exp.Select:
        """The select less a part of its WHERE and less some tables."""
        names = {read.name for read in reads}
        select = self.over([read for read in self.reads if read.name not in names], self.tree.expressions)
        for each in self.tests:
            if each is not test:
                select.where(each.copy(), copy=False)
        for name in ("distinct", *_END):
            if part := self.tree.args.get(name):
                select.set(name, part.copy())
        return select

    def over(self, reads: Sequence[Read], items: Sequence[exp.Expr]) -> exp.Select:
        """`items` of `reads`, joined by the links between them."""
        select = exp.select(*(item.copy() for item in items)).from_(reads[0].node.copy())
        there = {reads[0].name}
        ways = [*self.links, *(link.turned() for link in self.links)]
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


def _joined(tree: exp.Select, scopes: Scopes) -> _Joined | None:
    """None where the select is more than that."""
    reads, links = scopes.reads[id(tree)], []
    for join in from_parts(tree)[1:]:
        on = join.args.get("on")
        if join.args.get("side") or not isinstance(on, exp.EQ):
            return None
        if not isinstance(on.left, exp.Column) or not isinstance(on.right, exp.Column):
            return None
        links.append(_Link(on.left, on.right))
    if not reads or any(read.table is None for read in reads):
        return None
    where = tree.args.get("where")
    tests = [] if where is None else list(_parts(where.this))
    return _Joined(tree, scopes, reads, links, tests)


def _parts(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And):
        yield from _parts(condition.left)
        yield from _parts(condition.right)
    else:
        yield condition


def _excluded(joined: _Joined) -> exp.Query | None:
    """`JOIN pets … WHERE kind <> 'cat'` as `NOT IN (SELECT … WHERE kind = 'cat')`."""
    for test in joined.tests:
        column, opposite = _opposite(test)
        if column is None or opposite is None:
            continue
        kept = joined.names([*joined.shown(), *(each for each in joined.tests if each is not test)])
        kept = kept or {joined.reads[0].name}
        branch = joined.branch(column, kept)
        if branch is None or not branch.many:
            continue
        inside = joined.over(branch.reads, [branch.link.far]).where(opposite)
        outside = joined.without(test, branch.reads)
        return outside.where(exp.In(this=branch.link.near.copy(), query=exp.Subquery(this=inside)).not_())
    return None


def _opposite(test: exp.Expr) -> tuple[exp.Column | None, exp.Expr | None]:
    """The column and the positive form of `c <> …`, `NOT c LIKE …` and `NOT c IN (…)` over values; else Nones."""
    if isinstance(test, exp.NEQ):
        positive: exp.Expr = exp.EQ(this=test.this.copy(), expression=test.expression.copy())
    elif isinstance(test, exp.Not) and isinstance(test.this, exp.EQ | exp.Like | exp.ILike | exp.In):
        positive = test.this.copy()
    else:
        return None, None
    column = positive.this
    if (
        not isinstance(column, exp.Column)
        or len(list(test.find_all(exp.Column))) > 1
        or test.find(exp.Select)
    ):
        return None, None
    return test.find(exp.Column), positive


def _shared(joined: _Joined, question: str) -> exp.Query | None:
    """`c IN ('a', 'b')`, or both at once, as the one query's rows that are the other's too."""
    if any(joined.tree.args.get(name) for name in _END) or any(
        item.find(exp.AggFunc) for item in joined.tree.expressions
    ):
        return None
    for tests, column, values in _either(joined.tests):
        if len(tests) == 1 and not _meant_together(joined, column, question):
            continue
        one, other = (_with(joined.tree, tests, column, value) for value in values)
        return exp.intersect(one, other, dialect="postgres")
    return None


def _either(
    tests: Sequence[exp.Expr],
) -> Iterator[tuple[list[exp.Expr], exp.Column, list[exp.Expr]]]:
    """Where a column is compared with two values: the parts of WHERE, the column and the values."""
    for test in tests:
        bare = test.unnest()
        if isinstance(bare, exp.In) and len(bare.expressions) == _TWO and isinstance(bare.this, exp.Column):
            yield [test], bare.this, bare.expressions
        elif isinstance(bare, exp.Or) and (same := _same_column([bare.left, bare.right])):
            yield [test], *same
    for n, one in enumerate(tests):
        for other in tests[n + 1 :]:
            if same := _same_column([one, other]):
                yield [one, other], *same


def _same_column(tests: Sequence[exp.Expr]) -> tuple[exp.Column, list[exp.Expr]] | None:
    bare = [test.unnest() for test in tests]
    if not all(isinstance(test, exp.EQ) and isinstance(test.expression, exp.Literal) for test in bare):
        return None
    column, values = bare[0].this, [test.expression for test in bare]
    if (
        not isinstance(column, exp.Column)
        or any(test.this != column for test in bare)
        or values[0] == values[1]
    ):
        return None
    return column, values


def _meant_together(joined: _Joined, column: exp.Column, question: str) -> bool:
    """Whether the question's words want one that has both values, and not those that have either."""
    if _OR.search(question):
        return False
    if _BOTH.search(question):
        return True
    branch = joined.branch(column, joined.names(joined.shown()))
    return bool(_AND.search(question)) and branch is not None and branch.many


def _with(
    tree: exp.Select, tests: Sequence[exp.Expr], column: exp.Column, value: exp.Expr
) -> exp.Select:
    where = tree.args["where"]
    kept = [test.copy() for test in _parts(where.this) if all(test is not each for each in tests)]
    select = tree.copy()
    select.set("where", None)
    equal = exp.EQ(this=column.copy(), expression=value.copy())
    return select.where(*kept, equal)
