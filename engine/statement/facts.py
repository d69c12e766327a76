"""A statement as facts: what it says on each matter that a person may be asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from sqlglot import exp

from engine.statement.expressions import Literal, Part, Reader, joined, output_of
from engine.statement.read import statement_of
from engine.statement.scope import Scopes, conjuncts
from engine.statement.tree import parsed
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import ColumnKey, Snapshot


class Matter(Enum):
    """What a fact is about."""

    DATABASE = auto()
    TABLE = auto()
    OUTPUT = auto()
    CONDITION = auto()
    CONNECTION = auto()
    GROUP = auto()
    ORDER = auto()
    REPETITION = auto()
    COMBINATION = auto()


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a statement says."""

    matter: Matter
    parts: tuple[Part, ...]

    @property
    def columns(self) -> tuple[ColumnKey, ...]:
        """The columns and tables that it names, in order."""
        return tuple(part for part in self.parts if isinstance(part, tuple))

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The values that it names, in order."""
        return tuple(part for part in self.parts if isinstance(part, Literal))


def connection(one: tuple[Part, ...], other: tuple[Part, ...]) -> Fact:
    """That two columns hold the same, in an order of their own."""
    first, second = sorted((one, other), key=repr)
    return Fact(Matter.CONNECTION, joined((*first, "with", *second)))


def facts(sql: str, database: str, snapshot: Snapshot | None) -> tuple[Fact, ...]:
    """The facts of a statement, each once, outputs in order; of one that cannot be parsed the database alone."""
    found = [Fact(Matter.DATABASE, (database,))]
    apart = None if snapshot is None else statement_of(sql, snapshot).apart
    # Names are looked up by the nodes of their own tree.
    if (tree := parsed(sql) if apart is None else apart.tree) is not None:
        found += _Statement(tree, None if apart is None else apart.scopes).facts()
    return tuple(dict.fromkeys(found))


class _Statement:
    def __init__(self, tree: exp.Query, scopes: Scopes | None) -> None:
        self._tree = tree
        self._scopes = scopes
        first: exp.Expr = tree.unnest()
        while isinstance(first, exp.SetOperation):
            first = first.left.unnest()
        self._first = first if isinstance(first, exp.Select) else exp.Select()
        items = self._first.expressions
        named = {each.alias: each.this for each in items if isinstance(each, exp.Alias)}
        self._reader = Reader(scopes, named)

    def facts(self) -> Iterator[Fact]:
        yield from self._tables()
        for item in self._first.expressions:
            yield Fact(Matter.OUTPUT, self._reader.parts(item))
        for select in self._tree.find_all(exp.Select):
            yield from self._conditions(select)
            yield from self._groups(select)
            if select.args.get("distinct"):
                yield Fact(Matter.REPETITION, ("equal rows once",))
        yield from self._order()
        for operation in self._tree.find_all(exp.SetOperation):
            yield from self._combination(operation)

    def _tables(self) -> Iterator[Fact]:
        for read in self._scopes.all_reads() if self._scopes is not None else ():
            if read.table is not None:
                yield Fact(Matter.TABLE, ((*read.table.key, WHOLE_TABLE),))
        for join in self._tree.find_all(exp.Join):
            if join.side:
                yield Fact(Matter.CONNECTION, ("also rows without a match",))
            if (on := join.args.get("on")) is not None:
                yield from map(self._condition, conjuncts(on))

    def _conditions(self, select: exp.Select) -> Iterator[Fact]:
        for clause in ("where", "having"):
            if (given := select.args.get(clause)) is not None:
                yield from map(self._condition, conjuncts(given.this))

    def _condition(self, condition: exp.Expr) -> Fact:
        sides = (condition.left, condition.right) if isinstance(condition, exp.EQ) else ()
        if sides and all(isinstance(side, exp.Column) for side in sides):
            return connection(*(self._reader.parts(side) for side in sides))
        extreme = _extreme(condition)
        if extreme is not None:
            return Fact(Matter.ORDER, joined(("every row with the", *self._reader.parts(extreme))))
        return Fact(Matter.CONDITION, self._reader.parts(condition))

    def _groups(self, select: exp.Select) -> Iterator[Fact]:
        group = select.args.get("group")
        for key in group.expressions if group is not None else ():
            yield Fact(Matter.GROUP, self._reader.parts(output_of(key, select)))

    def _order(self) -> Iterator[Fact]:
        order, limit = self._tree.args.get("order"), self._tree.args.get("limit")
        number = limit.expression.name if limit is not None and limit.expression is not None else ""
        keys = order.expressions if order is not None else []
        if number == "1" and len(keys) == 1:
            end = "highest" if keys[0].args.get("desc") else "lowest"
            yield Fact(Matter.ORDER, joined((f"one row with the {end}", *self._key(keys[0]))))
            return
        for key in keys:
            way = "from highest to lowest" if key.args.get("desc") else "from lowest to highest"
            yield Fact(Matter.ORDER, joined(("sorted by", *self._key(key), way)))
        if number:
            yield Fact(Matter.ORDER, ("only the first", Literal(number, quoted=False)))

    def _key(self, key: exp.Expr) -> tuple[Part, ...]:
        return self._reader.parts(output_of(key.this, self._first))

    def _combination(self, operation: exp.SetOperation) -> Iterator[Fact]:
        kinds = {exp.Intersect: "only what both have", exp.Except: "the first without the second"}
        yield Fact(Matter.COMBINATION, (kinds.get(type(operation), "both together"),))


def _extreme(condition: exp.Expr) -> exp.Expr | None:
    """The aggregate of `x = (SELECT max(x) FROM …)`, which keeps all rows that share the highest value."""
    if not isinstance(condition, exp.EQ) or not isinstance(condition.this, exp.Column):
        return None
    query = condition.expression.unnest()
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.args.get("where"):
        return None
    item = query.expressions[0].unalias()
    same = isinstance(item, exp.Max | exp.Min) and item.this.name == condition.this.name
    return item if same else None
