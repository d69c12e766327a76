"""What of a statement a masked column stands in: anything but a join by a declared key is refused.

Owns the check over bound columns, and which columns show the values of masked ones: of views by their definitions, of
children, generated columns and referring keys. What cannot be followed is refused: a view that is no plain list of
columns, a function that is not PostgreSQL's. Reads no server: `engine.upstream` gives the lineage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from pglast import ast, enums

from engine.guard import Allowed, Analysis, Rules, check
from engine.statement.binder import bind_tree
from engine.statement.bound_query import Bound, Cell, Merged, Ref, Unbound
from engine.statement.printing.trees import nodes
from engine.statement.resolution import columns_of
from schema_catalog.types import ColumnKey, Sensitivity, Snapshot, Table, TableKey, once_per_snapshot


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where values come from: `views` → SQL with every name qualified, (child, parent), (generated, source)."""

    views: Mapping[TableKey, str] = field(default_factory=dict)
    children: Sequence[tuple[TableKey, TableKey]] = ()
    generated: Sequence[tuple[ColumnKey, ColumnKey]] = ()


@dataclass(frozen=True, slots=True)
class Masks:
    """The columns that are masked or show such values, and the relations of which that is not known (`unknown`)."""

    columns: frozenset[ColumnKey] = frozenset()
    unknown: frozenset[TableKey] = frozenset()


@once_per_snapshot
def said_masked(snapshot: Snapshot) -> frozenset[ColumnKey]:
    """The columns of which a DBA said so, by themselves or by their tables."""
    return frozenset(
        (*table.key, column.name)
        for table, column in snapshot.columns()
        if column.attributes is not None and column.attributes.sensitivity is Sensitivity.MASKED
    )


def masks_of(snapshot: Snapshot, lineage: Lineage, rules: Rules) -> Masks:
    """What is masked in `snapshot`, the whole one. Parses each view, several times: not for the event loop."""
    bare, pure = replace(snapshot, search_path=()), _pure(rules)
    views = {}
    for key, sql in lineage.views.items():
        verdict = check(sql, pure)
        views[key] = bind_tree(verdict.analysis.tree, bare) if isinstance(verdict, Allowed) else None
    kinds = (table for table in snapshot.tables if "view" in table.kind and table.key not in views)
    found = Masks(said_masked(snapshot), frozenset(table.key for table in kinds))
    while True:
        columns, unknown = set(found.columns), set(found.unknown)
        columns.update(_by_table(snapshot, lineage, found.columns))
        for key, bound in views.items():
            shown = None if bound is None else _shown_by(bound, found)
            if shown is None:
                unknown.add(key)
            else:
                columns.update((*key, name) for name in shown)
        if (frozenset(columns), frozenset(unknown)) == (found.columns, found.unknown):
            return found
        found = Masks(frozenset(columns), frozenset(unknown))


def _by_table(snapshot: Snapshot, lineage: Lineage, masked: Collection[ColumnKey]) -> Iterator[ColumnKey]:
    """What has the values of masked columns by keys, inheritance or generation."""
    for one, other in lineage.children:
        yield from ((*other, name) for *table, name in masked if tuple(table) == one)
        yield from ((*one, name) for *table, name in masked if tuple(table) == other)
    yield from (column for column, source in lineage.generated if source in masked)
    for each in snapshot.tables:
        for key in each.foreign_keys:
            for own, referred in zip(key.columns, key.ref_columns, strict=True):
                if (key.ref_schema, key.ref_table, referred) in masked:
                    yield (*each.key, own)


def _pure(rules: Rules) -> Rules:
    """Without functions and operators that others wrote: they may read what they like."""
    return replace(rules, functions=frozenset(), operators=frozenset())


def refusal(analysis: Analysis, snapshot: Snapshot, masks: Masks, rules: Rules) -> str | None:
    """Why the statement may not run beside `masks`, as a clause; None where it may. Not for the event loop."""
    if not masks.columns:
        return None
    verdict = check(analysis.body, _pure(rules))
    if not isinstance(verdict, Allowed):
        return f"{verdict.detail}, and what it reads is not known beside masked columns"
    bound = bind_tree(analysis.tree, snapshot)
    if bound.problems:
        return f"{bound.problems[0].message}, and columns here are masked"
    found = _Uses(bound, masks)
    if found.unknown is not None:
        return f"where the columns of {found.unknown} come from is not known, and columns here are masked"
    if not found.used:
        return None
    name = min(".".join(key[1:]) for keys in found.used.values() for key in keys)
    return (
        f"{name} is masked: it stands in no output, filter, order or group, and joins by declared keys alone"
    )


def _shown_by(view: Bound, masks: Masks) -> frozenset[str] | None:
    """The output columns of a view that show masked ones; None where that cannot be followed."""
    found = _Uses(view, masks)
    if view.problems or found.unknown is not None:
        return None
    if not found.used:
        return frozenset()
    root = view.root
    plain = root.op == enums.SetOperation.SETOP_NONE and not any(getattr(root, each) for each in _MORE)
    listed = {id(node): target for target in root.targetList or () for node in _outside_queries(target)}
    if not plain or not found.used.keys() <= listed.keys():
        return None
    targets = [id(listed[node]) for node in found.used]
    given = zip(root.targetList or (), view.query.names, strict=False)
    # PostgreSQL writes each column of a view out, so that targets and names are pairs.
    return frozenset(name for target, name in given if id(target) in targets)


_MORE = ("distinctClause", "groupClause", "havingClause", "windowClause", "sortClause")
"""What makes a view more than a list of columns."""


def _outside_queries(target: Any) -> Iterator[Any]:
    return nodes(target, without=("subselect",))


class _Uses:
    """The references of a statement that lead to masked columns, except for those of joins by declared keys.

    `used`: by node. `unknown`: a relation in FROM of which nothing is known, or a name that was not followed.
    """

    def __init__(self, bound: Bound, masks: Masks) -> None:
        origins = [each.origin for each in bound.sources.values() if isinstance(each.origin, Table)]
        unknown = [table.name for table in origins if table.key in masks.unknown]
        references = (node for node in nodes(bound.root) if isinstance(node, ast.ColumnRef))
        if any(isinstance(bound.refs.get(id(node), Unbound()), Unbound) for node in references):
            unknown.append("a name")
        self.unknown = next(iter(unknown), None)
        joins = list(self._joins(bound))
        masked = set(masks.columns)
        # What is equal to a masked key shows it.
        while new := {key for _, keys in joins if not masked.isdisjoint(keys) for key in keys} - masked:
            masked |= new
        passed = {node for ids, _ in joins for node in ids}
        held = {node: set(columns_of(ref)) & masked for node, ref in bound.refs.items() if node not in passed}
        for merges in bound.merges.values():
            held |= {id(ref): set(columns_of(ref)) & masked for ref in merges if id(ref) not in passed}
        self.used: dict[int, set[ColumnKey]] = {node: keys for node, keys in held.items() if keys}

    def _joins(self, bound: Bound) -> Iterator[tuple[tuple[int, ...], tuple[ColumnKey, ...]]]:
        """(nodes, columns) of each equality that is a declared key, or a part of one that is there as a whole."""
        for node in nodes(bound.root):
            if isinstance(node, ast.JoinExpr):
                merges = bound.merges.get(id(node), ())
                merged = [
                    ((id(each),), *pair)
                    for each in merges
                    for pair in product(_cells(each.left), _cells(each.right))
                ]
                yield from self._by_key([*merged, *_equalities(node.quals, bound)])
            elif isinstance(node, ast.SelectStmt):
                yield from self._by_key(_equalities(node.whereClause, bound))

    def _by_key(
        self, pairs: Sequence[tuple[tuple[int, ...], Cell, Cell]]
    ) -> Iterator[tuple[tuple[int, ...], tuple[ColumnKey, ...]]]:
        both = [*pairs, *((ids, right, left) for ids, left, right in pairs)]
        equal = {
            (id(left.source), id(right.source), left.position, right.position) for _, left, right in both
        }
        for ids, left, right in both:
            own, other = left.source.origin, right.source.origin
            if left.source is right.source or not (isinstance(own, Table) and isinstance(other, Table)):
                continue
            for key in own.foreign_keys:
                if (key.ref_schema, key.ref_table) != other.key:
                    continue
                named = list(zip(key.columns, key.ref_columns, strict=True))
                places = [(_place(own, one), _place(other, two)) for one, two in named]
                there = all((id(left.source), id(right.source), *place) in equal for place in places)
                if there and (left.position, right.position) in places:
                    yield ids, (*columns_of(left), *columns_of(right))


def _place(table: Table, name: str) -> int | None:
    return next((place for place, column in enumerate(table.columns) if column.name == name), None)


def _equalities(condition: Any, bound: Bound) -> list[tuple[tuple[int, ...], Cell, Cell]]:
    """The equalities of two columns that all have to hold for `condition`."""
    if isinstance(condition, ast.BoolExpr) and condition.boolop == enums.BoolExprType.AND_EXPR:
        return [each for part in condition.args or () for each in _equalities(part, bound)]
    if not isinstance(condition, ast.A_Expr) or condition.kind != enums.A_Expr_Kind.AEXPR_OP:
        return []
    ids = id(condition.lexpr), id(condition.rexpr)
    left, right = map(bound.refs.get, ids)
    written: Any = condition.name
    if len(written) != 1 or written[0].sval != "=":
        return []
    return [(ids, left, right)] if isinstance(left, Cell) and isinstance(right, Cell) else []


def _cells(ref: Ref) -> Iterator[Cell]:
    match ref:
        case Cell():
            yield ref
        case Merged(left, right, _):
            yield from _cells(left)
            yield from _cells(right)
