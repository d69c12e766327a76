"""A normal form of a statement: equal where two statements mean the same by their syntax.

Owns the equivalences of queries: aliases, the order of inner joins, WITH queries against subqueries, output
names, conditions in ON against WHERE. It is conservative: statements that mean the same may well differ here,
but statements that are equal here give the same rows in every database (in the same order, where ORDER BY
decides it). Names of output columns do not count. What it cannot prove, it compares as written.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pglast import ast, enums

from engine.sql.binder import bind
from engine.sql.bound_query import Bound, Cell, Cte, Function, Join, Merged, Output, Query, Ref, Source
from engine.sql.expression_normal_form import Expressions, UnfitError, as_written, direction
from schema_catalog.types import Snapshot, Table

_MAX_RUN = 3
_MAX_ORDERS = 12
"""Same-looking tables (self-joins) whose orders are tried, and how many orders, for the least text."""

_ONE_COLUMN = frozenset(
    {"generate_series", "generate_subscripts", "regexp_matches", "regexp_split_to_table", "string_to_table"}
)
"""Functions in FROM whose only column the alias names; with others, the alias may mean a row or a column."""


def canonical(sql: str, snapshot: Snapshot) -> str:
    """The normal form of one query against `snapshot`; not SQL. Raises as `engine.sql.binder.bind`."""
    bound = bind(sql, snapshot)
    if not bound.problems:
        try:
            return f"query: {_Canonical(bound).query(bound.root)}"
        except UnfitError:
            pass
    return f"written: {as_written(bound.root)}"


@dataclass(frozen=True, slots=True)
class _Group:
    """Inner-joined parts of FROM and the conditions that join them."""

    leaves: tuple[_Leaf, ...]
    conditions: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A table, subquery or function in FROM."""

    node: Any
    sample: Any = None


@dataclass(frozen=True, slots=True)
class _Outer:
    """An outer join; a right join is a left join with its arms exchanged."""

    join: Join
    left: _Group
    right: _Group
    conditions: tuple[Any, ...]


_Leaf = _Entry | _Outer


class _Canonical(Expressions):
    """Renders one bound statement. A source is called by its depth of nesting and its place in FROM."""

    def __init__(self, bound: Bound) -> None:
        super().__init__()
        self._bound = bound
        self._labels: dict[Source, str] = {}
        self._depth = 0
        self._windows: dict[str, Any] = {}
        # Texts of this query's entries of FROM that read none of each other, by the entry's `id`.
        self._texts: dict[int, str] = {}
        self._recursive: list[Cte] = []
        reads = Counter(s.origin for s in bound.sources.values() if isinstance(s.origin, Cte))
        self._shared = [cte for cte, times in reads.items() if times > 1]

    # Names

    def bound(self, node: Any) -> Ref:
        """The binding of a column reference."""
        return self._bound.refs[id(node)]

    def reference(self, ref: Ref) -> str:
        """The text of a binding; raises `UnfitError` for a whole row, which depends on column names."""
        match ref:
            case Cell(source, name, position):
                return self._cell(source, name, position)
            case Merged(left, _, Join.INNER | Join.LEFT):
                return self.reference(left)
            case Merged(_, right, Join.RIGHT):
                return self.reference(right)
            case Merged(left, right, _):
                return f"(coalesce {self.reference(left)} {self.reference(right)})"
            case Output(position):
                return f"#{position}"
            case _:
                raise UnfitError("a whole row")

    def _cell(self, source: Source, name: str, position: int | None) -> str:
        label = self._labels[source]
        if isinstance(source.origin, Table) and position is not None:
            return f"{label}.{source.origin.columns[position].name!r}"
        if isinstance(source.origin, Function):
            return f"{label}.{self._function_column(source, name)!r}"
        return f"{label}.{position}"

    def _function_column(self, source: Source, name: str) -> str | int:
        node = source.origin.node if isinstance(source.origin, Function) else None
        if not isinstance(node, ast.RangeFunction):
            raise UnfitError("a column of JSON_TABLE")
        given: Any = node.alias.colnames or () if node.alias else ()
        named = [part.sval for part in given]
        if name in named:
            return named.index(name)
        functions: Any = node.functions
        call = functions[0][0]
        single = len(functions) == 1 and isinstance(call, ast.FuncCall) and not node.ordinality
        if single and call.funcname[-1].sval in _ONE_COLUMN:
            return 0
        if name == source.name:
            raise UnfitError("a column or a row, as the function decides")
        return name

    # Queries

    def query(self, node: Any) -> str:
        """The text of a SELECT, VALUES or set operation."""
        return self._nested(node, existence=False)

    def existence(self, node: Any) -> str:
        """The text of a subquery in EXISTS: only its rows count, not their values."""
        return self._nested(node, existence=True)

    def _nested(self, node: Any, *, existence: bool) -> str:
        if node.intoClause is not None or node.lockingClause:
            raise UnfitError("not a plain query")
        self.spend()
        outer = self._windows, self._texts
        self._windows = {window.name: window for window in node.windowClause or ()}
        self._texts = {}
        self._depth += 1
        try:
            if node.op != enums.SetOperation.SETOP_NONE:
                return self._set_operation(node)
            if node.valuesLists:
                return f"(values {self.expression(node.valuesLists)} {self._tail(node)})"
            return self._select(node, existence=existence)
        finally:
            self._depth -= 1
            self._windows, self._texts = outer

    def _set_operation(self, node: Any) -> str:
        arms = [self.query(node.larg), self.query(node.rarg)]
        if node.op != enums.SetOperation.SETOP_EXCEPT:
            arms.sort()
        return f"({node.op.name} {'all' if node.all else 'distinct'} {' '.join(arms)} {self._tail(node)})"

    def _select(self, node: Any, *, existence: bool) -> str:
        query = self._bound.queries[id(node)]
        group = self._group(node.fromClause or ())
        texts = []
        for leaves in self._orders(group):
            self._label(leaves)
            conditions = self.conjuncts([*group.conditions, node.whereClause])
            parts = [
                f"from [{' '.join(map(self._leaf, leaves))}]",
                f"where {' '.join(sorted(conditions))}",
                f"group {self._groups(node, query)}",
                f"having {' '.join(sorted(self.conjuncts([node.havingClause])))}",
                self._tail(node),
            ]
            if not (existence and _only_rows_count(node)):
                parts.append(f"give [{' '.join(self._output(value) for _, value in query.outputs)}]")
                parts.append(self._distinct(node, query))
            texts.append(f"(select {' '.join(parts)})")
        return min(texts)

    def _output(self, value: Any) -> str:
        if isinstance(value, ast.Node):
            return self.expression(value)
        return self.reference(value)

    def _distinct(self, node: Any, query: Query) -> str:
        if not node.distinctClause:
            return ""
        keys = [self._key(part, query) for part in node.distinctClause if part is not None]
        return f"distinct [{' '.join(keys)}]"

    def _groups(self, node: Any, query: Query) -> str:
        if node.groupClause is None:
            return "none"
        texts = [self._grouping(part, query) for part in node.groupClause]
        if not node.groupDistinct and not any(isinstance(part, ast.GroupingSet) for part in node.groupClause):
            texts = sorted(set(texts))
        return f"{'distinct' if node.groupDistinct else ''}[{' '.join(texts)}]"

    def _grouping(self, node: Any, query: Query) -> str:
        if isinstance(node, ast.GroupingSet):
            contents = [self._grouping(part, query) for part in node.content or ()]
            kind: Any = node.kind
            return f"({kind.name} {' '.join(contents)})"
        if isinstance(node, ast.RowExpr):
            return f"(row {' '.join(self._grouping(part, query) for part in node.args or ())})"
        return self._key(node, query)

    def _key(self, node: Any, query: Query) -> str:
        """An element of GROUP BY, DISTINCT ON or ORDER BY: a number or an output's name is its expression."""
        ref = self._bound.refs.get(id(node))
        if isinstance(ref, Output):
            return self._output(query.outputs[ref.position][1])
        return self.expression(node)

    def _tail(self, node: Any) -> str:
        """ORDER BY, LIMIT and OFFSET."""
        query = self._bound.queries[id(node)]
        keys = [f"({self._key(part.node, query)} {direction(part)})" for part in node.sortClause or ()]
        ties = node.limitOption == enums.LimitOption.LIMIT_OPTION_WITH_TIES
        limit = _unlimited(node.limitCount) or f"{'ties ' if ties else ''}{self.expression(node.limitCount)}"
        nothing = _unlimited(node.limitOffset) or self.expression(node.limitOffset)
        offset = "none" if nothing == "(Integer 0)" else nothing
        return f"order [{' '.join(keys)}] limit {limit} offset {offset}"

    def window(self, node: Any) -> str:
        """The text of a window, of its definition where it is named; raises `UnfitError` where that extends another."""
        if node.name is not None:
            if node.name not in self._windows:
                raise UnfitError("a window that is not defined")
            node = self._windows[node.name]
        if node.refname is not None:
            raise UnfitError("a window that extends another")
        partition = sorted({self.expression(part) for part in node.partitionClause or ()})
        order = [self.sort_key(part) for part in node.orderClause or ()]
        frame = [self.expression(part) for part in (node.frameOptions, node.startOffset, node.endOffset)]
        return f"(by [{' '.join(partition)}] order [{' '.join(order)}] frame {' '.join(frame)})"

    # FROM

    def _group(self, nodes: Iterable[Any]) -> _Group:
        """Flattens comma and inner joins, whose operands commute."""
        leaves: list[_Leaf] = []
        conditions: list[Any] = []
        for node in nodes:
            if not isinstance(node, ast.JoinExpr):
                sampled = isinstance(node, ast.RangeTableSample)
                leaves.append(_Entry(node.relation, node) if sampled else _Entry(node))
                continue
            own = (*((node.quals,) if node.quals is not None else ()), *self._bound.merges[id(node)])
            if node.jointype == enums.JoinType.JOIN_INNER:
                inner = self._group((node.larg, node.rarg))
                leaves.extend(inner.leaves)
                conditions.extend((*inner.conditions, *own))
                continue
            left, right = self._group((node.larg,)), self._group((node.rarg,))
            if node.jointype == enums.JoinType.JOIN_RIGHT:
                left, right = right, left
            full = node.jointype == enums.JoinType.JOIN_FULL
            leaves.append(_Outer(Join.FULL if full else Join.LEFT, left, right, own))
        return _Group(tuple(leaves), tuple(conditions))

    def conjuncts(self, nodes: Iterable[Any]) -> set[str]:
        """The texts of conditions that all have to hold, the equalities of USING among them."""
        given = list(nodes)
        equal = {
            f"(= {' '.join(sorted([self.reference(pair.left), self.reference(pair.right)]))})"
            for pair in given
            if isinstance(pair, Merged)
        }
        return super().conjuncts(node for node in given if not isinstance(node, Merged)) | equal

    def _orders(self, group: _Group) -> list[tuple[_Leaf, ...]]:
        """The orders of the parts of FROM to try: one, or more where several have the same shape."""
        if any(self._depends(leaf) for leaf in group.leaves):
            return [group.leaves]
        shapes = [(self._shape(leaf), leaf) for leaf in group.leaves]
        shapes.sort(key=lambda pair: pair[0])
        runs = [[leaf for _, leaf in run] for _, run in itertools.groupby(shapes, key=lambda pair: pair[0])]
        # Longer runs keep the order of the text: their orders are too many to list.
        listed = ([*itertools.permutations(run)] if len(run) <= _MAX_RUN else [tuple(run)] for run in runs)
        choices = itertools.product(*listed)
        return [tuple(itertools.chain(*choice)) for choice in itertools.islice(choices, _MAX_ORDERS)]

    def _depends(self, leaf: _Leaf) -> bool:
        """Whether a part of FROM may read the entries to its left."""
        if isinstance(leaf, _Outer):
            return any(map(self._depends, (*leaf.left.leaves, *leaf.right.leaves)))
        if isinstance(leaf.node, ast.RangeSubselect):
            return bool(leaf.node.lateral)
        return leaf.sample is not None or not isinstance(leaf.node, ast.RangeVar)

    def _label(self, leaves: Iterable[_Leaf]) -> None:
        for place, entry in enumerate(_entries(leaves)):
            self._labels[self._bound.sources[id(entry.node)]] = f"{self._depth}.{place}"

    def _shape(self, leaf: _Leaf) -> str:
        """The text of a part of FROM before anything in it has a label."""
        if isinstance(leaf, _Outer):
            sides = [" ".join(map(self._shape, side.leaves)) for side in (leaf.left, leaf.right)]
            return f"({leaf.join.value} [{sides[0]}] [{sides[1]}])"
        return self._entry(leaf)

    def _leaf(self, leaf: _Leaf) -> str:
        if isinstance(leaf, _Entry):
            return self._entry(leaf)
        left, right = (self._side_of_outer(side) for side in (leaf.left, leaf.right))
        on = " ".join(sorted(self.conjuncts(leaf.conditions)))
        return f"({leaf.join.value} {left} {right} on {on})"

    def _side_of_outer(self, group: _Group) -> str:
        leaves = " ".join(map(self._leaf, group.leaves))
        return f"[{leaves} where {' '.join(sorted(self.conjuncts(group.conditions)))}]"

    def _entry(self, entry: _Entry) -> str:
        text = self._texts.get(id(entry.node))
        if text is None:
            text = self._rendered(entry)
            if not self._depends(entry):
                self._texts[id(entry.node)] = text
        return text

    def _rendered(self, entry: _Entry) -> str:
        source = self._bound.sources[id(entry.node)]
        match source.origin:
            case Table():
                only = "" if entry.node.inh else "only "
                sample = "" if entry.sample is None else self._sample(entry.sample)
                return f"({only}table {source.origin.schema!r} {source.origin.name!r}{sample})"
            case Query(node):
                return self.query(node)
            case Cte():
                return self._cte(source.origin)
            case Function(node) if isinstance(node, ast.RangeFunction):
                calls = [self.expression(part) for call in node.functions or () for part in call]
                flags = f"{bool(node.ordinality)} {self.expression(node.coldeflist)}"
                return f"(function [{' '.join(calls)}] {flags})"
            case _:
                raise UnfitError("an entry of FROM without a normal form")

    def _sample(self, node: Any) -> str:
        parts = [self.expression(part) for part in (node.method, node.args, node.repeatable)]
        return f" sample {' '.join(parts)}"

    def _cte(self, cte: Cte) -> str:
        """A WITH query stands where it is read, as a subquery would.

        One that is read twice gives the same rows both times, of any that LIMIT may pick; two subqueries may not.
        """
        if cte in self._recursive:
            return f"(self {self._recursive.index(cte)})"
        if cte.node.search_clause is not None or cte.node.cycle_clause is not None:
            raise UnfitError("SEARCH or CYCLE, which name columns")
        if not cte.recursive:
            text = self.query(cte.node.ctequery)
            return f"(shared {self._shared.index(cte)} {text})" if cte in self._shared else text
        self._recursive.append(cte)
        try:
            return f"(recursive {self.query(cte.node.ctequery)})"
        finally:
            self._recursive.pop()


def _entries(leaves: Iterable[_Leaf]) -> Iterator[_Entry]:
    for leaf in leaves:
        if isinstance(leaf, _Entry):
            yield leaf
        else:
            yield from _entries((*leaf.left.leaves, *leaf.right.leaves))


def _unlimited(node: Any) -> str:
    """`none` where LIMIT or OFFSET is absent, ALL or NULL."""
    absent = node is None or (isinstance(node, ast.A_Const) and node.isnull)
    return "none" if absent else ""


def _only_rows_count(node: Any) -> bool:
    """Whether EXISTS gives the same for any output list: the list is plain and merges no rows."""
    plain = all(isinstance(target.val, ast.A_Const | ast.ColumnRef) for target in node.targetList or ())
    return plain and not node.distinctClause
