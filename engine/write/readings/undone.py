"""What none of a question's readings does, in words for one more call: conditions in turn, and a schema less a name.

MetaSQL asks again under another composition of operators (§III-B), Odin without an element of the first statements
(§5.2). A model that gives several readings is told both in words, and in one call. Its compositions are not predicted:
what a small network says of schemas that it has not seen is noise, which costs more than it gives (MetaSQL §IV-C). They
are those that the statements' own shape leaves: all and some, one number and one for each, a condition beside a list.
An element is told where the readings agree in it and another of its kind is near to the same phrase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sqlglot import exp

from engine.guard.analyse import UnreadableError
from engine.statement.read import statement_of
from engine.statement.scope import conjuncts, tests_of
from engine.values.elements import WHOLE_TABLE, elements_read, plain_name
from engine.values.state import Route
from schema_catalog.types import ColumnKey, Snapshot

NAMES = 4
"""Names that are told at most: more of them are seldom meant, and each is read as a hint."""

NEAR, LEAST = 0.7, 0.3
"""A name's cosine to a phrase at least, as a share of that of the name that all readings use for it, and by itself."""

LONGEST = 80
"""Characters of a condition that is told."""

FITS_ALL = "keeps only what goes with all of them, not with some: with every row of a joined table"
PAIRS = "gives a row for each pair that goes together, where all of them are not wanted"
FOR_EACH = "gives one number for each of something, not one in all"
IN_ALL = "gives one number over all rows, not one for each of something"
FOR_ONE = "has {} hold for one of the things that are asked for, not for all of them"
FOR_EVERY = "has the condition hold for all of the things that are asked for, not for one of them"
INSTEAD = "reads {} instead of {}"


def undone(found: Sequence[str], route: Route) -> tuple[str, ...]:
    """What none of the statements `found` does and the question may mean, a line each; none where nothing is left.

    Statements that do not name what there is are left out. Parses them: call it in a thread.
    """
    read = [each for each in (_read(sql, route.snapshot) for sql in found) if each is not None]
    if not read:
        return ()
    shapes = [_Shape(statement_of(sql, route.snapshot).tree) for sql in found]
    return (*_conditions(shapes), *islice(_near(read, route), NAMES))


def _read(sql: str, snapshot: Snapshot) -> frozenset[ColumnKey] | None:
    """The elements that a statement reads; None where it cannot be read over the schema."""
    try:
        resolution = statement_of(sql, snapshot).resolution
    except UnreadableError:
        return None
    return None if resolution.problems else elements_read(resolution.columns, resolution.tables)


class _Shape:
    """Which of the conditions a statement has, by its tree; none of them without one."""

    def __init__(self, tree: exp.Query | None) -> None:
        self.branches = list(_branches(tree))
        self.joins = any(each.args.get("joins") for each in self.branches)
        self.fits_all = tree is not None and (
            tree.find(exp.Having, exp.Except, exp.Intersect) is not None
            or any(isinstance(each.this, exp.Exists) for each in tree.find_all(exp.Not))
        )
        items = [item for each in self.branches for item in each.expressions]
        self.aggregates = any(item.find(exp.AggFunc) for item in items)
        self.grouped = any(each.args.get("group") for each in self.branches)
        tests = [[each.unnest() for each in tests_of(select)] for select in self.branches]
        tests = [[each for each in own if not _joins(each)] for own in tests]
        mixed = any(_mixed(each) for own in tests for each in own)
        self.for_one = mixed or len({bool(own) for own in tests}) > 1
        self.beside = "" if self.for_one else _beside(tests)


def _branches(tree: exp.Expr | None) -> Iterator[exp.Select]:
    """The selects that a statement's rows come from."""
    match tree:
        case exp.Select():
            yield tree
        case exp.SetOperation() | exp.Subquery():
            sides = (tree.left, tree.right) if isinstance(tree, exp.SetOperation) else (tree.this,)
            for side in sides:
                yield from _branches(side)


def _joins(test: exp.Expr) -> bool:
    """Whether a test only says how tables go together."""
    return isinstance(test, exp.EQ) and all(isinstance(each, exp.Column) for each in (test.left, test.right))


def _mixed(test: exp.Expr) -> bool:
    """Whether of several things one alone has a condition: an OR with an AND in it."""
    sides = [each.unnest() for each in test.flatten()] if isinstance(test, exp.Or) else []
    return len({sum(1 for _ in conjuncts(side)) for side in sides}) > 1


def _beside(tests: Sequence[Sequence[exp.Expr]]) -> str:
    """The condition that all of several things have: beside a list of values, or in each branch; empty without."""
    if len(tests) > 1:
        return _told(tests[-1][-1]) if all(tests) else ""
    own = tests[0] if tests else ()
    lists = [each for each in own if isinstance(each, exp.Or) or len(each.args.get("expressions") or ()) > 1]
    others = [each for each in own if each not in lists]
    return _told(others[-1]) if lists and others else ""


def _told(test: exp.Expr) -> str:
    text = test.sql(dialect="postgres")
    return text if len(text) <= LONGEST else "the condition"


def _conditions(shapes: Sequence[_Shape]) -> Iterator[str]:
    """The conditions that the shape of the statements leaves and none of them has (MetaSQL §III-B)."""
    if all(each.fits_all for each in shapes):
        yield PAIRS
    elif all(each.joins for each in shapes) and not any(each.fits_all for each in shapes):
        yield FITS_ALL
    if all(each.aggregates for each in shapes):
        if not any(each.grouped for each in shapes):
            yield FOR_EACH
        elif all(each.grouped for each in shapes):
            yield IN_ALL
    beside = next((each.beside for each in shapes if each.beside), "")
    one = any(each.for_one for each in shapes)
    if beside and not one:
        yield FOR_ONE.format(beside)
    if one and not beside:
        yield FOR_EVERY


def _near(read: Sequence[frozenset[ColumnKey]], route: Route) -> Iterator[str]:
    """For a phrase that all readings use one name for: others that are near to it and none reads (Odin §5.2)."""
    agreed, known = frozenset.intersection(*read), frozenset[ColumnKey]().union(*read)
    keys = _keys(route.snapshot)
    nearest = dict[str, float]()
    for entity in route.entities:
        cosines = entity.similarities
        used = max(known & cosines.keys(), key=lambda each: cosines[each], default=None)
        if used is None or used not in agreed:
            continue
        least = max(LEAST, NEAR * cosines[used])
        for each in cosines.keys() - known - keys:
            if cosines[each] >= least and (each[2] == WHOLE_TABLE) == (used[2] == WHOLE_TABLE):
                words = INSTEAD.format(plain_name(each), plain_name(used))
                nearest[words] = max(nearest.get(words, 0.0), cosines[each] / max(cosines[used], LEAST))
    yield from sorted(nearest, key=lambda words: (-nearest[words], words))


def _keys(snapshot: Snapshot) -> frozenset[ColumnKey]:
    """Columns that identify rows, which nobody means by a phrase."""
    return frozenset(
        (*table.key, column)
        for table in snapshot.tables
        for column in (*table.primary_key, *(each for key in table.foreign_keys for each in key.columns))
    )


def listed(lines: Iterable[str]) -> str:
    """One a line."""
    return "\n".join(f"- {each}" for each in lines)
