"""Lints that mend nothing: numbers that say nothing, and what of the catalog is to be known of a statement."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.grain import without_using
from engine.findings.rules.grouping import own_aggregates
from engine.findings.rules.references import compared_columns
from engine.link.exclusions import excluded
from engine.statement.read import Draft
from engine.statement.scope import Scopes, TableRef, from_parts
from engine.statement.tree import repeated_items, unwrapped
from engine.values import wording
from schema_catalog.implied_references import undeclared_joins as known_joins
from schema_catalog.naming import dotted


def idle_parts(statement: Draft, _context: Context) -> Iterator[str]:
    """In words, the parts of a statement that say nothing: what is known before, or said already."""
    for each in (_aggregated_groups, _parts_of_themselves, _groups_of_one_row, _shown_twice):
        yield from each(statement)


def _parts_of_themselves(statement: Draft) -> Iterator[str]:
    """In words, that a number is divided by itself."""
    for quotient in statement.tree.find_all(exp.Div):
        part = [
            each for each in quotient.left.find_all(exp.AggFunc) if not isinstance(each.parent, exp.Filter)
        ]
        if part == [unwrapped(quotient.right)]:
            yield wording.DIVIDES_BY_ITSELF


def _groups_of_one_row(statement: Draft) -> Iterator[str]:
    """In words, the tables whose rows are grouped by their key, and counted."""
    for select in statement.tree.find_all(exp.Select):
        if said := wording.of(wording.COUNTS_SINGLE_ROWS, _single_row_groups(select, statement.scopes)):
            yield said


def _shown_twice(statement: Draft) -> Iterator[str]:
    """In words, the first column that is shown twice."""
    if repeated := repeated_items(statement.tree):
        yield wording.SHOWS_TWICE.format(repeated[0].sql(dialect="postgres"))


def _aggregated_groups(statement: Draft) -> Iterator[str]:
    """In words, the columns that are grouped by and averaged, added up or the extreme of: each is the column itself."""
    place = statement.scopes.place
    for select in statement.tree.find_all(exp.Select):
        group = select.args.get("group")
        grouped = {place(each) for each in (group.expressions if group is not None else ())} - {None}
        for taken in select.find_all(exp.Avg, exp.Sum, exp.Max, exp.Min) if grouped else ():
            if taken.parent_select is select and place(taken.this) in grouped:
                yield wording.AGGREGATES_ITS_GROUP.format(taken.this.name)


def _single_row_groups(select: exp.Select, scopes: Scopes) -> list[str]:
    """The tables of which each group that COUNT counts is one row; none where groups may have more."""
    group = select.args.get("group")
    reads = scopes.reads[id(select)]
    counts = any(isinstance(each, exp.Count) for each in own_aggregates(select, select))
    if group is None or any(read.table is None for read in reads) or not counts:
        return []
    given = {place for each in group.expressions if (place := scopes.place(each)) is not None}
    equal = list(_equalities(select, scopes))
    single: set[str] = set()
    while new := [read for read in reads if read.name not in single and _keyed(read, given)]:
        for read in new:
            single.add(read.name)
            given |= {(read.name, column.name) for column in read.table.columns} if read.table else set()
        given |= {end for pair in equal for end in pair if pair[0] in given or pair[1] in given}
    if any(read.name not in single for read in reads):
        return []
    return list(dict.fromkeys(read.table.name for read in reads if read.table is not None))


def _keyed(read: TableRef, given: set[tuple[str, str]]) -> bool:
    key = read.table.primary_key if read.table is not None else ()
    return bool(key) and all((read.name, column) in given for column in key)


def _equalities(select: exp.Select, scopes: Scopes) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of (name, column) that inner joins set equal."""
    for join in from_parts(select)[1:]:
        condition = join.args.get("on")
        if join.args.get("side") or condition is None:
            continue
        for equal in condition.find_all(exp.EQ):
            ends = (equal.left, equal.right)
            found = [place for end in ends if (place := scopes.place(end)) is not None]
            if len(found) == 2:  # noqa: PLR2004  both sides
                yield found[0], found[1]


def rows_that_do_not_count(statement: Draft, context: Context) -> Iterator[str]:
    """What a statement does with rows that a comment says do not count; of a reading only that it counts them."""
    return excluded(statement.tree, statement.scopes, counted_only=context.is_reading)


def undeclared_joins(statement: Draft, _context: Context) -> Iterator[str]:
    """The joins of a statement that are likely, and that nobody declared."""
    known = known_joins(statement.scopes.snapshot)
    if not known:
        return
    for one, other in dict.fromkeys(compared_columns(without_using(statement))):
        if (one, other) in known or (other, one) in known:
            names = one[2] if one[2] == other[2] else f"{dotted(one[1:])} = {dotted(other[1:])}"
            yield wording.JOINS_UNDECLARED.format(names)
