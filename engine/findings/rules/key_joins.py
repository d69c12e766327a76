"""Rules about columns that are compared and are no key of each other: of different things, or a part of a key alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.grain import without_using
from engine.findings.rules.references import compared_columns, refer
from engine.statement.read import Draft
from engine.statement.scope import Scopes, TableRef, conjuncts, equality, from_parts, identifier, tests_of
from engine.values import wording
from schema_catalog.foreign_keys import Edge, ForeignKeyGraph, foreign_key_graph
from schema_catalog.implied_references import undeclared_joins as known_joins
from schema_catalog.types import ColumnKey, Table

Place = tuple[str, str]
"""A name in FROM, and a column of it; of a literal nothing, and its text."""


def compare_by_reference(statement: Draft, context: Context) -> str | None:
    """Compares a key with the column that refers to it, and tables by the whole of their key.

    `owner_id IN (SELECT dog_id FROM dogs)`; joins by declared foreign keys, where there is one alone.
    """
    changed = []
    for predicate in statement.tree.find_all(exp.In, exp.EQ, exp.NEQ):
        found = statement.scopes.comparison(predicate)
        if found is None or found.one[:2] == found.other[:2]:
            continue
        pairs = context.references.column_pairs(found.one[:2], found.other[:2])
        ways = [there for here, there in pairs if here == found.outside.name]
        other = statement.scopes.tables[found.other[:2]]
        if len(ways) == 1 and found.inside.name != ways[0] and _is_key(other, found.inside.name):
            found.inside.set("this", identifier(ways[0]))
            changed.append(f"{found.outside.name} with {ways[0]}")
    return wording.of(wording.COMPARES, changed) or _join_by_whole_keys(statement)


def _join_by_whole_keys(statement: Draft) -> str | None:
    plain = without_using(statement)
    changed = []
    for joined in list(_joined_by_less(plain)):
        if (edge := joined.edge) is not None and len(joined.equal) == 1:
            (equal,) = joined.equal
            equal.replace(equality(joined.one.name, edge.columns, joined.other.name, edge.other_columns))
            changed.append(joined.other.name)
    if changed:
        statement.tree = plain.tree
    return wording.of(wording.JOINS_BY_KEY, changed)


def strangers_compared(statement: Draft, _context: Context) -> Iterator[str]:
    """In words, columns that are compared, one of them a reference to something else, and joins by half of a key.

    By declared foreign keys alone. Not columns of one name: a reference may be declared to one of several tables.
    """
    references = foreign_key_graph(statement.scopes.snapshot)
    for one, other in compared_columns(statement):
        if names := _stranger(one, other, references):
            yield wording.COMPARES_STRANGERS.format(*names)
    for joined in _joined_by_less(without_using(statement)):
        if joined.half:
            tables = (each.table.name for each in (joined.one, joined.other) if each.table is not None)
            shared = ", ".join(dict.fromkeys(name for _, name in joined.places))
            yield wording.JOINS_BY_HALF.format(*tables, shared)


def pairs_rows(statement: Draft, _context: Context) -> Iterator[str]:
    """In words, two tables that are joined by columns of which neither side's hold a key of its table.

    `advertising JOIN subscriptions USING (magazine)` pairs each row of one with many of the other. Nothing is said
    where a table has no key, of a table joined with itself, and of likely joins, which `undeclared_joins` tells.
    """
    known = known_joins(statement.scopes.snapshot)
    plain = without_using(statement)
    for select in plain.tree.find_all(exp.Select):
        for joined in _pairs(_equal(select), plain.scopes):
            keys = [(plain.scopes.key(each.left), plain.scopes.key(each.right)) for each in joined.equal]
            tables = [each.table for each in (joined.one, joined.other) if each.table is not None]
            if tables[0].key == tables[1].key or any(pair in known or pair[::-1] in known for pair in keys):
                continue
            columns = {key for pair in keys for key in pair if key is not None}
            if not any(_may_name_a_row(table, columns) for table in tables):
                yield wording.PAIRS_ROWS.format(*(each.name for each in tables))


def _may_name_a_row(table: Table, columns: Collection[ColumnKey]) -> bool:
    """Whether columns hold a key of a table, or nobody says what its key is."""
    unknown = not (table.primary_key or any(table.unique_keys))
    return unknown or _names_a_row(table, [name for *key, name in columns if tuple(key) == table.key])


def _stranger(one: ColumnKey, other: ColumnKey, references: ForeignKeyGraph) -> tuple[str, ...]:
    """A reference, what it is compared with, and what it refers to; nothing where the two belong together."""
    if one[2] == other[2] or refer(one, other, references):
        return ()
    for column, stranger in ((one, other), (other, one)):
        meant = references.root(column)
        # A table may refer to one thing by several columns: `root` says of none of them which it is.
        if meant != column and all(references.root(each) != meant for each in references.referred(stranger)):
            return tuple(f"{table}.{name}" for _, table, name in (column, stranger, meant))
    return ()


@dataclass(frozen=True, slots=True)
class _Joined:
    """Two of FROM that no whole key joins: what sets their columns `equal`, and which columns of `one` these are.

    `half`: some columns of a key are equal, else columns of different things. `edge`: the one key that may be meant.
    """

    one: TableRef
    other: TableRef
    equal: list[exp.EQ]
    places: list[Place]
    half: bool = False
    edge: Edge | None = None


def _joined_by_less(statement: Draft) -> Iterator[_Joined]:
    """The tables that are joined by a part of a key, or by columns of different things."""
    references = foreign_key_graph(statement.scopes.snapshot)
    for select in statement.tree.find_all(exp.Select):
        equal = _equal(select)
        alike = _alike(equal, statement.scopes)
        for joined in _pairs(equal, statement.scopes):
            found = _less(joined, alike, statement.scopes, references)
            if found is not None:
                yield found


def _equal(select: exp.Select) -> list[exp.EQ]:
    """The equalities that every row of a query meets: of its tests, and of its joins."""
    tests = [*tests_of(select), *(each for join in from_parts(select)[1:] for each in _on(join))]
    return [each for each in tests if isinstance(each, exp.EQ)]


def _on(join: exp.Expression) -> Iterator[exp.Expr]:
    return conjuncts(join.args["on"]) if join.args.get("on") else iter(())


def _pairs(equal: list[exp.EQ], scopes: Scopes) -> list[_Joined]:
    """The pairs of tables in FROM whose columns are set equal."""
    found: dict[tuple[str, str], _Joined] = {}
    for each in equal:
        reads = [scopes.reading(side) for side in (each.left, each.right) if isinstance(side, exp.Column)]
        first, second = (*reads, None, None)[:2]
        if first is None or second is None or first is second or not (first.table and second.table):
            continue
        turned = (second.name, first.name) in found
        one, other = (second, first) if turned else (first, second)
        joined = found.setdefault((one.name, other.name), _Joined(one, other, [], []))
        joined.equal.append(each)
        joined.places.append((one.name, (each.right if turned else each.left).name))
    return list(found.values())


def _alike(equal: list[exp.EQ], scopes: Scopes) -> list[set[Place]]:
    """The columns and literals that some equalities make equal to each other."""
    groups: list[set[Place]] = []
    for each in equal:
        ends = {end for side in (each.left, each.right) if (end := _end(side, scopes)) is not None}
        if len(ends) == 2:  # noqa: PLR2004  both sides
            touched = [group for group in groups if not group.isdisjoint(ends)]
            groups = [group for group in groups if group.isdisjoint(ends)] + [ends.union(*touched)]
    return groups


def _end(node: exp.Expr, scopes: Scopes) -> Place | None:
    return ("", node.name) if isinstance(node, exp.Literal) else scopes.place(node)


def _less(
    joined: _Joined, alike: list[set[Place]], scopes: Scopes, references: ForeignKeyGraph
) -> _Joined | None:
    """The pair with what joins it by less than a key; None where a whole key does, or none is known."""
    one, other = joined.one, joined.other
    if one.table is None or other.table is None:
        return None
    edges = [each for each in references.edges(one.table.key) if each.other == other.table.key]
    halves = []
    for edge in edges:
        pairs = zip(edge.columns, edge.other_columns, strict=True)
        met = [
            any({(one.name, here), (other.name, there)} <= group for group in alike) for here, there in pairs
        ]
        held = other.table if edge.referring else one.table
        there = edge.other_columns if edge.referring else edge.columns
        if all(met) or _names_a_row(held, [name for name, is_met in zip(there, met, strict=True) if is_met]):
            return None
        if any(met):
            halves.append(edge)
    if halves:
        return replace(joined, half=True, edge=halves[0] if len(halves) == 1 else None)
    keys = [(scopes.key(each.left), scopes.key(each.right)) for each in joined.equal]
    strange = all(left and right and _stranger(left, right, references) for left, right in keys)
    return replace(joined, edge=edges[0]) if strange and len(edges) == 1 else None


def _names_a_row(table: Table, names: Collection[str]) -> bool:
    """Whether columns of a table have one row for each of their values."""
    keys = filter(None, (table.primary_key, *table.unique_keys))
    return any(set(key) <= set(names) for key in keys)


def _is_key(table: Table, name: str) -> bool:
    return name in table.primary_key or any(name in key.columns for key in table.foreign_keys)
